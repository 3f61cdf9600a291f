"""From the body of a request to the body of the answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.features import Feature, typical_row
from clearbands.predictions import table_of
from clearbands.service.answers import as_json
from clearbands.service.limits import Limits, Refusal
from clearbands.service.rows import rows_from_csv, rows_from_json

if TYPE_CHECKING:
    import polars as pl

    from clearbands.regressor import ClearRegressor
    from clearbands.uncertainty import Uncertainty

JSON, CSV = "application/json", "text/csv"
READERS = {JSON: rows_from_json, CSV: rows_from_csv}


@dataclass(frozen=True)
class Answer:
    content: bytes
    media_type: str
    n_rows: int


@dataclass(frozen=True)
class Scorer:
    model: ClearRegressor
    features: Sequence[Feature]
    limits: Limits

    def answer(self, body: bytes, given: str, wanted: str) -> Answer:
        """The bands of the rows in a body of the type `given`, in the type `wanted`."""
        rows = READERS[given](body, self.features, self.limits)
        levels = predict_rows(self.model, rows)
        content = table_of(levels).write_csv().encode() if wanted == CSV else as_json(levels)
        return Answer(content, wanted, rows.height)

    def example(self) -> Any:
        """The answer to a typical row, or None where it takes more to know one."""
        body = json.dumps({"rows": [typical_row(self.features)]}).encode()
        try:
            return json.loads(self.answer(body, JSON, JSON).content)
        except Refusal:
            return None


def predict_rows(model: ClearRegressor, rows: pl.DataFrame) -> tuple[Uncertainty, ...]:
    """The bands of checked rows; 422 for what only the model can find wrong."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # the model refuses what is not finite
            return model.predict_uncertainties(rows)
    except (ValueError, TypeError) as error:
        raise Refusal(422, f"The model cannot read the rows: {error}") from error
