"""Rows from a csv table with a header.

It is read as `clearbands predict` reads a file, and then held to the rules of JSON: a column keeps
the kind it had in `fit`, and every row has a place for each column.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clearbands.apps.reading.features import Feature
from clearbands.apps.reading.reading import MISSING, read_csv
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import CellError, Refusal, refuse_values
from clearbands.apps.web.rows import (
    check_row_count,
    column_errors,
    column_of,
    decode,
    repeated_column,
)
from clearbands.apps.web.values import expected, show

if TYPE_CHECKING:
    import polars as pl

BOOLEANS = {"true": True, "false": False}


def rows_from_csv(body: bytes, features: Sequence[Feature], limits: Limits) -> pl.DataFrame:
    """The rows; what is empty, and what `clearbands predict` takes for missing, is missing."""
    import polars as pl

    header = _check_header(body, [feature.name for feature in features])
    if len(header) > 1:  # empty lines at the end are no rows
        body = body.rstrip(b"\r\n")
    lengths = [len(record) for record in _records(body)][1:]
    check_row_count(len(lengths), limits)
    if len(header) > 1 and any(length != len(header) for length in lengths):
        raise refuse_values(_errors_of_uneven_rows(body, header, features))
    # Where an encoder does not tell what it holds, a column is what it looks like.
    text = [feature.name for feature in features if feature.kind != "any"]
    try:
        frame = read_csv(body, "The body", text=text)
    except ValueError as error:
        raise Refusal(422, str(error)) from error
    if frame.height != len(lengths) or set(frame.columns) != set(header):
        raise Refusal(422, "The body could not be read; check its quotes and line ends.")
    errors: list[CellError] = []
    columns = [
        _column(feature, frame[feature.name], range(frame.height), errors) for feature in features
    ]
    if errors:
        raise refuse_values(errors)
    return pl.DataFrame(columns)


def _records(body: bytes) -> Iterator[list[str]]:
    """The header and the rows; an empty line is a row without any value."""
    records = csv.reader(io.StringIO(decode(body).removeprefix("\ufeff"), newline=""))
    try:
        header = next((record for record in records if record), None)
        if header is not None:
            yield header
            yield from records
    except csv.Error as error:
        raise Refusal(
            422, f"The body cannot be read as csv: {error} in line {records.line_num}."
        ) from error


def _check_header(body: bytes, names: list[str]) -> list[str]:
    """The columns, which are those of the model, each once."""
    header = next(_records(body), [])
    errors = [repeated_column(name) for name, count in Counter(header).items() if count > 1]
    errors += column_errors(dict.fromkeys(header), names)
    if errors:
        raise refuse_values(errors)
    return header


def _errors_of_uneven_rows(
    body: bytes, header: list[str], features: Sequence[Feature]
) -> list[CellError]:
    """The rows with too few or too many values, and what is wrong with the others."""
    import polars as pl

    errors: list[CellError] = []
    places: list[int] = []
    even: list[list[str | None]] = []
    for i, record in enumerate(list(_records(body))[1:]):
        if len(record) == len(header):
            places.append(i)
            even.append([None if v == "" or v in MISSING else v for v in record])
        else:
            wanted = f"expected {len(header)} values, one for each column"
            errors.append(CellError(wanted, i, seen=str(len(record))))
    for feature in features:
        j = header.index(feature.name)
        texts = pl.Series(feature.name, [record[j] for record in even], pl.String)
        _column(feature, texts, places, errors)
    return errors


def _column(
    feature: Feature, column: pl.Series, places: Sequence[int], errors: list[CellError]
) -> pl.Series:
    """A column as it was read, as JSON would have it; what does not fit goes to `errors`."""
    import polars as pl

    if feature.kind == "any":
        return _any(feature, column, places, errors)
    texts = column.cast(pl.String)
    if feature.kind == "text":
        return texts
    if feature.kind == "number":
        return _numbers(feature, texts, places, errors)
    if feature.kind == "boolean":
        values = [None if t is None else BOOLEANS.get(t.lower(), t) for t in texts]
    elif feature.kind == "duration":
        seconds = _numbers(feature, texts, places, errors)
        values = seconds.to_list()
    else:
        values = texts.to_list()
    return column_of(feature, zip(places, values, strict=True), errors)


def _numbers(
    feature: Feature, texts: pl.Series, places: Sequence[int], errors: list[CellError]
) -> pl.Series:
    import polars as pl

    numbers = texts.cast(pl.Float64, strict=False)
    is_wrong = texts.is_not_null() & ~numbers.is_finite().fill_null(False)
    for i in is_wrong.arg_true():
        errors.append(CellError(expected(feature.kind), places[i], feature.name, show(texts[i])))
    return numbers.set(is_wrong, None)


def _any(
    feature: Feature, column: pl.Series, places: Sequence[int], errors: list[CellError]
) -> pl.Series:
    """What it looks like, save for dates: to JSON they are text."""
    import polars as pl

    if column.dtype.is_temporal():
        return column.cast(pl.String)
    if column.dtype.is_float():
        for i in (~column.is_finite().fill_null(True)).arg_true():
            seen = show(str(column[i]))
            errors.append(CellError(expected("any"), places[i], feature.name, seen))
    return column
