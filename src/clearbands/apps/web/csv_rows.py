"""Rows from a csv table with a header.

Numbers and dates may be written as `clearbands predict` reads them, $1,710 or 31.12.2024; all else
is held to the rules of JSON: a column keeps the kind it had in `fit`, every row has a place for
each column, and a cell that could mean two things is refused.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clearbands.apps.reading.dates import find_dates
from clearbands.apps.reading.decimals import Decimals, find_decimals
from clearbands.apps.reading.dialect import SEPARATORS
from clearbands.apps.reading.features import Feature
from clearbands.apps.reading.layout import MISSING
from clearbands.apps.reading.numbers import as_numbers
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

    separator = _separator(body, [feature.name for feature in features])
    header = _check_header(body, separator, [feature.name for feature in features])
    if len(header) > 1:  # empty lines at the end are no rows
        body = body.rstrip(b"\r\n")
    lengths = [len(record) for record in _records(body, separator)][1:]
    check_row_count(len(lengths), limits)
    if len(header) > 1 and any(length != len(header) for length in lengths):
        raise refuse_values(_errors_of_uneven_rows(body, separator, header, features))
    frame = _read(body, separator, features)
    if frame.height != len(lengths) or set(frame.columns) != set(header):
        raise Refusal(422, "The body could not be read; check its quotes and line ends.")
    errors: list[CellError] = []
    decimals = _decimals(frame, features, separator)
    columns = [
        _column(feature, frame[feature.name], range(frame.height), errors, decimals)
        for feature in features
    ]
    if errors:
        raise refuse_values(errors)
    return pl.DataFrame(columns)


def _separator(body: bytes, names: list[str]) -> str:
    """The one that cuts the header into the most names of columns; a comma at a draw."""
    known = set(names)

    def count(separator: str) -> int:
        return sum(name in known for name in next(_records(body, separator), []))

    return max(SEPARATORS, key=count)


def _read(body: bytes, separator: str, features: Sequence[Feature]) -> pl.DataFrame:
    """The cells as text; where an encoder does not tell what it holds, as what they look like."""
    import polars as pl

    text = [feature.name for feature in features if feature.kind != "any"]
    try:
        frame = pl.read_csv(
            decode(body).removeprefix("\ufeff").encode(),
            separator=separator,
            null_values=MISSING,
            schema_overrides=dict.fromkeys(text, pl.String),
            infer_schema_length=None,
        )
    except pl.exceptions.PolarsError as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise Refusal(422, f"The body could not be read as a csv file: {reason}.") from error
    if frame.height == 0:
        raise Refusal(422, "The body has column names but no rows.")
    return frame


def _decimals(frame: pl.DataFrame, features: Sequence[Feature], separator: str) -> Decimals:
    """The decimal signs of the columns of numbers, as they tell or as in the file of the fit."""
    numbers = [feature for feature in features if feature.kind in ("number", "duration")]
    known = next((feature.written for feature in numbers if feature.written), None)
    return find_decimals({f.name: frame[f.name] for f in numbers}, separator, known)


def _records(body: bytes, separator: str) -> Iterator[list[str]]:
    """The header and the rows; an empty line is a row without any value."""
    text = io.StringIO(decode(body).removeprefix("\ufeff"), newline="")
    records = csv.reader(text, delimiter=separator)
    try:
        header = next((record for record in records if record), None)
        if header is not None:
            yield header
            yield from records
    except csv.Error as error:
        raise Refusal(
            422, f"The body cannot be read as csv: {error} in line {records.line_num}."
        ) from error


def _check_header(body: bytes, separator: str, names: list[str]) -> list[str]:
    """The columns, which are those of the model, each once."""
    header = next(_records(body, separator), [])
    errors = [repeated_column(name) for name, count in Counter(header).items() if count > 1]
    errors += column_errors(dict.fromkeys(header), names)
    if errors:
        raise refuse_values(errors)
    return header


def _errors_of_uneven_rows(
    body: bytes, separator: str, header: list[str], features: Sequence[Feature]
) -> list[CellError]:
    """The rows with too few or too many values, and what is wrong with the others."""
    import polars as pl

    errors: list[CellError] = []
    places: list[int] = []
    even: list[list[str | None]] = []
    for i, record in enumerate(list(_records(body, separator))[1:]):
        if len(record) == len(header):
            places.append(i)
            even.append([None if v == "" or v in MISSING else v for v in record])
        else:
            wanted = f"expected {len(header)} values, one for each column"
            errors.append(CellError(wanted, i, seen=str(len(record))))
    for feature in features:
        j = header.index(feature.name)
        texts = pl.Series(feature.name, [record[j] for record in even], pl.String)
        _column(feature, texts, places, errors, Decimals())
    return errors


def _column(
    feature: Feature,
    column: pl.Series,
    places: Sequence[int],
    errors: list[CellError],
    decimals: Decimals,
) -> pl.Series:
    """A column as it was read, as JSON would have it; what does not fit goes to `errors`."""
    import polars as pl

    if feature.kind == "any":
        return _any(feature, column, places, errors)
    texts = column.cast(pl.String)
    if feature.kind == "text":
        return texts
    if feature.kind == "number":
        return _numbers(feature, texts, places, errors, decimals)
    if feature.kind == "boolean":
        values = [None if t is None else BOOLEANS.get(t.lower(), t) for t in texts]
    elif feature.kind == "duration":
        values = _numbers(feature, texts, places, errors, decimals).to_list()
    elif feature.kind in ("date", "datetime"):
        values = _dates(feature, texts)
    else:
        values = texts.to_list()
    return column_of(feature, zip(places, values, strict=True), errors)


def _numbers(
    feature: Feature,
    texts: pl.Series,
    places: Sequence[int],
    errors: list[CellError],
    decimals: Decimals,
) -> pl.Series:
    import polars as pl

    found = as_numbers(texts, decimals.of(feature.name))
    numbers = found.column.cast(pl.Float64)
    is_wrong = texts.is_not_null() & ~numbers.is_finite().fill_null(False)
    if found.doubt or feature.name in decimals.guessed:  # which of two it means, nobody says
        is_wrong = texts.is_not_null()
    for i in is_wrong.arg_true():
        errors.append(CellError(expected(feature.kind), places[i], feature.name, show(texts[i])))
    return numbers.set(is_wrong, None)


def _dates(feature: Feature, texts: pl.Series) -> list[str | None]:
    """As JSON has them, if the column holds dates in one form that tells day and month apart."""
    known = {feature.name: feature.written} if feature.written else {}
    found = find_dates({feature.name: texts}, known).get(feature.name)
    if found is None or found.strays or found.guess or found.doubt:
        return texts.to_list()  # cell by cell
    return [None if value is None else value.isoformat() for value in found.column]


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
