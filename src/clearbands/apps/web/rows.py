"""Rows of requests as a table that the model can read; what is wrong is named by row and column.

Rows count from 0. Values of JSON and of csv are held to the same rules, those of `values`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from clearbands.apps.reading.features import Feature
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import CellError, Refusal, refuse_values
from clearbands.apps.web.values import Value, WrongValue, check_value, column_type, show

if TYPE_CHECKING:
    import polars as pl

Row: TypeAlias = Mapping[str, object]  # as parsed from JSON


def frame_of(rows: Sequence[Row], features: Sequence[Feature]) -> pl.DataFrame:
    """The rows as a table, of which each has the columns; 422 names the values that do not fit."""
    import polars as pl

    errors: list[CellError] = []
    columns = [
        column_of(feature, enumerate(row[feature.name] for row in rows), errors)
        for feature in features
    ]
    if errors:
        raise refuse_values(errors)
    return pl.DataFrame(columns)


def column_of(
    feature: Feature, values: Iterable[tuple[int, object]], errors: list[CellError]
) -> pl.Series:
    """Numbered values as a column of a table; what does not fit goes to `errors`."""
    import polars as pl

    checked: list[Value | None] = []
    for i, value in values:
        try:
            checked.append(check_value(feature.kind, value))
        except WrongValue as error:
            errors.append(CellError(str(error), i, feature.name, show(value)))
            checked.append(None)
    if feature.kind == "any" and len({type(v) for v in checked if v is not None}) > 1:
        errors.append(CellError("expected values of one type only", column=feature.name))
        checked = []
    return pl.Series(feature.name, checked, dtype=column_type(feature.kind))


def column_errors(
    given: Iterable[str], names: Sequence[str], row: int | None = None
) -> list[CellError]:
    """The columns that are missing and those that the model does not know."""
    there, known = set(given), set(names)
    missing = [name for name in names if name not in there]
    unknown = [name for name in given if name not in known]
    return [CellError("the column is missing", row, name) for name in missing] + [
        CellError("the model knows no such column", row, name) for name in unknown
    ]


def repeated_column(name: str, row: int | None = None) -> CellError:
    return CellError("the column is there twice", row, name)


def check_row_count(count: int, limits: Limits) -> None:
    """413 if there are more rows than a request may have."""
    if count > limits.rows:
        raise Refusal(413, f"The body has {count:,} rows where {limits.rows:,} are allowed.")


def decode(body: bytes) -> str:
    """The text of a body, or 422 that names the place where it is not UTF-8."""
    if not body:
        raise Refusal(422, "The body is empty.")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body[: error.start].count(b"\n") + 1
        raise Refusal(
            422, f"The body is not UTF-8: byte 0x{body[error.start]:02x} in line {line}."
        ) from error
