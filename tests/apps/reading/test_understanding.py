"""Columns of text become the kind that they look like, or the kind that a user names."""

import datetime as dt

import polars as pl
import pytest

from clearbands.apps.reading.decimals import Decimals
from clearbands.apps.reading.dialect import Dialect, TextOptions
from clearbands.apps.reading.understanding import Known, as_truths, find_signs, infer_columns


def texts(**columns):
    return {name: pl.Series(name, cells, dtype=pl.String) for name, cells in columns.items()}


def read(kinds=None, decimal=".", **columns):
    return infer_columns(texts(**columns), Decimals(decimal), kinds=kinds)


def test_columns_become_what_they_look_like():
    understood = read(
        size=["1.5", "2", None],
        sold=["2024-01-31", None, "2024-02-01"],
        at=["10:30", "11:45", None],
        new=["true", "FALSE", None],
        gone=[None, None, None],
        town=["Bern", "Chur", None],
    )
    columns = understood.columns
    assert columns["size"].to_list() == [1.5, 2.0, None]
    assert columns["sold"].to_list() == [dt.date(2024, 1, 31), None, dt.date(2024, 2, 1)]
    assert columns["at"].to_list() == [dt.time(10, 30), dt.time(11, 45), None]
    assert columns["new"].to_list() == [True, False, None]
    assert columns["gone"].dtype == pl.Float64
    assert "town" not in columns  # it stays text
    assert (understood.mended, understood.remarks, understood.codes) == ({}, {}, [])


def test_codes_stay_text_and_are_named():
    understood = read(zip=["01067", "8001"])
    assert understood.columns == {}
    assert understood.codes == ["zip"]


def test_a_column_that_is_nearly_of_numbers_says_why_it_is_text():
    understood = read(size=["1", "2", "3", "four", "five"])
    assert understood.columns == {}
    assert understood.remarks["size"] == (
        "text, because 2 cells of 5 hold no number, such as 'four' in row 4 (counted from 1)"
    )


def test_what_is_wanted_counts_more_than_what_it_looks_like():
    understood = read(
        {"zip": "number", "size": "text", "new": "number"},
        zip=["01067", "8001"],
        size=["1", "2"],
        new=["true", "false"],
    )
    assert understood.columns["zip"].to_list() == [1067, 8001]
    assert understood.columns["size"].to_list() == ["1", "2"]
    assert understood.columns["new"].to_list() == [1, 0]


@pytest.mark.parametrize(("order", "day"), [("dmy", 7), ("mdy", 5)])
def test_the_order_of_day_and_month_is_that_of_the_earlier_file(order, day):
    columns = texts(sold=["07/05/2008", "08/06/2008"])
    understood = infer_columns(columns, Decimals("."), known=Known(orders={"sold": order}))
    assert understood.columns["sold"][0].day == day
    assert understood.orders == {"sold": order}


def test_the_decimal_sign_of_the_options_comes_first():
    columns, dialect = texts(size=["1,5", "2,5"]), Dialect(";", ".", "utf-8")
    assert find_signs(columns, TextOptions(), dialect, Known()).of("size") == ","
    assert find_signs(columns, TextOptions(decimal="."), dialect, Known()).of("size") == "."


def test_truths_are_nothing_but_true_and_false():
    assert as_truths(pl.Series("x", ["true", "maybe"])) is None
    assert as_truths(pl.Series("x", [None], dtype=pl.String)) is None


def test_one_text_among_the_numbers_of_several_columns_marks_gaps():
    columns = {
        "warm": pl.Series("warm", ["1.5", "M", "2.5", "3"]),
        "wet": pl.Series("wet", ["M", "7", "M", "8"]),
        "size": pl.Series("size", ["1", "2", "L", "3"]),
        "rare": pl.Series("rare", ["M", "M", "M", "3"]),
    }
    understood = infer_columns(columns, Decimals("."))
    assert {n: c.dtype.is_numeric() for n, c in understood.columns.items()} == {
        "warm": True,
        "wet": True,
    }
    assert understood.columns["wet"].to_list() == [None, 7, None, 8]
    assert (
        understood.mended["wet"].in_words
        == "2 cells read as missing, such as 'M' in row 1 (counted from 1)"
    )
    assert "size" in understood.remarks
