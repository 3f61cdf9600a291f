"""The notebook of the docs runs from top to bottom, and shows its tables and pictures."""

from __future__ import annotations

import re

import pytest

from tests.notebook_page import NOTEBOOK, PAGE, PICTURES, render

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


# The kernel closes sockets and loops in any order, and its warnings are none of ours.
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


def test_the_page_of_the_notebook_has_its_code_and_its_pictures():
    nbformat = pytest.importorskip("nbformat")
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    page = PAGE.read_text("utf-8")
    blocks = re.findall(r"^```py\n(.*?)\n```", page, re.DOTALL | re.MULTILINE)
    assert blocks == code, "run python -m tests.notebook_page"
    pictures = re.findall(r"\(images/notebook/([^)]+)\)", page)
    assert pictures == sorted(path.name for path in PICTURES.glob("*.png"))
    for cell in cells:
        if cell.cell_type == "markdown":
            assert cell.source.splitlines()[-1] in page


def test_tables_are_rendered_as_text_and_pictures_as_files():
    nbformat = pytest.importorskip("nbformat")
    cell = nbformat.v4.new_code_cell("frame")
    picture = nbformat.v4.new_output("display_data", {"image/png": "UE5H"})
    table = nbformat.v4.new_output("display_data", {"text/plain": "a b", "text/html": "<b>a</b>"})
    cell.outputs = [table, picture]
    heading = nbformat.v4.new_markdown_cell("# Title\n\nWords.")
    page, pictures = render(nbformat.v4.new_notebook(cells=[heading, cell]))
    assert page.startswith("# Title\n\n*Center")
    assert "Words.\n\n```py\nframe\n```\n\n```text\na b\n```\n\n![" in page
    assert pictures == {"1.png": b"PNG"}
