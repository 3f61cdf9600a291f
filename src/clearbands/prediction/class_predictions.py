"""Predictions of classes as a table: one row per row, in the order of the input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from clearbands.prediction.class_predictor import ClassAnswers
from clearbands.prediction.class_uncertainty import ClassUncertainty
from clearbands.prediction.familiarity import Familiarity
from clearbands.prediction.predictions import flags
from clearbands.rows.levels import level_name
from clearbands.rows.typed import TableLike
from clearbands.tables.native import make_frame

BETWEEN = " | "  # the classes of a set


class ClassModel(Protocol):
    """The attributes of a fitted `ClearClassifier` that are used here."""

    classes_: np.ndarray
    confidence_level: float
    familiar_: Familiarity | None

    def answers(self, X: TableLike) -> ClassAnswers: ...


@dataclass(frozen=True)
class ClassPredictions:
    """The answers of a classifier about n rows."""

    classes: np.ndarray  # (classes,)
    probabilities: np.ndarray  # (n, classes)
    sets: Mapping[float, np.ndarray]  # (n, classes) booleans, by level
    entropies: ClassUncertainty
    unfamiliar: np.ndarray | None = None  # (n,) booleans; None if the model cannot tell

    @property
    def names(self) -> list[str]:
        """The names of the classes."""
        return [str(name) for name in self.classes.tolist()]

    @property
    def likeliest(self) -> np.ndarray:
        """The most probable class of each row (n,)."""
        return self.classes[self.probabilities.argmax(axis=1)]

    def members(self, level: float) -> list[list[str]]:
        """Return the classes in each row's set, the most probable first."""
        order = np.argsort(-self.probabilities, axis=1, kind="stable")
        names = self.names
        return [
            [names[i] for i in ranked if own[i]]
            for ranked, own in zip(order, self.sets[level], strict=True)
        ]

    def columns(self) -> dict[str, Any]:
        """Return columns: class, set at every level, a probability per class, entropies in bits."""
        sets = {f"set_{level_name(level)}": self.members(level) for level in self.sets}
        return {
            "prediction": self.likeliest,
            **sets,
            **{f"p_{name}": self.probabilities[:, j] for j, name in enumerate(self.names)},
            "aleatoric": self.entropies.aleatoric,
            "epistemic": self.entropies.epistemic,
            "epistemic_share": self.entropies.epistemic_share,
            "dominant": self.entropies.dominant,
            "unfamiliar": flags(self.unfamiliar, len(self.entropies)),
        }

    def frame(self) -> Any:
        """Return these columns as a frame of the kind of the rows that were predicted.

        The classes of a set are one text, the most probable first: "cat | dog".
        """
        columns = self.columns()
        for level in self.sets:
            name = f"set_{level_name(level)}"
            columns[name] = list(map(BETWEEN.join, columns[name]))
        return make_frame(columns, self.entropies.kind)


def predict_classes(
    model: ClassModel, X: TableLike, levels: Sequence[float] = ()
) -> ClassPredictions:
    """Return what the model predicts for X; by default the sets have the level of the fit."""
    answers = model.answers(X)
    return ClassPredictions(
        model.classes_,
        answers.probabilities,
        {float(at): answers.sets(float(at)) for at in levels or [model.confidence_level]},
        answers.entropies,
        None if model.familiar_ is None else answers.unfamiliar(),
    )
