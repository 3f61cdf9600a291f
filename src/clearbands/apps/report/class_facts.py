"""What a report on classes tells, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _num_samples

from clearbands.diagnostics.class_metrics import bins_of, evaluate_classes
from clearbands.diagnostics.coverage import Cell, Range, chance_range, make_cell
from clearbands.diagnostics.diagnose import FEWEST_ROWS
from clearbands.prediction.class_uncertainty import ClassUncertainty
from clearbands.rows.typed import TableLike
from clearbands.tables.columns import Column, columns_of

if TYPE_CHECKING:
    from clearbands.classifier import ClearClassifier

N_BINS = 5  # of the sureness, that are shown


@dataclass(frozen=True)
class SurenessBin:
    """Rows whose likeliest class is about as probable."""

    low: float
    high: float
    n: int
    said: float  # the mean probability
    right: Cell  # how often it was the true class


@dataclass(frozen=True)
class ClassFacts:
    """One fitted classifier on rows that it has not seen, at the level of its sets."""

    model: ClearClassifier
    names: list[str]
    y: np.ndarray  # (n,): positions of the classes
    probabilities: np.ndarray  # (n, classes)
    sets: np.ndarray  # (n, classes) booleans
    entropies: ClassUncertainty
    columns: tuple[Column, ...]
    target: str = "the target"
    by: np.ndarray | None = None

    @property
    def level(self) -> float:
        return float(self.model.confidence_level)

    @cached_property
    def scores(self) -> dict[str, float]:
        return evaluate_classes(self.y, self.probabilities, self.sets)

    @cached_property
    def scores_of_shares(self) -> dict[str, float]:
        """Of the shares of the classes among these very rows, said of every row."""
        shares = np.bincount(self.y, minlength=len(self.names)) / len(self.y)
        return evaluate_classes(self.y, np.tile(shares, (len(self.y), 1)))

    @cached_property
    def inside(self) -> np.ndarray:
        """(n,) booleans: whether the true class is in the set."""
        return self.sets[np.arange(len(self.y)), self.y]

    @cached_property
    def likeliest(self) -> np.ndarray:
        return self.probabilities.argmax(axis=1)

    @cached_property
    def coverage(self) -> Cell:
        return make_cell("all", "all rows", self.inside)

    @cached_property
    def chance(self) -> Range:
        """Between which shares the coverage falls by chance alone."""
        return chance_range(len(self.y), self.level, self.model.n_calibration_)

    @property
    def is_short(self) -> bool:
        return self.coverage.coverage < self.chance.low

    @property
    def is_generous(self) -> bool:
        """More than chance: sets take whole classes, and one class may be enough for more rows."""
        return self.coverage.coverage > self.chance.high

    @property
    def epistemic_share(self) -> float:
        return self.entropies.mean_share

    @property
    def leans_epistemic(self) -> np.ndarray:
        """(n,) booleans: a larger share of ignorance than all bits have together."""
        share = self.epistemic_share
        return (self.entropies.epistemic > share * self.entropies.total) | (share == 1)

    def cells(self) -> dict[str, list[Cell]]:
        """Coverage by part of the rows."""
        sizes = self.sets.sum(axis=1)
        found = {
            "All rows": [make_cell("all", "All", self.inside)],
            "True class": self._by(np.array(self.names)[self.y]),
            "Likeliest class": self._by(np.array(self.names)[self.likeliest]),
            "Classes in the set": self._by(sizes),
        }
        if self.by is not None:
            found["Group"] = self._by(self.by.astype(str))
        return {name: cells for name, cells in found.items() if cells}

    def _by(self, labels: np.ndarray) -> list[Cell]:
        return [
            make_cell("part", str(label), self.inside[labels == label])
            for label in np.unique(labels)
        ]

    def sureness(self) -> list[SurenessBin]:
        """Whether what is said to be so probable is so frequent, bin by bin."""
        top = self.probabilities.max(axis=1)
        is_right = self.likeliest == self.y
        number = bins_of(top, N_BINS)
        return [
            SurenessBin(
                k / N_BINS,
                (k + 1) / N_BINS,
                int((number == k).sum()),
                float(top[number == k].mean()),
                make_cell("sureness", "", is_right[number == k]),
            )
            for k in np.unique(number).tolist()
        ]

    def confusion(self) -> np.ndarray:
        """(classes, classes): rows by true and by likeliest class."""
        n = len(self.names)
        return np.bincount(self.y * n + self.likeliest, minlength=n * n).reshape(n, n)


def gather_classes(
    model: ClearClassifier,
    X: TableLike,
    y: ArrayLike,
    *,
    target: str,
    by: ArrayLike | None = None,
) -> ClassFacts:
    """Predict the rows and compare them with their classes."""
    from clearbands.rows.class_labels import check_labels

    labels = check_labels(y, _num_samples(X))
    if len(labels) < FEWEST_ROWS:
        raise ValueError(
            f"A report needs at least {FEWEST_ROWS} rows, got {len(labels)}: give more."
        )
    answers = model.answers(X)
    return ClassFacts(
        model,
        [str(name) for name in model.classes_.tolist()],
        model.positions(labels),
        answers.probabilities,
        answers.sets(model.confidence_level),
        answers.entropies,
        tuple(columns_of(X)),
        target,
        None if by is None else np.asarray(by),
    )
