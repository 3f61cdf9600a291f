"""The answers of a fitted classifier: its members, its calibrator, and questions about rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from clearbands.calibration.class_calibrator import JointClassCalibrator, mass_ahead
from clearbands.calibration.conformal import (
    CalibrationWarning,
    order_statistic,
    per_heaviest,
    rank,
    rows_needed,
)
from clearbands.models.class_bags import ClassBag
from clearbands.prediction.class_uncertainty import ClassUncertainty
from clearbands.prediction.familiarity import Familiarity, texts_of_rows, unfamiliar_rows
from clearbands.rows.levels import check_one_level
from clearbands.rows.messages import warn
from clearbands.rows.split import Rows
from clearbands.tables.encoder import encode
from clearbands.tables.native import FrameKind


@dataclass(frozen=True)
class ClassPredictor:
    """All that a `ClearClassifier` keeps of a fit to answer questions."""

    encoder: BaseEstimator
    bags: Sequence[ClassBag]
    calibrator: JointClassCalibrator
    familiar: Familiarity | None
    scores: np.ndarray  # (n,), rising, of rows that judge sets: the mass ahead of their class
    weight: np.ndarray | None  # (n,): the weights of these rows

    @classmethod
    def of(
        cls,
        encoder: BaseEstimator,
        bags: Sequence[ClassBag],
        calibrator: JointClassCalibrator,
        familiar: Familiarity | None,
        judging: Rows,
        *,
        is_guaranteed: bool,
    ) -> ClassPredictor:
        """Return a predictor whose sets the rows `judging` calibrate; the X of these are logits."""
        n, weight = len(judging), judging.sample_weight
        scores = mass_ahead(calibrator.predict_proba(judging.X))[np.arange(n), judging.y]
        if weight is not None and is_guaranteed:
            weight = per_heaviest(weight)
        order = np.argsort(scores, kind="stable")
        own = None if weight is None else weight[order]
        return cls(encoder, bags, calibrator, familiar, scores[order], own)

    def logits(self, table: Any) -> np.ndarray:
        """Return the uncalibrated logits (n, members, classes)."""
        return logits_of(self.bags, encode(self.encoder, table))

    def answers(self, table: Any, kind: FrameKind) -> ClassAnswers:
        """Return what answers all questions about some rows, and asks members only once."""
        encoded = encode(self.encoder, table)
        logits = logits_of(self.bags, encoded)
        return ClassAnswers(
            self, table, encoded, logits, self.calibrator.predict_members(logits), kind
        )

    def threshold(self, level: float) -> float:
        """Return the largest probability ahead of a class that is in the sets of a level."""
        n, weight = len(self.scores), self.weight
        threshold = order_statistic(self.scores, rank(n, level, weight), weight)
        if np.isinf(threshold):
            warn(
                f"At {level:g}, sets need at least {rows_needed(level)} calibration rows, and "
                f"there are {n}{'' if weight is None else f' that count as {weight.sum():g}'}: "
                "every class is in every set.",
                CalibrationWarning,
            )
        return threshold


@dataclass(frozen=True)
class ClassAnswers:
    """Made by `ClearClassifier.answers`; each method answers another question about these rows."""

    predictor: ClassPredictor
    table: Any  # the rows
    encoded: Any
    logits: np.ndarray  # (n, members, classes): not calibrated
    members: np.ndarray  # (n, members, classes): probabilities
    kind: FrameKind  # the kind of the predicted rows

    @cached_property
    def probabilities(self) -> np.ndarray:
        """The mean probabilities over the members (n, classes)."""
        return self.members.mean(axis=1)

    @cached_property
    def entropies(self) -> ClassUncertainty:
        return ClassUncertainty.of_members(self.members, self.kind)

    def sets(self, level: float) -> np.ndarray:
        """Return the sets of a level as booleans (n, classes)."""
        threshold = self.predictor.threshold(check_one_level(level))
        return mass_ahead(self.probabilities) <= threshold

    def unfamiliar(self) -> np.ndarray:
        """Return whether each row (n,) is unlike those that the model has learned from."""
        texts = texts_of_rows(self.predictor.encoder, self.table)
        spread = disagreement(self.logits)
        return unfamiliar_rows(self.predictor.familiar, self.encoded, texts, spread)


def logits_of(bags: Sequence[ClassBag], encoded: Any) -> np.ndarray:
    """Return the logits of the members of all bags (n, members, classes)."""
    return np.concatenate([bag.predict_logits(encoded) for bag in bags], axis=1)


def disagreement(logits: np.ndarray) -> np.ndarray:
    """Return the root mean square distance of the members' logits from their mean (n,)."""
    deviation = logits - logits.mean(axis=1, keepdims=True)
    return np.sqrt(np.mean(deviation**2, axis=(1, 2)))
