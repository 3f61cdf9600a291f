"""From the body of a request to a table the model can read; what is wrong is named by row, column.

Rows count from 0. A csv body is read as `clearbands predict` reads a file.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clearbands import files
from clearbands.features import Feature
from clearbands.service.limits import CellError, Limits, Refusal, refuse_values
from clearbands.service.values import WrongValue, check_value, column_type, describe, show

if TYPE_CHECKING:
    import polars as pl

SHAPE = 'The body must be {"rows": [{column: value, ...}, ...]}'
TWICE = "the column is there twice"


def rows_from_json(body: bytes, features: Sequence[Feature], limits: Limits) -> pl.DataFrame:
    """The rows of `{"rows": [{column: value, ...}, ...]}`; null is missing."""
    rows = _parse(body)
    _check_count(len(rows), limits)
    _check_keys(rows, [feature.name for feature in features])
    return frame_of(rows, features)


def frame_of(rows: Sequence[Mapping[str, Any]], features: Sequence[Feature]) -> pl.DataFrame:
    """The rows as a table; values, as parsed from JSON, are checked by the kind of their column."""
    import polars as pl

    errors: list[CellError] = []
    columns = [
        _column(feature, (row[feature.name] for row in rows), errors) for feature in features
    ]
    if errors:
        raise refuse_values(errors)
    return pl.DataFrame(columns)


def rows_from_csv(body: bytes, features: Sequence[Feature], limits: Limits) -> pl.DataFrame:
    """The rows of a csv table with a header; what `clearbands predict` takes for missing is."""
    import polars as pl

    _check_header(body, [feature.name for feature in features])
    text = [feature.name for feature in features if feature.kind == "text"]
    try:
        frame = files.read_csv(body, "The body", text=text)
    except ValueError as error:
        raise Refusal(422, str(error)) from error
    if not set(frame.columns).issuperset(feature.name for feature in features):
        raise Refusal(422, "The header of the body could not be read; check quotes and line ends.")
    _check_count(frame.height, limits)
    errors: list[CellError] = []
    columns = [_checked(feature, frame[feature.name], errors) for feature in features]
    if errors:
        raise refuse_values(errors)
    return pl.DataFrame(columns)


def _parse(body: bytes) -> list[Any]:
    try:
        parsed = json.loads(_decode(body), object_pairs_hook=_Object)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise Refusal(422, f"The body is not JSON: {error.msg} at {place}.") from error
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, deep nesting
        raise Refusal(422, "The body is JSON that is too large or too deep to read.") from error
    rows = parsed.get("rows") if isinstance(parsed, dict) else None
    if not isinstance(rows, list) or len(parsed) > 1 or parsed.repeated:
        raise Refusal(422, f"{SHAPE}, got {show(parsed)}.")
    if not rows:
        raise Refusal(422, f"{SHAPE} with at least one row, got none.")
    return rows


class _Object(dict[str, Any]):
    """A JSON object that remembers a key that stood twice in it."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.repeated = None
        if len(self) < len(pairs):
            self.repeated = Counter(key for key, _ in pairs).most_common(1)[0][0]


def _decode(body: bytes) -> str:
    if not body:
        raise Refusal(422, "The body is empty.")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body[: error.start].count(b"\n") + 1
        raise Refusal(
            422, f"The body is not UTF-8: byte 0x{body[error.start]:02x} in line {line}."
        ) from error


def _check_count(count: int, limits: Limits) -> None:
    if count > limits.rows:
        raise Refusal(413, f"The body has {count:,} rows where {limits.rows:,} are allowed.")


def _check_keys(rows: list[Any], names: list[str]) -> None:
    """Every row has exactly the columns, each once."""
    known = set(names)
    errors: list[CellError] = []
    for i, row in enumerate(rows):
        if not isinstance(row, _Object):
            errors.append(CellError(f"expected an object, got {show(row)}", i))
        elif row.repeated is not None:
            errors.append(CellError(TWICE, i, row.repeated))
        elif row.keys() != known:
            errors += _differences(row, names, i)
    if errors:
        raise refuse_values(errors)


def _check_header(body: bytes, names: list[str]) -> None:
    """The same of a csv table, whose parser would rename what is there twice."""
    records = csv.reader(io.StringIO(_decode(body).removeprefix("\ufeff"), newline=""))
    try:
        header = Counter(next((record for record in records if record), []))
    except csv.Error as error:
        raise Refusal(422, f"The header of the body cannot be read: {error}.") from error
    errors = [CellError(TWICE, column=name) for name, count in header.items() if count > 1]
    errors += _differences(header, names)
    if errors:
        raise refuse_values(errors)


def _differences(
    given: Mapping[str, Any], names: list[str], row: int | None = None
) -> list[CellError]:
    missing = [name for name in names if name not in given]
    unknown = [name for name in given if name not in names]
    return [CellError("the column is missing", row, name) for name in missing] + [
        CellError("the model knows no such column", row, name) for name in unknown
    ]


def _column(feature: Feature, values: Iterable[Any], errors: list[CellError]) -> pl.Series:
    """The values as a column of a table; what does not fit goes to `errors`."""
    import polars as pl

    checked: list[Any] = []
    for i, value in enumerate(values):
        try:
            checked.append(check_value(feature.kind, value))
        except WrongValue as error:
            errors.append(CellError(str(error), i, feature.name))
            checked.append(None)
    if feature.kind == "any" and len({type(v) for v in checked if v is not None}) > 1:
        errors.append(CellError("expected values of one type only", column=feature.name))
        checked = []
    return pl.Series(feature.name, checked, dtype=column_type(feature.kind))


def _checked(feature: Feature, column: pl.Series, errors: list[CellError]) -> pl.Series:
    """A column as it was read from csv, if that fits the kind; else cell by cell."""
    import polars as pl

    kind, dtype = feature.kind, column.dtype
    if dtype.is_float():
        for i in column.is_infinite().fill_null(False).arg_true():
            errors.append(CellError(describe(kind, column[i]), i, feature.name))
    is_moment = kind in ("date", "datetime", "time")
    if kind in ("text", "any") or dtype.is_numeric() or dtype == pl.Boolean:
        return column
    if is_moment and dtype.is_temporal():
        return column
    texts = column.cast(pl.String)
    if is_moment:
        return _column(feature, texts, errors)
    # The column is text because some of its values are no numbers: these are to be named.
    no_number = texts.str.strip_chars().cast(pl.Float64, strict=False).is_null()
    for i in (texts.is_not_null() & no_number).arg_true():
        errors.append(CellError(describe(kind, texts[i]), i, feature.name))
    return column
