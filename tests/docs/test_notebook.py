"""The notebook of the docs runs from top to bottom, and shows what it says it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"

PICTURE, TABLE = "image/png", "text/html"
SHOWN = {
    "patients.head(3)": TABLE,
    "parts": TABLE,
    'parts.to_frame().sort("epistemic_share", descending=True).head()': TABLE,
    "plots.band_by_rank(parts, truth, n_calibration=model.n_calibration_)": PICTURE,
    "plots.calibration_curve(truth, model.predict_interval(new)[1], model.levels_)": PICTURE,
    "diagnosis": TABLE,
    "report": TABLE,
}


# Its parts close sockets and loops in an order of their own; that is not ours to warn of.
@pytest.mark.filterwarnings("default")
def test_the_notebook_runs_and_shows_tables_and_pictures(tmp_path):
    pytest.importorskip("ipykernel", reason="the kernel of notebooks is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    options = {"timeout": 300, "resources": {"metadata": {"path": str(tmp_path)}}}
    nbclient.NotebookClient(notebook, kernel_name="python3", **options).execute()
    kinds = {
        cell.source.splitlines()[-1]: set(cell.outputs[-1].data)
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.outputs and "data" in cell.outputs[-1]
    }
    for last_line, kind in SHOWN.items():
        assert kind in kinds[last_line], last_line
    assert not [
        output
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "stream"
    ]
    assert (tmp_path / "report.html").stat().st_size > 50_000


def test_the_notebook_is_kept_without_its_results():
    assert '"outputs": []' in NOTEBOOK.read_text()
    assert "image/png" not in NOTEBOOK.read_text()
