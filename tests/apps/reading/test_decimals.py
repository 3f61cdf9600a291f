"""The decimal sign is found from all columns together."""

import polars as pl
import pytest

from clearbands.apps.reading.decimals import find_decimals


def find(separator=",", known=None, **columns):
    texts = {name: pl.Series(name, cells) for name, cells in columns.items()}
    return find_decimals(texts, separator, known)


@pytest.mark.parametrize("cell", ["0.5", "1.2345", "0.500", "1234.567", "1,234.5", "1,234,567"])
def test_cells_that_tell(cell):
    assert find(";", x=[cell]).of("x") == "."
    mirrored = cell.translate(str.maketrans(".,", ",."))
    assert find(x=[mirrored]).of("x") == ","


def test_other_columns_tell_where_one_does_not():
    found = find(";", x=["1.113", "1.880"], y=["0,5", "2,5"])
    assert (found.of("x"), found.guessed) == (",", ())
    assert find(";", x=["1.113", "1.880"], y=["0.5", "2.5"]).of("x") == "."


def test_a_column_that_is_written_otherwise_keeps_its_sign():
    found = find(";", version=["1.0", "2.5"], area=["77,7", "80,25", "9,5"])
    assert (found.of("version"), found.of("area")) == (".", ",")
    assert found.of_column == {"version": "."}


def test_text_has_no_say():
    assert find(note=["0,5", "Bern", "Chur"], x=["1.25", "2", "3"]).of_file == "."


@pytest.mark.parametrize(
    ("separator", "cells", "sign"),
    [
        (",", ["1,710", "2,500"], "."),
        (",", ["1.710", "2.500"], "."),
        ("\t", ["1,710", "2,500"], "."),
        (";", ["1,710", "2,500"], ","),
        (";", ["1.710", "950"], ","),  # thousands and hundreds
        (";", ["1.710 €", "2.500 €"], ","),  # prices have at most two decimals
        (";", ["1.710", "2.500"], "."),
    ],
)
def test_where_nothing_tells_it_is_guessed_and_told(separator, cells, sign):
    found = find(separator, x=cells)
    assert found.of_file == sign
    assert found.guessed == (("x",) if separator == ";" or sign == "," else ())


def test_an_earlier_file_tells_where_this_one_does_not():
    assert find(";", known=",", x=["1.710"]).of("x") == ","
    assert find(";", known=",", x=["1.710", "0.5"]).of("x") == "."
