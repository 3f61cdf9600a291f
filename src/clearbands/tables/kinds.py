"""The kinds of columns: one table of the kinds, and the numbers or texts that columns hold.

A column keeps its kind from fit to prediction. The name of a kind, its types, how it becomes
numbers and how JSON writes it stand here and nowhere else.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from types import MappingProxyType
from typing import Any, TypeAlias

import narwhals.stable.v1 as nw
import numpy as np

from clearbands.rows.frames import refuse_infinity
from clearbands.rows.messages import row_name

Series: TypeAlias = "nw.Series[Any]"
Name: TypeAlias = "str | int"  # the name of a column, or its position in an array

EPOCH = dt.datetime(1970, 1, 1)


@dataclass(frozen=True)
class Kind:
    """The properties that columns of one kind share."""

    name: str
    in_words: str  # the values of such a column, in the plural
    expected: str  # what a value in JSON must be, other than null
    json_schema: Mapping[str, Any]  # the schema of a value in JSON, other than null
    dtypes: tuple[type[nw.dtypes.DType], ...] = ()  # the types of typed columns
    python: tuple[type, ...] = ()  # the types of values in columns of objects
    read: Callable[[Any], float] | None = None  # turns a value into a number, if it can be one
    write: Callable[[float], Any] = float  # turns the number into the value in JSON
    alike: tuple[str, ...] = field(default=())  # other kinds that give the same numbers


def _moment(value: Any) -> float:
    """Return the seconds from 1970 to a date or datetime, in UTC if it has a time zone."""
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time())
    if value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    return (value - EPOCH).total_seconds()


def _time(value: dt.time) -> float:
    """Return the seconds since midnight."""
    midnight = dt.datetime.min
    return (dt.datetime.combine(midnight, value.replace(tzinfo=None)) - midnight).total_seconds()


def _span(value: Any) -> float:
    """Return a duration in seconds."""
    if isinstance(value, np.timedelta64):
        value = value.astype("timedelta64[us]").item()
    return value.total_seconds()


def _at(seconds: float) -> dt.datetime:
    return EPOCH + dt.timedelta(seconds=round(seconds))


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            Kind(
                "number",
                in_words="numbers",
                expected="a finite number",
                json_schema={"type": "number"},
                python=(Real, Decimal),
                read=float,
            ),
            Kind(
                "boolean",
                in_words="true and false",
                expected="true, false",
                json_schema={"type": "boolean"},
                dtypes=(nw.Boolean,),
                python=(bool, np.bool_),
                read=float,
                write=lambda number: number > 0.5,
            ),
            Kind(
                "date",
                in_words="dates",
                expected='a date such as "2024-01-31"',
                json_schema={"type": "string", "format": "date"},
                dtypes=(nw.Date,),
                python=(dt.date,),
                read=_moment,
                write=lambda number: _at(number).date().isoformat(),
                alike=("datetime",),
            ),
            Kind(
                "datetime",
                in_words="moments in time",
                expected='a time such as "2024-01-31T13:45:00"',
                json_schema={"type": "string", "format": "date-time"},
                dtypes=(nw.Datetime,),
                python=(dt.datetime, np.datetime64),
                read=_moment,
                write=lambda number: _at(number).isoformat(),
                alike=("date",),
            ),
            Kind(
                "time",
                in_words="times of day",
                expected='a time of day such as "13:45:00"',
                json_schema={
                    "type": "string",
                    "pattern": "^([01][0-9]|2[0-3])(:[0-5][0-9]){2}$",
                },
                dtypes=(nw.Time,),
                python=(dt.time,),
                read=_time,
                write=lambda number: _at(number).time().isoformat(),
            ),
            Kind(
                "duration",
                in_words="durations",
                expected="a finite number of seconds",
                json_schema={"type": "number", "description": "In seconds."},
                dtypes=(nw.Duration,),
                python=(dt.timedelta, np.timedelta64),
                read=_span,
            ),
            Kind(
                "text",
                in_words="text",
                expected="text",
                json_schema={"type": "string"},
                dtypes=(nw.String, nw.Categorical, nw.Enum),
                python=(str,),
            ),
            # Columns of which nothing is known: of a foreign encoder, or without values in fit.
            Kind(
                "any",
                in_words="anything",
                expected="a finite number, text, true, false",
                json_schema={"type": ["number", "string", "boolean"]},
            ),
        )
    }
)


def kind_of(column: Series, name: Name) -> str:
    """Return the kind of a column by its type, or by its values if they are objects.

    Objects of several types count as text; the kind of a column without values is "any".

    >>> import narwhals.stable.v1 as nw, polars as pl
    >>> kind_of(nw.from_native(pl.Series([1, None]), series_only=True), "size")
    'number'
    """
    if column.dtype.is_numeric():
        return "number"
    for kind in KINDS.values():
        if column.dtype in kind.dtypes:
            return kind.name
    if is_blank(column):
        return "any"
    if column.dtype != nw.Object:
        known = column.dtype != nw.Unknown
        raise _no_kind(name, str(column.dtype if known else column.to_native().dtype))
    types = {type(value) for value in _values(column) if value is not None}
    for of in types:
        if issubclass(of, CONTAINERS) or _shows_address(of):
            raise _no_kind(name, of.__name__)
    kinds = {_kind_of_value(of) for of in types}
    if kinds == {"datetime"}:
        _check_zones(column, name)
    return kinds.pop() if len(kinds) == 1 else "text"


CONTAINERS = (bytes, bytearray, list, tuple, dict, set, frozenset, np.ndarray)
"""The types of values that have no kind, neither as objects nor in typed columns."""


def _shows_address(of: type) -> bool:
    """Whether the text of such values is an address in memory, another in every process."""
    return of.__str__ is object.__str__ and of.__repr__ is object.__repr__


def _no_kind(name: Name, of: str) -> TypeError:
    return TypeError(
        f"Column {name!r} has the type {of}, which cannot be encoded; "
        "turn it into numbers or text, or drop it."
    )


def _kind_of_value(of: type) -> str:
    # To Python a bool is a number and a datetime is a date, so the narrower types come first.
    for name in ("boolean", "number", "datetime", "date", "time", "duration"):
        if issubclass(of, KINDS[name].python):
            return name
    return "text"


def check_kind(column: Series, name: Name, kind: str) -> None:
    """Raise unless the column has the kind it had in fit. A column without values has any kind."""
    now = kind_of(column, name)
    if kind in (now, "any") or kind in KINDS[now].alike or is_blank(column):
        return
    row, value = _example_of_other_kind(_values(column), kind)
    raise ValueError(
        f"Column {name!r} held {KINDS[kind].in_words} in fit, but now holds "
        f"{KINDS[now].in_words} such as {str(value)!r} in {row_name(row)}; "
        "give it the type it had in fit."
    )


def _example_of_other_kind(values: Sequence[Any], kind: str) -> tuple[int, Any]:
    """Return a row and its value, of numbers if possible one that does not look like a number."""
    there = [(row, value) for row, value in enumerate(values) if value is not None]
    odd = ((row, value) for row, value in there if not _looks_like_a_number(value))
    return next(odd, there[0]) if kind == "number" else there[0]


def _looks_like_a_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _zones(column: Series) -> set[dt.timedelta | None]:
    """Return how far the moments of a column of objects are from UTC; None for those without."""
    moments = (value for value in _values(column) if value is not None)
    return {moment.utcoffset() if isinstance(moment, dt.datetime) else None for moment in moments}


def has_zone(column: Series) -> bool:
    """Whether the moments of a column have a time zone; dates have none."""
    if column.dtype == nw.Datetime:
        return column.dtype.time_zone is not None  # type: ignore[attr-defined]
    return column.dtype == nw.Object and not _zones(column) <= {None}


def _check_zones(column: Series, name: Name) -> None:
    zones = _zones(column)
    if None in zones and len(zones) > 1:
        raise ValueError(
            f"Column {name!r} holds moments with a time zone and moments without one, which cannot "
            "be compared; give all of them a time zone, or none."
        )


GAPS_IN_WORDS = frozenset({"nan", "none", "null", "na", "n/a", "<na>", "nat"})  # in lower case


def remark_on(column: Series, name: Name, kind: str) -> str | None:
    """Return what the owner of a column should know before a model learns from it, or None.

    >>> import narwhals.stable.v1 as nw, polars as pl
    >>> remark_on(nw.from_native(pl.Series(["a", None, "nan"]), series_only=True), "c", "text")
    "Column 'c' has gaps and the text 'nan' in 1 row, which looks like one but counts as a \
category of its own; if it means a gap, leave it empty."
    """
    if kind == "datetime" and column.dtype == nw.Object and len(_zones(column)) > 1:
        return f"Column {name!r} holds moments in several time zones; all are turned into UTC."
    if kind != "text":
        return None
    number = number_in_text(column)
    if number is not None:
        return (
            f"Column {name!r} holds text, though nearly all of it are numbers such as "
            f"{number!r}: each counts as a category of its own. If they are numbers, turn "
            'them into such first, as `pandas.to_numeric(column, errors="coerce")` does.'
        )
    texts = texts_of(column)
    like_gaps = [text for text in texts if text is not None and text.lower() in GAPS_IN_WORDS]
    if not like_gaps or None not in texts:
        return None
    rows = "1 row" if len(like_gaps) == 1 else f"{len(like_gaps)} rows"
    return (
        f"Column {name!r} has gaps and the text {like_gaps[0]!r} in {rows}, which looks like one "
        "but counts as a category of its own; if it means a gap, leave it empty."
    )


MANY_NUMBERS = 20  # different numbers: fewer may well be categories
MOSTLY = 0.9


def number_in_text(column: Series) -> str | None:
    """Return a number of a text column that seems to hold numbers, or None if it does not.

    Such a column has nearly only numbers, many different ones, most of which have a fraction or
    are no text. Whole numbers that are text may be names, such as postal codes.

    >>> import narwhals.stable.v1 as nw, polars as pl
    >>> number_in_text(nw.from_native(pl.Series([f"{i}.5" for i in range(30)]), series_only=True))
    '0.5'
    """
    values = [value for value in _values(column) if value is not None]
    numbers = [value for value in values if _looks_like_a_number(value)]
    if len(numbers) < MOSTLY * len(values) or len(set(map(str, numbers))) <= MANY_NUMBERS:
        return None
    telling = [v for v in numbers if not isinstance(v, str) or not float(v).is_integer()]
    return str(telling[0]) if 2 * len(telling) > len(numbers) else None


def numbers_of(column: Series, name: Name) -> np.ndarray:
    """Return floats (n,) in which NaN is missing; dates and times are seconds."""
    kind = kind_of(column, name)
    if is_blank(column):
        return np.full(len(column), np.nan)
    read = KINDS[kind].read
    if read is None:
        raise ValueError(f"Column {name!r} holds {KINDS[kind].in_words} and no numbers.")
    if column.dtype in (nw.Object, nw.Time):
        values = np.array([np.nan if v is None else read(v) for v in _values(column)], float)
    elif column.dtype == nw.Duration:
        values = _floats(column.dt.total_microseconds()) / 1e6
    elif column.dtype == nw.Date:
        values = _floats(column.cast(nw.Datetime("us")).dt.timestamp("us")) / 1e6
    elif column.dtype == nw.Datetime:
        values = _floats(column.dt.timestamp("us")) / 1e6
    else:
        values = _floats(column)
    refuse_infinity(values, name)
    return values


def texts_of(column: Series) -> list[str | None]:
    """Return text as it stands, None where it is missing; the category 1.0 becomes "1".

    Empty text is missing, as in a csv file, which cannot tell the two apart. NUL at the end, with
    which some programs fill columns of a fixed width, is removed.
    """
    return [None if value is None else _text(value) or None for value in _values(column)]


def value_of(kind: str, number: float) -> Any:
    """Return the value that an encoded number stands for, as JSON writes it.

    >>> value_of("date", 86400.0)
    '1970-01-02'
    """
    return KINDS[kind].write(number)


def is_blank(column: Series) -> bool:
    """Whether no row has a value."""
    if column.dtype.is_float():
        return bool((column.is_null() | column.is_nan()).all())
    return column.null_count() == len(column)


def has_gaps(column: Series) -> bool:
    """Whether a row has no value."""
    if column.null_count() > 0:
        return True
    return bool(column.is_nan().any()) if column.dtype.is_float() else False


def _values(column: Series) -> list[Any]:
    """Return the values as Python objects, None where one is missing."""
    missing = column.is_null().to_list()
    return [
        None if gap or (isinstance(value, float) and value != value) else value
        for value, gap in zip(column.to_list(), missing, strict=True)
    ]


def _floats(column: Series) -> np.ndarray:
    return column.cast(nw.Float64).to_numpy().astype(np.float64)


def _text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).rstrip("\0")
