"""clearbands inspect."""

from __future__ import annotations

import polars as pl

from tests.apps.cli.running import assert_fails, run


def test_inspect_shows_every_column_and_what_looks_wrong(messy_files):
    result = run("inspect", messy_files / "houses.csv")
    assert result.exit_code == 0
    assert "houses.csv: 120 rows, 7 columns (csv)" in result.stdout
    said = " ".join(result.stdout.split())
    for words in ("HouseId", "looks like", "1 cell read", "begin with 0", "the same value"):
        assert words in said
    assert "Column 1 has no name and only counts the rows: left out" in result.stderr


def test_inspect_says_what_it_thinks_of_the_target(tmp_path):
    pl.DataFrame({"x": range(0, 300, 10), "y": [0, 1] * 15}).write_csv(tmp_path / "data.csv")
    result = run("inspect", tmp_path / "data.csv", "--target", "y")
    assert (
        "The target 'y' holds 2 classes: 0 (15), 1 (15); --task regression predicts"
        in result.stdout
    )
    pl.DataFrame({"x": range(30), "y": [7] * 30}).write_csv(tmp_path / "constant.csv")
    result = run("inspect", tmp_path / "constant.csv", "--target", "y")
    assert "The target 'y' is 7 in every row: there is nothing to learn" in result.stderr
    assert_fails(run("inspect", tmp_path / "data.csv", "--columns-as", "x"), "COLUMN=number")


def test_of_very_many_columns_each_has_one_line(tmp_path):
    names = [f"a column with a rather long name {j}" for j in range(1_001)]
    pl.DataFrame({name: ["x", "y"] for name in names}).write_csv(tmp_path / "wide.csv")
    title, heading, *lines = run("inspect", tmp_path / "wide.csv").stdout.splitlines()
    assert "1,001 columns" in title
    assert heading.split() == ["column", "kind", "gaps", "distinct", "values", "remark"]
    assert [line.split("  ")[0] for line in lines] == names
