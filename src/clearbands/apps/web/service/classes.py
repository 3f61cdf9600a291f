"""What a service says with a model that predicts classes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clearbands.apps.reading.features import Feature, typical_row
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import Refusal
from clearbands.apps.web.service.answers import JSON, written
from clearbands.apps.web.service.scoring import READERS, Answer
from clearbands.calibration.conformal import level_of_rank, suffices
from clearbands.prediction.class_predictions import predict_classes
from clearbands.prediction.questions import Questions
from clearbands.rows.weighting import size_of

if TYPE_CHECKING:
    from clearbands.classifier import ClearClassifier

CLASS_PARAMETERS = ("level",)  # what can be asked about classes


@dataclass(frozen=True)
class ClassScorer:
    """Answers requests with one classifier."""

    model: ClearClassifier
    features: Sequence[Feature]
    limits: Limits

    def answer(
        self, body: bytes, given: str, wanted: str, questions: Questions | None = None
    ) -> Answer:
        """What is asked of the rows in a body of the type `given`, in the type `wanted`."""
        asked = questions or Questions()
        self._check(asked)
        rows = READERS[given](body, self.features, self.limits)
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                predictions = predict_classes(self.model, rows, asked.levels)
        except (ValueError, TypeError) as error:
            raise Refusal(422, f"The model cannot read the rows: {error}") from error
        return Answer(
            content=written(predictions, wanted),
            media_type=wanted,
            n_rows=rows.height,
            widths={},
            unfamiliar=predictions.unfamiliar,
        )

    @property
    def highest_level(self) -> float:
        """The highest level that its calibration rows suffice for."""
        size = size_of(self.model.score_weights_, self.model.n_calibration_)
        return level_of_rank(size, size)

    def example(self) -> object:
        """The answer to a typical row, or None where it takes more to know one."""
        body = json.dumps({"rows": [typical_row(self.features)]}).encode()
        try:
            return json.loads(self.answer(body, JSON, JSON).content)
        except Refusal:
            return None

    def _check(self, asked: Questions) -> None:
        numbers_alone = {
            "side": asked.side != "both",
            "tails": asked.tails,
            "quantile": asked.quantiles,
            "above": asked.above,
            "below": asked.below,
        }
        wrong = next((name for name, value in numbers_alone.items() if value), None)
        if wrong is not None:
            raise Refusal(
                422, f"The model predicts classes, and {wrong} is for numbers: leave it out."
            )
        n = self.model.n_calibration_
        weight = self.model.score_weights_
        level = next((level for level in asked.levels if not suffices(level, n, weight)), None)
        if level is not None:
            raise Refusal(
                422,
                f"A level of {level:.9g} needs more calibration rows than the {n:,} of the model: "
                f"ask for levels up to {self.highest_level:.4g}.",
            )
