"""A scorer that turns the body of a request into the body of the answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from clearbands.apps.reading.features import NAME, Feature, typical_row
from clearbands.apps.task import Task
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import Refusal
from clearbands.apps.web.request_rows import (
    features_in,
    predict_rows,
    rows_from_csv,
    rows_from_json,
)
from clearbands.prediction.questions import Questions
from clearbands.rows.display import finite

JSON, CSV = "application/json", "text/csv"
READERS = {JSON: rows_from_json, CSV: rows_from_csv}


@dataclass(frozen=True)
class Answer:
    """The body of an answer, and the numbers of it that the metrics count."""

    content: bytes
    media_type: str
    n_rows: int
    widths: dict[float, np.ndarray]  # the widths (n,) of the intervals at each level
    unfamiliar: np.ndarray | None  # (n,) booleans, None where the model cannot tell


@dataclass(frozen=True)
class Scorer:
    """A scorer that answers requests with one model."""

    task: Task
    features: Sequence[Feature]
    limits: Limits

    def answer(
        self, body: bytes, type_in: str, type_out: str, questions: Questions | None = None
    ) -> Answer:
        """Predict the rows of a body of type `type_in`, and write the answer as `type_out`."""
        questions = questions or Questions()
        try:
            self.task.check_enough(questions)
        except ValueError as error:
            raise Refusal(422, str(error)) from error
        rows = READERS[type_in](body, self.features, self.limits)
        predictions = predict_rows(self.task, rows, questions)
        names = [f.name for f in features_in(rows.columns, self.features) if f.kind == NAME]
        return Answer(
            content=_written(predictions, rows.select(names), type_out),
            media_type=type_out,
            n_rows=rows.height,
            widths=self.task.widths(predictions),
            unfamiliar=predictions.unfamiliar,
        )

    def example(self) -> object:
        """Return the answer to a typical row, or None where the model refuses such a row."""
        body = json.dumps({"rows": [typical_row(self.features)]}).encode()
        try:
            return json.loads(self.answer(body, JSON, JSON).content)
        except Refusal:
            return None


def _written(predictions: Any, names: pl.DataFrame, media_type: str) -> bytes:
    """Write an object per row under "predictions", or a csv table.

    Both have the names of the rows, if these came with names, and the columns of `predict_frame`.
    """
    if media_type == CSV:
        return predictions.frame().select(*names, pl.all()).write_csv().encode()
    columns = names.to_dict() | predictions.columns()
    values = zip(*map(_nullable, columns.values()), strict=True)
    rows = [dict(zip(columns, row, strict=True)) for row in values]
    # The numbers are written with all digits, so that nothing is lost when they are read.
    return json.dumps({"predictions": rows}, allow_nan=False).encode()


def _nullable(column: Any) -> list[Any]:
    """Return the values as a list, with None for infinite ones."""
    if not isinstance(column, np.ndarray):
        return list(column)
    values = column.tolist()
    if column.dtype.kind != "f" or np.isfinite(column).all():
        return values
    return [finite(value) for value in values]
