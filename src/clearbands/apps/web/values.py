"""What a value in a request may be, by the kind of its column, and its type in a table.

The rules are those of the encoder: a column keeps the kind that it had in `fit`.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from clearbands.tables.kinds import KINDS

if TYPE_CHECKING:
    import polars as pl

Value: TypeAlias = bool | float | str | dt.datetime | dt.time | dt.timedelta
SHOWN = 60  # characters of a wrong value


class WrongValue(ValueError):
    """A value that does not fit its column."""


def check_value(kind: str, value: object) -> Value | None:
    """The value, as parsed from JSON, in the type of its column; null is None.

    >>> check_value("date", "2024-01-31")
    datetime.datetime(2024, 1, 31, 0, 0)
    >>> check_value("boolean", 1)
    Traceback (most recent call last):
    clearbands.apps.web.values.WrongValue: expected true, false or null
    """
    if value is None:
        return None
    try:
        return _CHECKS[kind](value)
    except (TypeError, ValueError, OverflowError) as error:
        raise WrongValue(expected(kind)) from error


def expected(kind: str) -> str:
    return f"expected {KINDS[kind].expected} or null"


def column_type(kind: str) -> pl.DataType | type[pl.DataType] | None:
    """The polars type of a column; of the kind "any", None: whatever its values are."""
    import polars as pl

    types: dict[str, pl.DataType | type[pl.DataType] | None] = {
        "text": pl.String,
        "boolean": pl.Boolean,
        "date": pl.Datetime("us"),
        "datetime": pl.Datetime("us"),
        "time": pl.Time,
        "duration": pl.Duration("us"),
        "any": None,
    }
    return types.get(kind, pl.Float64)


def show(value: object) -> str:
    """The value as JSON, cut where it gets long; of lists and objects only the size.

    >>> show("far"), show([1, 2])
    ('"far"', 'a list of 2')
    """
    if isinstance(value, dict | list):
        kind = "an object" if isinstance(value, dict) else "a list"
        return f"{kind} of {len(value)}"
    shown = json.dumps(value)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    return number


def _duration(value: object) -> dt.timedelta:
    return dt.timedelta(seconds=_number(value))


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # JSON can spell halves of characters, which no table can hold
    return value


def _datetime(value: object) -> dt.datetime:
    """Without an offset, as the encoder takes it; with one, moved to UTC."""
    moment = dt.datetime.fromisoformat(_text(value))
    return moment if moment.tzinfo is None else moment.astimezone(dt.UTC).replace(tzinfo=None)


def _time(value: object) -> dt.time:
    time = dt.time.fromisoformat(_text(value))
    if time.tzinfo is not None:
        raise ValueError
    return time


def _any(value: object) -> bool | float | str:
    if isinstance(value, bool):
        return value
    return _text(value) if isinstance(value, str) else _number(value)


_CHECKS: dict[str, Callable[[object], Value]] = {
    "number": _number,
    "duration": _duration,
    "boolean": _boolean,
    "text": _text,
    "date": _datetime,  # a moment is one as well, to the encoder, too
    "datetime": _datetime,
    "time": _time,
    "any": _any,
}
