"""Who sees which rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing


@dataclass(frozen=True)
class Rows:
    """Some rows of a table and their targets."""

    X: Any  # a table, or once it is encoded an array
    y: np.ndarray
    groups: np.ndarray | None = None  # labels of rows that no fold may part
    calibration_groups: np.ndarray | None = None  # labels; in each of them the level shall hold
    calibration_weight: np.ndarray | None = None  # how many times more often among new rows
    sample_weight: np.ndarray | None = None  # how many rows each counts as

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: np.ndarray) -> Rows:
        labels = (self.groups, self.calibration_groups, self.calibration_weight, self.sample_weight)
        taken = (None if label is None else label[index] for label in labels)
        return Rows(_safe_indexing(self.X, index), self.y[index], *taken)

    def without_weightless(self) -> Rows:
        """Rows of weight 0 are as if they were not there."""
        if self.sample_weight is None or np.all(self.sample_weight > 0):
            return self
        return self.take(np.flatnonzero(self.sample_weight))

    def with_labels(
        self, calibration_groups: np.ndarray | None, calibration_weight: np.ndarray | None
    ) -> Rows:
        return replace(
            self, calibration_groups=calibration_groups, calibration_weight=calibration_weight
        )


def hold_out(rows: Rows, share: float, rng: np.random.RandomState) -> tuple[Rows, Rows]:
    """The rows that stay and a random `share` of them, rounded up, that is held out.

    Rows of one label in `groups` are on one side.
    """
    n_held_out = ceil(share * len(rows))
    if len(rows) - n_held_out < 1 or n_held_out < 1:
        raise ValueError(
            f"Rows cannot be held out of n_samples={len(rows)}: "
            "both sides need at least 1 row. Give more rows."
        )
    if rows.groups is None:
        order = rng.permutation(len(rows))
        return rows.take(order[n_held_out:]), rows.take(order[:n_held_out])
    _, label, sizes = np.unique(rows.groups, return_inverse=True, return_counts=True)
    if len(sizes) < 2:
        raise ValueError(
            "All rows have one label in groups, so none can be held out from the others."
        )
    order = rng.permutation(len(sizes))
    before = np.cumsum(sizes[order]) - sizes[order]
    before[-1] = len(rows)  # the last label stays
    is_held_out = np.isin(label, order[before < n_held_out])
    return rows.take(np.flatnonzero(~is_held_out)), rows.take(np.flatnonzero(is_held_out))
