"""The task of a model, numbers or classes: all that command, service and pages ask of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from clearbands.apps.question_table import QUESTIONS
from clearbands.apps.reading.choosing import take_classes, take_target

if TYPE_CHECKING:
    import polars as pl

    from clearbands.apps.reading.reading import Reading
    from clearbands.apps.report import Report
    from clearbands.classifier import ClearClassifier
    from clearbands.prediction.class_predictions import ClassPredictions
    from clearbands.prediction.predictions import Predictions
    from clearbands.prediction.questions import Questions
    from clearbands.prediction.uncertainty import Uncertainty
    from clearbands.regressor import ClearRegressor


@dataclass(frozen=True)
class Regression:
    """The task of predicting numbers."""

    model: ClearRegressor

    @property
    def levels(self) -> list[float]:
        """The levels of the fit."""
        return self.model.levels_.tolist()

    @property
    def highest_level(self) -> float:
        """The highest level for which the calibration rows suffice."""
        bands = self.model.any_level_
        return max(self.levels) if bands is None else float(bands.highest)

    @property
    def best_model(self) -> str | None:
        """The name of the center that won, if models competed."""
        from clearbands.selection.leaderboard import best_model

        return best_model(self.model)

    def take_target(self, reading: Reading, target: str) -> np.ndarray:
        """Return the true values in a table."""
        return take_target(reading, target)

    def check(self, values: Mapping[str, Any], prefix: str = "") -> None:
        """Do nothing: numbers answer every question."""

    def check_enough(self, questions: Questions) -> None:
        """Raise an error for levels that need more calibration rows than there are."""
        from clearbands.calibration.conformal import rows_needed
        from clearbands.rows.levels import same_level

        bands = self.model.any_level_
        if bands is None:
            return  # the model itself says why it has no other levels
        levels = [each for each in questions.levels if same_level(self.levels, each) is None]
        levels += [2 * abs(quantile - 0.5) for quantile in questions.quantiles]
        levels += [1 - share for share in questions.tails or () if share > 0]
        highest = max(levels, default=0.0)
        if highest > bands.highest:
            raise ValueError(
                f"A level of {highest:.9g} needs {rows_needed(highest):,} calibration rows, and "
                f"the model has {len(bands.positions):,}: ask for levels up to "
                f"{bands.highest:.4g} and for quantiles inside them."
            )

    def predict(
        self, X: pl.DataFrame, questions: Questions | None = None, groups: Any = None
    ) -> Predictions:
        """Return the answers, which have the columns of `predict_frame`."""
        from clearbands.prediction.predictions import predict

        return predict(self.model, X, questions, groups)

    def widths(self, predictions: Predictions) -> dict[float, np.ndarray]:
        """Return the widths (n,) at each level of the fit, as callers may ask for any others."""
        return {
            parts.confidence_level: np.ptp(parts.interval, axis=1)
            for parts in predictions.bands
            if parts.confidence_level in self.levels
        }

    def evaluate(
        self, X: pl.DataFrame, y: np.ndarray, groups: Any = None
    ) -> tuple[list[dict[str, float]], Sequence[Uncertainty]]:
        """Return the scores at each level of the fit, and the uncertainties that were scored."""
        from clearbands import metrics

        parts = self.model.predict_uncertainties(X, calibration_groups=groups)
        scores = [
            {"confidence_level": each.confidence_level}
            | metrics.evaluate(y, each.center, each.interval, each.confidence_level)
            for each in parts
        ]
        return scores, parts

    def make_report(self, X: pl.DataFrame, y: np.ndarray, **words: Any) -> Report:
        from clearbands.apps.report import make_report

        return make_report(self.model, X, y, **words)


@dataclass(frozen=True)
class Classification:
    """The task of predicting classes."""

    model: ClearClassifier

    @property
    def levels(self) -> list[float]:
        """The level of the sets."""
        return [float(self.model.confidence_level)]

    @property
    def highest_level(self) -> float:
        """The highest level for which the calibration rows suffice."""
        from clearbands.calibration.conformal import level_of_rank
        from clearbands.rows.weighting import size_of

        size = size_of(self.model.score_weights_, self.model.n_calibration_)
        return level_of_rank(size, size)

    @property
    def best_model(self) -> str | None:
        """The name of the first model whose members are kept."""
        return next(iter(self.model.models_), None)

    def take_target(self, reading: Reading, target: str) -> np.ndarray:
        """Return the true classes in a table, as texts if the model knows them as texts."""
        y = take_classes(reading, target)
        is_text = self.model.classes_.dtype.kind == "U"
        return y.astype(str) if is_text and y.dtype.kind != "U" else y

    def check(self, values: Mapping[str, Any], prefix: str = "") -> None:
        """Raise an error for questions, given by name, that only numbers answer."""
        for name, question in QUESTIONS.items():
            if not question.of_classes and values[name] not in (None, [], "both"):
                raise ValueError(
                    f"The model predicts classes, and {prefix}{name} is for numbers: leave it out."
                )

    def check_enough(self, questions: Questions) -> None:
        """Raise an error for levels that need more calibration rows than there are."""
        from clearbands.calibration.conformal import suffices

        n, weight = self.model.n_calibration_, self.model.score_weights_
        for level in questions.levels:
            if not suffices(level, n, weight):
                raise ValueError(
                    f"A level of {level:.9g} needs more calibration rows than the {n:,} of the "
                    f"model: ask for levels up to {self.highest_level:.4g}."
                )

    def predict(
        self, X: pl.DataFrame, questions: Questions | None = None, groups: Any = None
    ) -> ClassPredictions:
        """Return the answers, which have the columns of `predict_frame`."""
        from clearbands.prediction.class_predictions import predict_classes

        return predict_classes(self.model, X, questions.levels if questions else ())

    def widths(self, predictions: ClassPredictions) -> dict[float, np.ndarray]:
        """Return nothing: sets have no widths."""
        return {}

    def evaluate(
        self, X: pl.DataFrame, y: np.ndarray, groups: Any = None
    ) -> tuple[list[dict[str, float]], Sequence[Uncertainty]]:
        """Return the scores of probabilities and sets."""
        from clearbands.diagnostics.class_metrics import evaluate_classes

        answers, level = self.model.answers(X), self.levels[0]
        position = self.model.positions(y)
        scores = evaluate_classes(position, answers.probabilities, answers.sets(level))
        return [{"confidence_level": level} | scores], ()

    def make_report(self, X: pl.DataFrame, y: np.ndarray, **words: Any) -> Report:
        from clearbands.apps.report.classes import make_class_report

        words.pop("unit", None)  # classes have no unit
        return make_class_report(self.model, X, y, **words)


Task: TypeAlias = Regression | Classification


def task_of(model: Any) -> Task:
    """Return the task of a fitted model."""
    return Classification(model) if hasattr(model, "classes_") else Regression(model)
