"""From the body of a request to the body of the answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clearbands.apps.reading.features import Feature, typical_row
from clearbands.apps.web.bands import predict_rows
from clearbands.apps.web.csv_rows import rows_from_csv
from clearbands.apps.web.json_rows import rows_from_json
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import Refusal
from clearbands.apps.web.service.answers import CSV, JSON, written
from clearbands.apps.web.service.asked import check_enough
from clearbands.prediction.predictions import Predictions
from clearbands.prediction.questions import Questions

if TYPE_CHECKING:
    from clearbands.regressor import ClearRegressor

READERS = {JSON: rows_from_json, CSV: rows_from_csv}


@dataclass(frozen=True)
class Answer:
    """The body of an answer, and what the metrics tell of it."""

    content: bytes
    media_type: str
    n_rows: int
    widths: dict[float, np.ndarray]  # (n,) of the intervals of each level
    unfamiliar: np.ndarray | None  # (n,) of bool, where the model tells


@dataclass(frozen=True)
class Scorer:
    """Answers requests with one model."""

    model: ClearRegressor
    features: Sequence[Feature]
    limits: Limits

    def answer(
        self, body: bytes, given: str, wanted: str, questions: Questions | None = None
    ) -> Answer:
        """What is asked of the rows in a body of the type `given`, in the type `wanted`."""
        asked = questions or Questions()
        check_enough(asked, self.model)
        rows = READERS[given](body, self.features, self.limits)
        predictions = predict_rows(self.model, rows, asked)
        return Answer(
            content=written(predictions, wanted),
            media_type=wanted,
            n_rows=rows.height,
            widths=self._widths(predictions),
            unfamiliar=predictions.unfamiliar,
        )

    @property
    def highest_level(self) -> float:
        """The highest level that its calibration rows suffice for."""
        bands = getattr(self.model, "any_level_", None)
        return max(self.model.levels_.tolist()) if bands is None else bands.highest

    def _widths(self, predictions: Predictions) -> dict[float, np.ndarray]:
        """Of the levels of the fit alone: whoever asks could make up any number of others."""
        known = set(self.model.levels_.tolist())
        return {
            parts.confidence_level: np.ptp(parts.interval, axis=1)
            for parts in predictions.bands
            if parts.confidence_level in known
        }

    def example(self) -> object:
        """The answer to a typical row, or None where it takes more to know one."""
        body = json.dumps({"rows": [typical_row(self.features)]}).encode()
        try:
            return json.loads(self.answer(body, JSON, JSON).content)
        except Refusal:
            return None
