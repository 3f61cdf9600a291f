"""What a value in a request may be, by the kind of its column, and its type in a table."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable
from typing import Any

SHOWN = 60  # characters of a wrong value

EXPECTED = {
    "number": "a finite number or null",
    "duration": "a finite number of seconds or null",
    "boolean": "true, false or null",
    "text": "text or null",
    "date": 'a date such as "2024-01-31" or null',
    "datetime": 'a time such as "2024-01-31T13:45:00" or null',
    "time": 'a time of day such as "13:45:00" or null',
    "any": "a finite number, text, true, false or null",
}


class WrongValue(ValueError):
    """A value that does not fit its column; the message says what was expected and seen."""


def check_value(kind: str, value: Any) -> Any:
    """The value, as parsed from JSON, in the type of its column; null is None."""
    if value is None:
        return None
    try:
        return _CHECKS[kind](value)
    except (TypeError, ValueError, OverflowError) as error:
        raise WrongValue(describe(kind, value)) from error


def describe(kind: str, value: Any) -> str:
    return f"expected {EXPECTED[kind]}, got {show(value)}"


def column_type(kind: str) -> Any:
    """The polars type of a column; of the kind "any", None: whatever its values are."""
    import polars as pl

    types: dict[str, Any] = {
        "text": pl.String,
        "boolean": pl.Boolean,
        "date": pl.Datetime("us"),
        "datetime": pl.Datetime("us"),
        "time": pl.Time,
        "any": None,
    }
    return types.get(kind, pl.Float64)


def show(value: Any) -> str:
    """The value as JSON, cut where it gets long; of lists and objects only the size."""
    if isinstance(value, dict | list):
        kind = "an object" if isinstance(value, dict) else "a list"
        return f"{kind} of {len(value)}"
    shown = json.dumps(value)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    return number


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # JSON can spell halves of characters, which no table can hold
    return value


def _moment(value: Any) -> dt.datetime:
    """Without an offset, as the encoder takes it; with one, moved to UTC."""
    moment = dt.datetime.fromisoformat(value)
    return moment if moment.tzinfo is None else moment.astimezone(dt.UTC).replace(tzinfo=None)


def _time(value: Any) -> dt.time:
    time = dt.time.fromisoformat(value)
    if time.tzinfo is not None:
        raise ValueError
    return time


def _any(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    return _text(value) if isinstance(value, str) else _number(value)


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "number": _number,
    "duration": _number,
    "boolean": _boolean,
    "text": _text,
    "date": _moment,
    "datetime": _moment,
    "time": _time,
    "any": _any,
}
