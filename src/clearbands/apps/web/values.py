"""The values that a request may hold, by the kind of the column, and their types in a table.

The rules are those of the encoder: a column keeps the kind that it had in `fit`.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    AfterValidator,
    AllowInfNan,
    BeforeValidator,
    Strict,
    StrictBool,
    StrictInt,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)

from clearbands.apps.reading.features import NAME, Feature
from clearbands.apps.web.refusals import CellError
from clearbands.tables.kinds import KINDS

if TYPE_CHECKING:
    import polars as pl

MOST_CHARACTERS = 60  # characters of a wrong value that are shown


def _moment(value: Any) -> dt.datetime:
    """Parse a moment without an offset, as the encoder takes it; with one it is moved to UTC."""
    try:
        moment = dt.datetime.fromisoformat(value)
        zoned = moment if moment.tzinfo is None else moment.astimezone(dt.UTC)
    except (TypeError, OverflowError) as error:
        raise ValueError from error
    return zoned.replace(tzinfo=None)


def _time(value: Any) -> dt.time:
    try:
        time = dt.time.fromisoformat(value)
    except TypeError as error:
        raise ValueError from error
    if time.tzinfo is not None:
        raise ValueError
    return time


def _duration(value: Any) -> dt.timedelta:
    try:
        return dt.timedelta(seconds=TypeAdapter(Number).validate_python(value))
    except OverflowError as error:
        raise ValueError from error


def _encodable(text: str) -> str:
    text.encode()  # raises for halves of characters, which JSON can write but no table can hold
    return text


Text = Annotated[str, Strict(), AfterValidator(_encodable)]
Number = Annotated[float, Strict(), AllowInfNan(False)]
Moment = Annotated[dt.datetime, BeforeValidator(_moment)]
TYPES: dict[str, Any] = {
    "number": Number,
    "boolean": StrictBool,
    "text": Text,
    "date": Moment,  # a moment is a date as well, as it is to the encoder
    "datetime": Moment,
    "time": Annotated[dt.time, BeforeValidator(_time)],
    "duration": Annotated[dt.timedelta, BeforeValidator(_duration)],
    "any": StrictBool | Number | Text,
    NAME: StrictInt | Text,
}
"""The types of the values in JSON, by the kind of their column; null is always allowed."""


SCHEMAS = {kind: dict(of.json_schema) for kind, of in KINDS.items()} | {
    NAME: {"type": ["string", "integer"]}
}
EXPECTED = {kind: of.expected for kind, of in KINDS.items()} | {NAME: "text, a whole number"}


COLUMNS: dict[str, TypeAdapter[list[Any]]] = {
    kind: TypeAdapter(list[values | None])  # type: ignore[valid-type]
    for kind, values in TYPES.items()
}


def type_of(feature: Feature) -> Any:
    """Return the type of a value in a column of a request, as pydantic takes and describes it."""
    values: Any = TYPES[feature.kind]
    return Annotated[values, WithJsonSchema(SCHEMAS[feature.kind])] | None


def column_of(
    feature: Feature, values: Iterable[tuple[int, object]], errors: list[CellError]
) -> pl.Series:
    """Return numbered values as a column of a table; errors in them are added to `errors`."""
    import polars as pl

    rows, cells = [], []
    for row, value in values:
        rows.append(row)
        cells.append(value)
    try:
        cells = COLUMNS[feature.kind].validate_python(cells)
    except ValidationError as error:
        wrong = sorted({int(each["loc"][0]) for each in error.errors(include_url=False)})
        words = expected(feature.kind)
        errors += [CellError(words, rows[i], feature.name, show(cells[i])) for i in wrong]
        cells = []
    if (
        feature.kind in ("any", NAME)
        and len({type(each) for each in cells if each is not None}) > 1
    ):
        errors.append(CellError("expected values of one type only", column=feature.name))
        cells = []
    return pl.Series(feature.name, cells, dtype=_polars_type(feature.kind))


def expected(kind: str) -> str:
    return f"expected {EXPECTED[kind]} or null"


def _polars_type(kind: str) -> Any:
    """Return the type of a column in polars, None where the values decide it."""
    import polars as pl

    types: dict[str, Any] = {
        "number": pl.Float64,
        "text": pl.String,
        "boolean": pl.Boolean,
        "time": pl.Time,
        "duration": pl.Duration("us"),
        "any": None,
        NAME: None,
    }
    return types.get(kind, pl.Datetime("us"))


def show(value: object) -> str:
    """Return a value as JSON, cut off where it is long; of lists and objects only the size.

    >>> show("far"), show([1, 2])
    ('"far"', 'a list of 2')
    """
    if isinstance(value, dict | list):
        kind = "an object" if isinstance(value, dict) else "a list"
        return f"{kind} of {len(value)}"
    text = json.dumps(value)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."
