"""Predictions of classes as a table: one row per prediction, in the order of the input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.prediction.class_uncertainty import ClassUncertainty
from clearbands.prediction.questions import name_of
from clearbands.rows.typed import TableLike

if TYPE_CHECKING:
    import polars as pl

    from clearbands.classifier import ClearClassifier

BETWEEN = " | "  # the classes of a set


@dataclass(frozen=True)
class ClassPredictions:
    """What a classifier says of n rows."""

    classes: list[str]
    probabilities: np.ndarray  # (n, classes)
    sets: dict[float, np.ndarray]  # (n, classes) of booleans for each level
    entropies: ClassUncertainty
    unfamiliar: np.ndarray | None = None  # (n,) booleans, if asked for

    @property
    def likeliest(self) -> list[str]:
        return [self.classes[i] for i in self.probabilities.argmax(axis=1)]

    def members(self, level: float) -> list[list[str]]:
        """The classes in each row's set, the most probable first."""
        order = np.argsort(-self.probabilities, axis=1, kind="stable")
        return [
            [self.classes[i] for i in ranked if own[i]]
            for ranked, own in zip(order, self.sets[level], strict=True)
        ]

    def without_familiarity(self) -> ClassPredictions:
        """The same for somebody who did not ask."""
        return replace(self, unfamiliar=None)

    def columns(self) -> dict[str, Any]:
        """Class, sets at every level, a probability per class, entropies in bits."""
        several = len(self.sets) > 1
        sets = {
            f"set_{name_of(level)}" if several else "set": list(
                map(BETWEEN.join, self.members(level))
            )
            for level in self.sets
        }
        share = np.divide(
            self.entropies.epistemic,
            self.entropies.total,
            out=np.zeros(len(self.entropies)),
            where=self.entropies.total > 0,
        )
        return {
            "class": self.likeliest,
            **sets,
            **{f"p_{name}": self.probabilities[:, j] for j, name in enumerate(self.classes)},
            "aleatoric": self.entropies.aleatoric,
            "epistemic": self.entropies.epistemic,
            "epistemic_share": share,
            **({} if self.unfamiliar is None else {"unfamiliar": self.unfamiliar}),
        }

    def table(self) -> pl.DataFrame:
        """These columns as a table."""
        import polars as pl

        return pl.DataFrame(self.columns())


def predict_classes(
    model: ClearClassifier, X: TableLike, levels: Sequence[float] = (), *, unfamiliar: bool = False
) -> ClassPredictions:
    """What the model says of X; the level of the sets is by default that of the fit."""
    answers = model.answers(X)
    return ClassPredictions(
        [str(name) for name in model.classes_.tolist()],
        answers.probabilities,
        {float(at): answers.sets(float(at)) for at in levels or [model.confidence_level]},
        answers.entropies,
        answers.unfamiliar() if unfamiliar else None,
    )
