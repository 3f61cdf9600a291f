"""Boosting for classes with symmetric trees, refitted on many parts of one training set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clearbands.engine.binning import Bins
from clearbands.engine.grains import EVEN, Grains
from clearbands.engine.screening import Screen
from clearbands.engine.symmetric import (
    SymmetricBag,
    check_counts,
    empty_trees,
)
from clearbands.engine.symmetric_columns import FINE_BINS, Columns
from clearbands.engine.symmetric_histograms import Histograms
from clearbands.engine.symmetric_logistic import ClassRows, fit_class_member
from clearbands.engine.symmetric_tree import Rule
from clearbands.engine.threads import run_threads


@dataclass(frozen=True)
class SymmetricClassBag:
    """Members that give logits: one row of trees each for two classes, else one row per class."""

    trees: SymmetricBag  # (members x scores) rows of trees, member by member
    n_classes: int

    def __len__(self) -> int:
        return len(self.trees) // self.n_scores

    @property
    def n_scores(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def n_features(self) -> int:
        return len(self.trees.bins.starts) - 1

    def predict_logits(self, X: np.ndarray, *, n_jobs: int | None = None) -> np.ndarray:
        """Return logits (n, members, classes), whose sum over classes is 0."""
        scores = self.trees.predict_members(X, n_jobs=n_jobs)
        scores = scores.reshape(len(X), len(self), self.n_scores)
        if self.n_classes == 2:
            return np.concatenate([-scores, scores], axis=2) / 2
        return scores - scores.mean(axis=2, keepdims=True)

    def first(self, n_trees: int) -> SymmetricClassBag:
        """Return the members after `n_trees` rounds, a multiple of 4, as views without copies."""
        return SymmetricClassBag(self.trees.first(n_trees), self.n_classes)

    def member(self, number: int) -> SymmetricClassBag:
        """Return one member alone, as views without copies."""
        own = slice(number * self.n_scores, (number + 1) * self.n_scores)
        return SymmetricClassBag(self.trees.members(own), self.n_classes)


def fit_symmetric_class_bag(
    X: np.ndarray,
    label: np.ndarray,
    n_classes: int,
    counts: np.ndarray,
    grains: Grains = EVEN,
    *,
    n_trees: int,
    max_depth: int,
    learning_rates: np.ndarray,
    l2: float,
    max_bins: int,
    seeds: np.ndarray,
    n_jobs: int | None,
    stage: str,
) -> SymmetricClassBag:
    """Boost on every part of the rows, a row of `counts` (b, n) of any integer type.

    `label` (n,) are whole numbers from 0. All else is as in `GrowingBag.start`.
    """
    check_counts(counts, grains)
    bins = Bins.from_data(X, FINE_BINS, grains.of_rows)
    fine = bins.columns(X)
    screen = Screen.from_bins(fine.T, grains)
    l2 = float(l2) * grains.per_one
    n_members, n_scores = len(counts), 1 if n_classes == 2 else n_classes
    init = np.empty((n_members, n_scores))
    feature, threshold, value = empty_trees((n_members, n_scores), n_trees, max_depth)

    def fit_one(member: int, stop: np.ndarray) -> None:
        own_counts = grains.times(counts[member])
        drawn = np.flatnonzero(own_counts)
        count = own_counts[drawn].astype(np.int64)
        own = label[drawn].astype(np.int64)
        init[member] = _start(own, count, n_classes, grains.per_one)
        seen = None if screen is None else _promising(screen, label, n_classes, own_counts)
        columns = Columns.draw(
            fine if seen is None else fine[seen], drawn, count, max_bins, int(seeds[member])
        )
        fit_class_member(
            columns,
            Rule(n_trees, max_depth, float(learning_rates[member]), l2, False),
            ClassRows.of(own, count, n_scores),
            Histograms.allocate(columns, max_depth),
            stop,
            init[member],
            feature[member],
            threshold[member],
            value[member],
        )
        if seen is not None:
            feature[member] = seen[feature[member]]

    run_threads(fit_one, n_members, n_jobs=n_jobs, stage=stage)
    trees = SymmetricBag(
        bins,
        np.ones(n_members * n_scores),
        init.ravel(),
        *(part.reshape(-1, *part.shape[2:]) for part in (feature, threshold, value)),
    )
    return SymmetricClassBag(trees, n_classes)


def _start(label: np.ndarray, count: np.ndarray, n_classes: int, per_one: float) -> np.ndarray:
    """Return the logits of the shares of the classes, as if each class had half a row more."""
    rows = np.zeros(n_classes, np.int64)
    np.add.at(rows, label, count)
    logits = np.log(rows / per_one + 0.5)
    return logits[1:] - logits[:1] if n_classes == 2 else logits - logits.mean()


def _promising(screen: Screen, label: np.ndarray, n_classes: int, counts: np.ndarray) -> np.ndarray:
    """Return the columns that tell any one class from the others."""
    hits = range(1, 2) if n_classes == 2 else range(n_classes)
    promising = [screen.columns((label == hit).astype(float), counts) for hit in hits]
    return np.unique(np.concatenate(promising))
