"""Values as the texts that a model knows: a file may hold the category "3" as 3, 3.0 or "3.0".

A csv file holds text where a parquet file holds a number, a boolean or a date. There are several
usual ways to write such a value, and the categories of the fit tell which of them is meant.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

WHOLE = re.compile(r"([+-]?\d+)(?:\.0+)?")  # numbers that tables write with or without a fraction
TRUTHS = ("true", "false")


def as_texts(column: pl.Series, known: Collection[str] = ()) -> pl.Series:
    """Return the column as text, each value as a known text, or else as it is usually written.

    >>> import polars as pl
    >>> as_texts(pl.Series([3.0, 2.5, None]), {"3.0", "4.0"}).to_list()
    ['3.0', '2.5', None]
    >>> as_texts(pl.Series([3.0, 2.5, None])).to_list()
    ['3', '2.5', None]
    """
    import polars as pl

    there = column.fill_nan(None) if column.dtype.is_float() else column
    known = set(known)
    values = [value for value in there.unique().to_list() if value is not None]
    if column.dtype == pl.String:
        values = [value for value in values if value not in known] if known else []
        if not values:
            return column
    written = [_first_known(spellings(value), known) for value in values]
    old = pl.Series(values, dtype=there.dtype)
    default = there if column.dtype == pl.String else None
    return there.replace_strict(old, written, default=default, return_dtype=pl.String)


def spellings(value: Any) -> tuple[str, ...]:
    """Return the ways in which tables write a value, the most usual first; a text first as it is.

    >>> spellings(3.0), spellings("3.0"), spellings(True)
    (('3', '3.0'), ('3.0', '3'), ('true', 'True', 'TRUE'))
    """
    if isinstance(value, dt.datetime):
        return _moments(value)
    if isinstance(value, dt.date):
        return _moments(dt.datetime.combine(value, dt.time()))
    if isinstance(value, dt.time):
        return _times(value)
    text = str(value)
    whole = WHOLE.fullmatch(text)
    if text.lower() in TRUTHS:
        usual: tuple[str, ...] = (text.lower(), text.capitalize(), text.upper())
    elif whole:
        usual = (whole[1], f"{whole[1]}.0")
    else:
        return (text,)
    return tuple(dict.fromkeys((text, *usual))) if isinstance(value, str) else usual


def _moments(value: dt.datetime) -> tuple[str, ...]:
    day = value.date().isoformat()
    if value.tzinfo is not None:
        return (value.isoformat(" "), value.isoformat())
    times = _times(value.time())
    moments = tuple(f"{day}{between}{time}" for time in times for between in (" ", "T"))
    return moments if value.time() != dt.time() else (day, *moments)


def _times(value: dt.time) -> tuple[str, ...]:
    exact = value.isoformat()
    return (exact, exact[:5]) if exact.endswith(":00") else (exact,)


def _first_known(ways: tuple[str, ...], known: set[str]) -> str:
    return next((way for way in ways if way in known), ways[0])
