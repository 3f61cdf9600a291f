"""Numbers are found behind stray cells; text stays text."""

import polars as pl
import pytest

from clearbands.apps.reading.numbers import as_numbers


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
        ("1,5e3", ",", 1500),
        (".5", ".", 0.5),
        ("1,23,456", ".", 123456),
        ("$59,222", ".", 59222),
        ("59.222,00 €", ",", 59222),
        ("US$ 5", ".", 5),
        ("CHF 1'200.–", ".", 1200),
        ("0.91%", ".", 0.91),
        ("($5.00)", ".", -5),
        ("-$5", ".", -5),
        ("$-5", ".", -5),
        ("5-", ".", -5),
        ("\u22125", ".", -5),
        ("+5", ".", 5),
        ("€110.5M", ".", 110_500_000),
        ("€565K", ".", 565_000),
        ("£1.2m", ".", 1_200_000),
        ("120 kg", ".", 120),
        ("5m2", ".", 5),
        ("6,2 l/100km", ",", 6.2),
        ("10 sq ft", ".", 10),
    ],
)
def test_numbers_as_people_write_them(text, decimal, number):
    found = as_numbers(pl.Series("x", [text]), decimal)
    assert found.column.to_list() == [number]
    assert found.strays == ()


@pytest.mark.parametrize(
    ("text", "decimal"),
    [("1,71", "."), ("1,7100", "."), ("1.71", ","), ("1,2,3", "."), ("12a", "."), ("?", "."),
     ("10,000+", "."), ("4WD", "."), ("3-5", "."), ("-(5)", "."), ("555-1234", "."), ("1_0", ".")],
)  # fmt: skip
def test_what_is_no_number_is_a_stray(text, decimal):
    (stray,) = as_numbers(pl.Series("x", ["5", text]), decimal).strays
    assert (stray.row, stray.value) == (2, text)


def test_a_stray_cell_does_not_make_a_column_text():
    cells = [str(i / 2) for i in range(2344)]
    cells[17] = "?"
    found = as_numbers(pl.Series("x", cells))
    assert found.is_convincing
    assert found.column.null_count() == 1
    assert found.column[18] == 9.0
    assert found.in_words == "1 cell read as missing, such as '?' in row 18 (counted from 1)"


@pytest.mark.parametrize(
    "cells",
    [
        ["a", "b"],
        ["1", "2", "three"] * 10,  # a third is text
        ["?", "?", "1"],  # only one number
        ["?", "-"],
        ["10,000+", "5,000+"],
        ["4WD", "2WD"],
        ["0.5%", "0.5"],  # the second may be 50 %
    ],
)
def test_text_stays_text(cells):
    assert not as_numbers(pl.Series("x", cells)).is_convincing


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["$5", "€5"], "several currencies: $, €"),
        (["5 km", "5 mi"], "several units: km, mi"),
    ],
)
def test_amounts_that_cannot_be_compared_are_doubted(cells, said):
    assert said in as_numbers(pl.Series("x", cells)).doubt


def test_whole_numbers_stay_whole():
    assert as_numbers(pl.Series("x", ["1,710", "2", None])).column.dtype == pl.Int64
    assert as_numbers(pl.Series("x", ["1,710.5", "2"])).column.dtype == pl.Float64
    assert as_numbers(pl.Series("x", ["1.0", "2.0"])).column.dtype == pl.Float64


def test_what_was_done_to_numbers_is_told():
    found = as_numbers(pl.Series("x", ["$59,222", "(5)", "7"]))
    assert found.column.to_list() == [59222, -5, 7]
    assert found.in_words == "2 cells such as '$59,222' read as numbers such as 59222"
