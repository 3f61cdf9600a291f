"""A page about a classifier on new rows: whether its sets hold, and why rows are uncertain."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _num_samples

from clearbands.apps.report import Report, render
from clearbands.apps.report.answer import cannot_tell, warning
from clearbands.apps.report.row_lists import MOST_VALUES, rows_to_look_at
from clearbands.apps.report.whiskers import Track
from clearbands.apps.report.widths import layers_of, longest
from clearbands.calibration.guarantee import Guarantee
from clearbands.diagnostics.class_metrics import bins_of, evaluate_classes
from clearbands.diagnostics.coverage import Cell, Range, chance_range, make_cell
from clearbands.diagnostics.diagnose import FEWEST_ROWS
from clearbands.prediction.class_uncertainty import ClassUncertainty
from clearbands.prediction.glossary import ALEATORIC, EPISTEMIC
from clearbands.rows.display import count, level, number, percent
from clearbands.rows.typed import TableLike
from clearbands.tables.columns import Column, columns_of

if TYPE_CHECKING:
    from clearbands.classifier import ClearClassifier

MOST_CLASSES = 20  # with more classes the table of confusions is left out
CONTENTS = {
    "probabilities": "How good the probabilities are",
    "confusion": "Which classes are taken for which",
    "why": "Why rows are uncertain",
    "coverage": "Where sets hold",
    "models": "The models that competed",
    "rows": "Rows to look at",
    "promise": "What is guaranteed and what is not",
    "reproduce": "How to reproduce it",
}
N_BINS = 5  # bins of the highest probability


@dataclass(frozen=True)
class ClassFacts:
    """The facts about one fitted classifier on rows that it has not seen, at one level."""

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
        """The scores of a prediction that gives every row the shares of classes in these rows."""
        shares = np.bincount(self.y, minlength=len(self.names)) / len(self.y)
        return evaluate_classes(self.y, np.tile(shares, (len(self.y), 1)))

    @cached_property
    def inside(self) -> np.ndarray:
        """Whether the true class of each row is in its set, booleans (n,)."""
        return self.sets[np.arange(len(self.y)), self.y]

    @cached_property
    def likeliest(self) -> np.ndarray:
        return self.probabilities.argmax(axis=1)

    @cached_property
    def coverage(self) -> Cell:
        return make_cell("all", "all rows", self.inside)

    @cached_property
    def chance(self) -> Range:
        """The range in which the coverage falls by chance alone."""
        return chance_range(len(self.y), self.level, self.model.n_calibration_)

    @property
    def is_short(self) -> bool:
        return self.coverage.coverage < self.chance.low

    @property
    def is_generous(self) -> bool:
        """Whether coverage exceeds chance; sets take whole classes, so a set may hold too much."""
        return self.coverage.coverage > self.chance.high

    @property
    def epistemic_share(self) -> float:
        return self.entropies.mean_share

    @cached_property
    def bits(self) -> np.ndarray:
        """The aleatoric and the epistemic bits of each row, (n, 2)."""
        return np.column_stack([self.entropies.aleatoric, self.entropies.epistemic])

    def others_in_set(self, row: int) -> str:
        """Return the names of the classes in the set of a row, but for the likeliest."""
        inside = np.flatnonzero(self.sets[row])
        return ", ".join(self.names[k] for k in inside if k != self.likeliest[row]) or "–"

    def cells(self) -> dict[str, list[Cell]]:
        """Return the coverage of parts of the rows."""
        sizes = self.sets.sum(axis=1)
        parts = {
            "All rows": [make_cell("all", "All", self.inside)],
            "True class": self._by(np.array(self.names)[self.y]),
            "Likeliest class": self._by(np.array(self.names)[self.likeliest]),
            "Classes in the set": self._by(sizes),
        }
        if self.by is not None:
            parts["Group"] = self._by(self.by.astype(str))
        return {name: cells for name, cells in parts.items() if cells}

    def _by(self, labels: np.ndarray) -> list[Cell]:
        return [
            make_cell("part", str(label), self.inside[labels == label])
            for label in np.unique(labels)
        ]

    def sureness(self) -> list[tuple[float, float, float, Cell]]:
        """Return how often the likeliest class was the true one, by bins of its probability.

        Each bin has both ends, the mean probability, and a cell with the observed share.
        """
        top = self.probabilities.max(axis=1)
        is_right = self.likeliest == self.y
        number = bins_of(top, N_BINS)
        return [
            (
                k / N_BINS,
                (k + 1) / N_BINS,
                float(top[number == k].mean()),
                make_cell("sureness", "", is_right[number == k]),
            )
            for k in np.unique(number).tolist()
        ]

    def confusion(self) -> np.ndarray:
        """Return the numbers of rows (classes, classes) by true and by likeliest class."""
        n = len(self.names)
        return np.bincount(self.y * n + self.likeliest, minlength=n * n).reshape(n, n)


def make_class_report(
    model: ClearClassifier,
    X: TableLike,
    y: ArrayLike,
    *,
    target: str = "the target",
    by: ArrayLike | None = None,
    origin: Mapping[str, str] | None = None,
    n_seen: int = 0,
) -> Report:
    """Make the page that `ClearClassifier.report` returns.

    `origin` says where model and rows came from, and `n_seen` how many of the rows were in the fit.
    """
    facts = gather_class_facts(model, X, y, target=target, by=by)
    confusion = facts.confusion() if len(facts.names) <= MOST_CLASSES else None
    left_out = {"confusion": confusion is None, "models": not model.leaderboard_}
    seen = warning(n_seen, facts.coverage.n)
    there = {k: name for k, name in enumerate(facts.names) if (facts.y == k).any()}
    parts, share = facts.cells(), facts.coverage.coverage
    layers = layers_of(((name, facts.y == k) for k, name in there.items()), facts.bits)
    most_epistemic, most_aleatoric = rows_to_look_at(facts.bits, facts.epistemic_share)
    return render(
        "classes.html",
        origin,
        facts=facts,
        title=f"Classes of {facts.target}",
        over=f"{level(facts.level)} sets of classes for {facts.target} · {count(len(facts.y))} · "
        f"{dt.date.today().isoformat()}",
        contents={k: v for k, v in CONTENTS.items() if not left_out.get(k, False)},
        warning=seen,
        verdict=cannot_tell("sets") if seen else _verdict(facts),
        lead=" ".join(_answer(facts)),
        promised=facts.level,
        chance=facts.chance,
        axis=Track.around(list(chain(*parts.values())), facts.level),
        tile_axis=Track.around([], share, facts.level, facts.chance.low),
        confusion=confusion,
        sureness=facts.sureness(),
        layers=layers,
        longest=longest(layers),
        coverage={name: [(cell.label, cell) for cell in cells] for name, cells in parts.items()},
        columns=facts.columns[:MOST_VALUES],
        most_epistemic=most_epistemic,
        most_aleatoric=most_aleatoric,
        guarantee=Guarantee.in_text(model.guarantee_).name,
        chosen="c1 and c2",
        script=False,
    )


def gather_class_facts(
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


def _verdict(facts: ClassFacts) -> str:
    if facts.is_short:
        return "The sets promise more than they hold on these rows."
    if facts.is_generous:
        return "The sets hold more often than they promise on these rows."
    return "The sets keep their promise on these rows."


def _answer(facts: ClassFacts) -> list[str]:
    cell, scores = facts.coverage, facts.scores
    sentences = [
        f"{cell.n_covered:,} of {cell.n:,} true classes are in their {level(facts.level)} sets, "
        f"which hold {number(scores['set_size'])} of {len(facts.names)} classes on average.",
        f"The likeliest class is right in {percent(scores['accuracy'], 1)} of the rows.",
    ]
    if facts.is_short:
        sentences.append("Calibrate the model again on rows like these before you rely on them.")
    if facts.is_generous and scores["set_size"] == 1:
        sentences.append("No set can be smaller than one class.")
    return [*sentences, _what_dominates(facts)]


def _what_dominates(facts: ClassFacts) -> str:
    share = facts.epistemic_share
    if not facts.entropies.total.any():
        return "Every row is said to be certain."
    if share > 0.5:
        return (
            f"{percent(share)} of the uncertainty is {EPISTEMIC.plain} of the model: "
            f"{EPISTEMIC.remedy}, above all like those listed below, would help most."
        )
    return (
        f"{percent(1 - share)} of the uncertainty is {ALEATORIC.plain}: more rows alone would not "
        f"make the classes much surer, {ALEATORIC.remedy} might."
    )
