"""Columns become the same values, whatever library the table is of."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from clearbands.tables.columns import columns_of


def test_columns_of_an_array_are_numbered():
    first, second = columns_of([[1, 2], [3, np.nan]])
    assert (first.name, first.kind, first.values.tolist()) == ("x0", "number", [1, 3])
    assert second.is_missing.tolist() == [False, True]
    assert [second.in_words(v) for v in second.values] == ["2", "missing"]


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_frames_keep_names_and_kinds(make):
    frame = make(
        {
            "town": ["a", None],
            "open": [True, False],
            "since": [dt.datetime(2020, 1, 31, 12), dt.datetime(1969, 12, 31)],
        }
    )
    town, is_open, since = columns_of(frame)
    assert (town.is_text, is_open.is_text, since.is_text) == (True, False, False)
    assert town.is_missing.tolist() == [False, True]
    assert [town.in_words(v) for v in town.values] == ["a", "missing"]
    assert [is_open.in_words(v) for v in is_open.values] == ["yes", "no"]
    assert [since.in_words(v) for v in since.values] == [
        "2020-01-31 12:00:00",
        "1969-12-31 00:00:00",
    ]


def test_whole_numbers_keep_their_digits():
    (column,) = columns_of([[20240131.0], [1 / 3]])
    assert [column.in_words(v) for v in column.values] == ["20240131", "0.33333"]


def test_days_and_times_are_written_as_such():
    day, time, span = columns_of(
        pl.DataFrame(
            {"d": [dt.date(2024, 2, 29)], "t": [dt.time(7, 5)], "s": [dt.timedelta(minutes=2)]}
        )
    )
    assert day.in_words(day.values[0]) == "2024-02-29"
    assert time.in_words(time.values[0]) == "07:05:00"
    assert span.in_words(span.values[0]) == "120"
