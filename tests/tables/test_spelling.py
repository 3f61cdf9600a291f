"""A value is spelled alike, whether it comes from a csv file, a parquet file or a model."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import polars as pl
import pytest

from clearbands.tables.spelling import as_texts, spellings


@pytest.mark.parametrize(
    ("values", "known", "texts"),
    [
        ([3, None], {"3", "4"}, ["3", None]),
        ([3, 7], {"3.0", "4.0"}, ["3.0", "7"]),
        ([3.0, float("nan"), 2.5], {"3"}, ["3", None, "2.5"]),
        (["3.0", "x", None], {"3", "y"}, ["3", "x", None]),
        (["3.0"], {"3", "3.0"}, ["3.0"]),  # fit knew both spellings
        (["3.0"], (), ["3.0"]),
        ([True, False], {"True", "False"}, ["True", "False"]),
        ([True], (), ["true"]),
        ([dt.date(2026, 1, 31)], {"2026-01-31 00:00:00"}, ["2026-01-31 00:00:00"]),
        ([dt.datetime(2026, 1, 31)], {"2026-01-31"}, ["2026-01-31"]),
        ([dt.datetime(2026, 1, 31, 13, 45)], {"2026-01-31T13:45"}, ["2026-01-31T13:45"]),
        ([dt.time(13, 45)], (), ["13:45:00"]),
        ([Decimal("3.00")], {"3"}, ["3"]),
    ],
)
def test_values_are_written_as_they_are_known(values, known, texts):
    found = as_texts(pl.Series("x", values), known)
    assert found.to_list() == texts
    assert (found.name, found.dtype) == ("x", pl.String)


def test_a_text_is_first_of_all_itself():
    for text in ("3", "3.0", "true", "TRUE", "red", "2026-01-31", ""):
        assert spellings(text)[0] == text
