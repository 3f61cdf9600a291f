"""clearbands demo."""

from __future__ import annotations

import polars as pl

from tests.apps.cli.running import run


def test_the_demo_writes_a_table_a_picture_and_a_report(tmp_path):
    out = tmp_path / "new" / "demo"
    result = run("demo", "--out", out)
    assert (result.exit_code, result.stderr) == (0, "")
    said = " ".join(result.stdout.split())  # some spaces do not break
    for words in ("coverage", "90 % promised", "typical width", "epistemic share", "best model"):
        assert words in said
    written = sorted(path.name for path in out.iterdir())
    assert written == ["bands.png", "intervals.csv", "report.html"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "intervals for progression · 111 rows" in page
    assert (out / "bands.png").read_bytes().startswith(b"\x89PNG")
    table = pl.read_csv(out / "intervals.csv")
    inside = table["progression"].is_between(table["lower_90"], table["upper_90"]).mean()
    assert f"{100 * inside:.1f} % of {table.height} unseen rows" in said
