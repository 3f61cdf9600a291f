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
from clearbands.apps.reading.features import NAME, Feature
from clearbands.apps.reading.layout import MISSING
from clearbands.apps.reading.numbers import as_numbers
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import CellError, Refusal, refuse_values
from clearbands.apps.web.request_rows import (
    check_row_count,
    column_errors,
    decode,
    features_in,
    repeated_column,
)
from clearbands.apps.web.values import column_of, expected, show

if TYPE_CHECKING:
    import polars as pl

BOOLEANS = {"true": True, "false": False}


def rows_from_csv(body: bytes, features: Sequence[Feature], limits: Limits) -> pl.DataFrame:
    """The rows; what is empty, and what `clearbands predict` takes for missing, is missing."""
    import polars as pl

    text, names = decode(body).removeprefix("\ufeff"), [feature.name for feature in features]
    separator = _separator(text, names)
    header, *rows = list(_records(text, separator)) or [[]]
    _check_header(header, features)
    features = features_in(header, features)
    if len(header) == 1:
        rows = [row or [""] for row in rows]
    else:
        while rows and not rows[-1]:  # empty lines at the end are no rows
            rows.pop()
    if not rows:
        raise Refusal(422, "The body has column names but no rows.")
    check_row_count(len(rows), limits)
    wanted = f"expected {len(header)} values, one for each column"
    errors = [
        CellError(wanted, i, seen=str(len(row)))
        for i, row in enumerate(rows)
        if len(row) != len(header)
    ]
    places = [i for i, row in enumerate(rows) if len(row) == len(header)]
    texts = {
        feature.name: pl.Series(
            feature.name, [_cell(rows[i][header.index(feature.name)]) for i in places], pl.String
        )
        for feature in features
    }
    numbers = [feature for feature in features if feature.kind in ("number", "duration")]
    known = next((feature.written for feature in numbers if feature.written), None)
    decimals = find_decimals({f.name: texts[f.name] for f in numbers}, separator, known)
    columns = [_column(each, texts[each.name], places, errors, decimals) for each in features]
    if errors:
        raise refuse_values(errors)
    return pl.DataFrame(columns)


def _separator(text: str, names: list[str]) -> str:
    """The one that cuts the header into the most names of columns; a comma at a draw."""
    known = set(names)

    def count(separator: str) -> int:
        return sum(name in known for name in next(_records(text, separator), []))

    return max(SEPARATORS, key=count)


def _records(text: str, separator: str) -> Iterator[list[str]]:
    """The header and the rows; an empty line is a row without any value."""
    records = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        header = next((record for record in records if record), None)
        if header is not None:
            yield header
            yield from records
    except csv.Error as error:
        raise Refusal(
            422, f"The body cannot be read as csv: {error} in line {records.line_num}."
        ) from error


def _check_header(header: list[str], features: Sequence[Feature]) -> None:
    """Raise unless the columns are those of the model, each once."""
    errors = [repeated_column(name) for name, count in Counter(header).items() if count > 1]
    errors += column_errors(dict.fromkeys(header), features)
    if errors:
        raise refuse_values(errors)


def _cell(text: str) -> str | None:
    return None if text == "" or text in MISSING else text


def _column(
    feature: Feature,
    texts: pl.Series,
    places: Sequence[int],
    errors: list[CellError],
    decimals: Decimals,
) -> pl.Series:
    """The cells of a column as JSON would have them; what does not fit goes to `errors`."""
    if feature.kind in ("text", NAME):
        return texts
    if feature.kind == "number":
        return _numbers(feature, texts, places, errors, decimals)
    if feature.kind == "duration":
        values = _numbers(feature, texts, places, errors, decimals).to_list()
    elif feature.kind == "boolean":
        values = [None if t is None else BOOLEANS.get(t.lower(), t) for t in texts]
    elif feature.kind in ("date", "datetime"):
        values = _dates(feature, texts)
    elif feature.kind == "any":
        values = _any(texts)
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

    cells = as_numbers(texts, decimals.of(feature.name))
    numbers = cells.column.cast(pl.Float64)
    is_wrong = texts.is_not_null() & ~numbers.is_finite().fill_null(False)
    if cells.doubt or feature.name in decimals.guessed:  # which of two it means, nobody says
        is_wrong = texts.is_not_null()
    for i in is_wrong.arg_true():
        errors.append(CellError(expected(feature.kind), places[i], feature.name, show(texts[i])))
    return numbers.set(is_wrong, None)


def _dates(feature: Feature, texts: pl.Series) -> list[str | None]:
    """As JSON has them, if the column holds dates in one form that tells day and month apart."""
    known = {feature.name: feature.written} if feature.written else {}
    dates = find_dates({feature.name: texts}, known).get(feature.name)
    if dates is None or dates.strays or dates.guess or dates.doubt:
        return texts.to_list()  # cell by cell
    return [None if value is None else value.isoformat() for value in dates.column]


def _any(texts: pl.Series) -> list[object]:
    """Truths or numbers if all cells are; dates are text, as in JSON."""
    import polars as pl

    if set(texts.drop_nulls()) <= set(BOOLEANS):
        return [None if t is None else BOOLEANS[t] for t in texts]
    numbers = texts.cast(pl.Float64, strict=False)
    return (texts if numbers.null_count() > texts.null_count() else numbers).to_list()
