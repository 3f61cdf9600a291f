"""Numbers are found behind stray cells; text stays text."""

import polars as pl
import pytest

from clearbands.apps.reading.mending import as_numbers, mend


@pytest.mark.parametrize(
    ("text", "decimal", "number"),
    [
        ("1710", ".", 1710),
        (" 1.5 ", ".", 1.5),
        ("1,710", ".", 1710),
        ("-1,234,567.25", ".", -1234567.25),
        ("1'710", ".", 1710),
        ("1 710", ".", 1710),
        ("1,5", ",", 1.5),
        ("1.710", ",", 1710),
        ("1.234.567,25", ",", 1234567.25),
        ("1e3", ".", 1000),
    ],
)
def test_numbers_as_people_write_them(text, decimal, number):
    found = as_numbers(pl.Series("x", [text]), decimal)
    assert found.column.to_list() == [number]
    assert found.strays == ()


@pytest.mark.parametrize(
    ("text", "decimal"),
    [("1,71", "."), ("1,7100", "."), ("1.71", ","), ("1,2,3", "."), ("12a", "."), ("?", ".")],
)
def test_what_is_no_number_is_a_stray(text, decimal):
    (stray,) = as_numbers(pl.Series("x", ["5", text]), decimal).strays
    assert (stray.row, stray.value) == (2, text)


def test_a_stray_cell_does_not_make_a_column_text():
    cells = [str(i / 2) for i in range(2344)]
    cells[17] = "?"
    found = mend(pl.Series("x", cells))
    assert found.column.null_count() == 1
    assert found.column[18] == 9.0
    assert found.in_words == "1 cell read as missing, such as '?' in row 18"


@pytest.mark.parametrize(
    "cells",
    [
        ["a", "b"],
        ["1", "2", "three"] * 10,  # too much of it is text
        ["?", "?", "1"],  # hardly a number
        ["01067", "8001", "?"],  # codes
        ["?", "-"],
    ],
)
def test_text_stays_text(cells):
    assert mend(pl.Series("x", cells)) is None


def test_whole_numbers_stay_whole():
    assert mend(pl.Series("x", ["1,710", "2", None])).column.dtype == pl.Int64
    assert mend(pl.Series("x", ["1,710.5", "2"])).column.dtype == pl.Float64
