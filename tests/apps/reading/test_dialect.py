"""Encoding, separator and decimal sign of a text file."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from clearbands.apps.reading.dialect import TextOptions, find_separator
from clearbands.apps.reading.reading import read_table
from tests.apps.reading.written import CSV, TABLE


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"]
)
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends_are_found(csv, encoding, ends):
    path = csv(CSV.replace("\n", ends).encode(encoding))
    assert_frame_equal(read_table(path).frame, TABLE)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_separators_and_decimal_signs_are_found(csv, separator, decimal):
    table = TABLE.with_columns(n=pl.Series([1000.0, 2500.25]))
    rows = [["size", "town", "n"]] + [[f"{a}", b, f"{c}"] for a, b, c in table.rows()]
    cells = [[c.replace(".", decimal) for c in row] for row in rows]
    quoted = [[f'"{c}"' if separator in c else c for c in row] for row in cells]
    reading = read_table(csv("\n".join(separator.join(row) for row in quoted)))
    assert_frame_equal(reading.frame, table)
    assert (reading.dialect.separator, reading.dialect.decimal) == (separator, decimal)


def test_what_the_user_says_of_a_file_counts(csv):
    path = csv("a;b\n1,710;x\n2,500;y\n")
    assert read_table(path).frame["a"].to_list() == [1.71, 2.5]
    assert read_table(path, options=TextOptions(decimal=".")).frame["a"].to_list() == [1710, 2500]
    assert read_table(path, options=TextOptions(separator="|")).frame.width == 1
    with pytest.raises(ValueError, match="is not written in utf-8"):
        read_table(csv("é".encode("latin-1")), options=TextOptions(encoding="utf-8"))
    with pytest.raises(ValueError, match="no encoding 'nonsense'"):
        read_table(path, options=TextOptions(encoding="nonsense"))
    with pytest.raises(ValueError, match="one character"):
        TextOptions(separator=";;")
    with pytest.raises(ValueError, match="decimal sign"):
        TextOptions(decimal=";")


def test_of_separators_that_cut_lines_alike_the_one_between_numbers_counts():
    lines = ["unit,sex,geo\t2019", "PC,T,AT\t4.8", "PC,T,BE\t5.5"]
    assert find_separator(lines) == "\t"
    assert find_separator(["a,b;c,d", "x,y;z,w"]) == ","
