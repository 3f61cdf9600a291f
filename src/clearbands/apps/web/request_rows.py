"""Rows of requests as a table that the model can read; errors name the row and the column.

Rows count from 0. Values of JSON and of csv follow the same rules, those of `values`. JSON is
`{"rows": [{column: value, ...}, ...]}`. A csv table has a header; numbers and dates may be written
there as `clearbands predict` reads them, $1,710 or 31.12.2024. A column keeps the kind it had in
`fit`, every row has a place for each column, and a cell that could mean two things is refused.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from clearbands.apps.reading.dates import find_dates
from clearbands.apps.reading.decimals import Decimals, find_decimals
from clearbands.apps.reading.dialect import SEPARATORS
from clearbands.apps.reading.features import NAME, Feature, labels_of_rows
from clearbands.apps.reading.layout import MISSING
from clearbands.apps.reading.numbers import as_numbers
from clearbands.apps.task import Task
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import CellError, Refusal, refuse_values
from clearbands.apps.web.values import column_of, expected, show
from clearbands.rows.messages import suppress_warnings
from clearbands.tables.encoder import ZoneWarning

if TYPE_CHECKING:
    import polars as pl

    from clearbands.prediction.questions import Questions

Row: TypeAlias = Mapping[str, object]  # as parsed from JSON
SHAPE = 'The body must be {"rows": [{column: value, ...}, ...]}'


class JsonObject(dict[str, object]):
    """A JSON object that remembers a key that it had twice."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.repeated: str | None = None
        if len(self) < len(pairs):
            self.repeated = Counter(key for key, _ in pairs).most_common(1)[0][0]


def predict_rows(task: Task, rows: pl.DataFrame, questions: Questions | None = None) -> Any:
    """Predict checked rows, which have the columns of `request_features`.

    The status is 422 where the model refuses the rows.
    """
    X = rows.select(list(task.model.feature_names_in_))
    try:
        labels = labels_of_rows(task.model, rows, "the request")
        # The model refuses infinite values; moments with a zone have been turned into UTC.
        with np.errstate(over="ignore", invalid="ignore"), suppress_warnings(ZoneWarning):
            return task.predict(X, questions, labels)
    except (ValueError, TypeError) as error:
        raise Refusal(422, f"The model cannot read the rows: {error}") from error


def rows_from_json(body: bytes, features: Sequence[Feature], limits: Limits) -> pl.DataFrame:
    """Return the rows, each with exactly the columns of the model; null is a missing value."""
    rows = _parse_rows(body)
    check_row_count(len(rows), limits)
    errors = [error for i, row in enumerate(rows) for error in _shape_errors(i, row, features)]
    wrong = {error.row for error in errors}
    good: list[tuple[int, Any]] = [each for each in enumerate(rows) if each[0] not in wrong]
    return _table(good, features, errors)  # the other rows may be wrong in another way


def parse_json(body: bytes) -> object:
    """Parse JSON with objects as `JsonObject`, or refuse with 422 at the place that is not JSON."""
    try:
        return json.loads(decode(body), object_pairs_hook=JsonObject)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise Refusal(422, f"The body is not JSON: {error.msg} at {place}.") from error
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, deep nesting
        raise Refusal(422, "The body is JSON that is too large or too deep to read.") from error


def _parse_rows(body: bytes) -> list[object]:
    parsed = parse_json(body)
    is_shaped = isinstance(parsed, JsonObject) and list(parsed) == ["rows"] and not parsed.repeated
    rows = parsed["rows"] if is_shaped and isinstance(parsed, JsonObject) else None
    if not isinstance(rows, list):
        raise Refusal(422, f"{SHAPE}, got {show(parsed)}.")
    if not rows:
        raise Refusal(422, f"{SHAPE} with at least one row, got none.")
    return rows


def _shape_errors(i: int, row: object, features: Sequence[Feature]) -> list[CellError]:
    """Return the errors in the columns of a row, apart from those in its values."""
    if not isinstance(row, JsonObject):
        return [CellError("expected an object", i, seen=show(row))]
    if row.repeated is not None:
        return [repeated_column(row.repeated, i)]
    return column_errors(row, features, i)


def frame_of(rows: Sequence[Row], features: Sequence[Feature]) -> pl.DataFrame:
    """Return the rows as a table, or refuse with 422, which names the values that do not fit."""
    return _table(list(enumerate(rows)), features, [])


def _table(
    rows: Sequence[tuple[int, Row]], features: Sequence[Feature], errors: list[CellError]
) -> pl.DataFrame:
    """Return numbered rows as a table, or refuse with 422 if there are `errors` or more appear."""
    import polars as pl

    columns = [
        column_of(feature, ((i, row.get(feature.name)) for i, row in rows), errors)
        for feature in features_in({name for _, row in rows for name in row}, features)
    ]
    if errors:
        raise refuse_values(errors)
    return pl.DataFrame(columns)


def features_in(columns: Collection[str], features: Sequence[Feature]) -> list[Feature]:
    """Return the features without the one that names rows, if `columns` lack it."""
    return [each for each in features if each.kind != NAME or each.name in columns]


def column_errors(
    columns: Iterable[str], features: Sequence[Feature], row: int | None = None
) -> list[CellError]:
    """Return an error for each column that is missing or that the model does not know."""
    there, known = set(columns), {feature.name for feature in features}
    if there == known:
        return []
    missing = [each.name for each in features_in(there, features) if each.name not in there]
    unknown = [name for name in columns if name not in known]
    return [CellError("the column is missing", row, name) for name in missing] + [
        CellError("the model knows no such column", row, name) for name in unknown
    ]


def repeated_column(name: str, row: int | None = None) -> CellError:
    return CellError("the column is there twice", row, name)


def check_row_count(count: int, limits: Limits) -> None:
    """Refuse with 413 if there are more rows than a request may have."""
    if count > limits.rows:
        raise Refusal(413, f"The body has {count:,} rows where {limits.rows:,} are allowed.")


def decode(body: bytes) -> str:
    """Return the text of a body, or refuse with 422 at the place that is not UTF-8."""
    if not body:
        raise Refusal(422, "The body is empty.")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body[: error.start].count(b"\n") + 1
        raise Refusal(
            422, f"The body is not UTF-8: byte 0x{body[error.start]:02x} in line {line}."
        ) from error


BOOLEANS = {"true": True, "false": False}


def rows_from_csv(body: bytes, features: Sequence[Feature], limits: Limits) -> pl.DataFrame:
    """Return the rows; a cell is missing if it is empty or `clearbands predict` takes it so."""
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
    """Return the separator that cuts the header into the most known names, or a comma at a draw."""
    known = set(names)

    def count(separator: str) -> int:
        return sum(name in known for name in next(_records(text, separator), []))

    return max(SEPARATORS, key=count)


def _records(text: str, separator: str) -> Iterator[list[str]]:
    """Yield the header and the rows; an empty line is a row without any value."""
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
    """Refuse a header unless it has the columns of the model, each once."""
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
    """Return the cells of a column as those of JSON; errors in them are added to `errors`."""
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
    if cells.doubt or feature.name in decimals.guessed:  # a cell may mean two numbers
        is_wrong = texts.is_not_null()
    for i in is_wrong.arg_true():
        errors.append(CellError(expected(feature.kind), places[i], feature.name, show(texts[i])))
    return numbers.set(is_wrong, None)


def _dates(feature: Feature, texts: pl.Series) -> list[str | None]:
    """Return dates as JSON writes them, if one form tells day and month apart in the column."""
    known = {feature.name: feature.written} if feature.written else {}
    dates = find_dates({feature.name: texts}, known).get(feature.name)
    if dates is None or dates.strays or dates.guess or dates.doubt:
        return texts.to_list()  # each cell is checked by itself
    return [None if value is None else value.isoformat() for value in dates.column]


def _any(texts: pl.Series) -> list[object]:
    """Return booleans or numbers if all cells are such, else text; dates are text, as in JSON."""
    import polars as pl

    if {text.lower() for text in texts.drop_nulls()} <= set(BOOLEANS):
        return [None if t is None else BOOLEANS[t.lower()] for t in texts]
    numbers = texts.cast(pl.Float64, strict=False)
    return (texts if numbers.null_count() > texts.null_count() else numbers).to_list()
