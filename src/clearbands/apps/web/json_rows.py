"""Rows from JSON: `{"rows": [{column: value, ...}, ...]}`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from clearbands.apps.reading.features import Feature
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import CellError, Refusal, refuse_values
from clearbands.apps.web.rows import (
    check_row_count,
    column_errors,
    column_of,
    decode,
    frame_of,
    repeated_column,
)
from clearbands.apps.web.values import show

if TYPE_CHECKING:
    import polars as pl

SHAPE = 'The body must be {"rows": [{column: value, ...}, ...]}'


class JsonObject(dict[str, object]):
    """A JSON object that remembers a key that stood twice in it."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.repeated: str | None = None
        if len(self) < len(pairs):
            self.repeated = Counter(key for key, _ in pairs).most_common(1)[0][0]


def rows_from_json(body: bytes, features: Sequence[Feature], limits: Limits) -> pl.DataFrame:
    """The rows, of which each has exactly the columns of the model; null is missing."""
    rows = _parse_rows(body)
    check_row_count(len(rows), limits)
    names = [feature.name for feature in features]
    good: list[tuple[int, JsonObject]] = []
    errors: list[CellError] = []
    for i, row in enumerate(rows):
        wrong = _shape_errors(i, row, names)
        errors += wrong
        if not wrong and isinstance(row, JsonObject):
            good.append((i, row))
    if not errors:
        return frame_of([row for _, row in good], features)
    for feature in features:  # the other rows may be wrong in another way: say all at once
        column_of(feature, ((i, row[feature.name]) for i, row in good), errors)
    raise refuse_values(errors)


def parse_json(body: bytes) -> object:
    """What JSON says, its objects as `JsonObject`, or 422 that says where it is not JSON."""
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


def _shape_errors(i: int, row: object, names: Sequence[str]) -> list[CellError]:
    """What keeps it from being a row of the model, apart from its values."""
    if not isinstance(row, JsonObject):
        return [CellError("expected an object", i, seen=show(row))]
    if row.repeated is not None:
        return [repeated_column(row.repeated, i)]
    return [] if row.keys() == set(names) else column_errors(row, names, i)
