"""The choice of the columns, out of very many, that the trees of a member look at.

A tree tries every column at every node, so its cost grows with their number, while a training set
of so many columns rarely has the rows to tell more than a few of them from noise. If there are more
columns than `n_kept`, every member therefore first looks at each column by itself, on its own
bootstrap, and grows its trees on the most promising ones. Members may choose differently: what the
data leave open shows as epistemic uncertainty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clearbands.engine.compiled import kernel
from clearbands.engine.grains import EVEN, Grains

FEWEST_KEPT, MOST_KEPT = 128, 512
ROWS_PER_KEPT = 8  # training rows per kept column: more rows tell more columns apart
GROUPS = 8  # groups of rows, between which y should differ
WEIGHT, LEVEL, SPREAD = range(3)


def n_kept(n_rows: float) -> int:
    """Return how many columns are enough for the trees of so many rows."""
    return int(np.clip(n_rows // ROWS_PER_KEPT, FEWEST_KEPT, MOST_KEPT))


@dataclass(frozen=True)
class Screen:
    """The columns in groups, to see whether the level or the spread of y differs between them."""

    binned: np.ndarray  # (n, d) small integers, as given
    group_of: np.ndarray  # (d, bins) uint8: one of eight groups with about equally many rows
    grains: Grains = EVEN

    @classmethod
    def from_bins(cls, binned: np.ndarray, grains: Grains = EVEN) -> Screen | None:
        """Return None where trees can look at all columns of `binned`, (n, d) small integers."""
        if binned.shape[1] <= n_kept(_count(binned, grains)):
            return None
        n_bins = int(binned.max()) + 1
        group_of = np.empty((binned.shape[1], n_bins), np.uint8)
        for j in range(binned.shape[1]):
            sizes = np.bincount(binned[:, j], grains.of_rows, minlength=n_bins)
            group_of[j] = _equal_shares(sizes)
        return cls(binned, group_of, grains)

    def columns(self, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the most promising columns, rising, for rows that weigh `counts` grains each."""
        scores, weights = _scores(y, self.grains.of_rows), counts.astype(np.int64)
        sums = np.zeros((self.binned.shape[1], GROUPS, 3), np.int64)
        _add_rows(self.binned, self.group_of, scores, weights, sums)
        variances = np.cov(scores, rowvar=False, fweights=weights).diagonal()
        promise = _promise(sums.astype(float), np.maximum(variances, 1.0))
        n_columns = n_kept(_count(self.binned, self.grains))
        return np.sort(np.argsort(-promise, kind="stable")[:n_columns])


def _count(binned: np.ndarray, grains: Grains) -> int:
    """Return how many rows there are, as their weights count them."""
    of_rows = grains.of_rows
    return len(binned) if of_rows is None else int(of_rows.sum() / grains.per_one)


def _scores(y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Return twice the rank of y and its distance from the middle rank, whole numbers (n, 2)."""
    order = np.argsort(y, kind="stable")
    rising = y[order]
    up_to = np.arange(len(y) + 1) if weight is None else np.append(0, np.cumsum(weight[order]))
    below, at_most = (up_to[np.searchsorted(rising, y, side)] for side in ("left", "right"))
    rank = below + at_most
    return np.stack([rank, np.abs(rank - up_to[-1])], axis=1).astype(np.int64)


def _equal_shares(sizes: np.ndarray) -> np.ndarray:
    """Return the group of every bin, by where the middle of its rows lies among all rows."""
    middles = np.cumsum(sizes) - sizes / 2
    return np.minimum(middles * GROUPS // sizes.sum(), GROUPS - 1).astype(np.uint8)


@kernel
def _add_rows(
    binned: np.ndarray,
    group_of: np.ndarray,
    scores: np.ndarray,
    counts: np.ndarray,
    sums: np.ndarray,
) -> None:
    for row in range(len(counts)):
        weight = counts[row]
        if weight > 0:
            level, spread = weight * scores[row, 0], weight * scores[row, 1]
            for column in range(binned.shape[1]):
                place = sums[column, group_of[column, binned[row, column]]]
                place[WEIGHT] += weight
                place[LEVEL] += level
                place[SPREAD] += spread


def _promise(sums: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """Return by how many standard deviations the groups of each column differ more than by chance.

    The difference is a sum of squares between groups, once for the level and once for the spread
    of y, each with one degree of freedom less than there are groups.
    """
    weight = sums[:, :, WEIGHT]
    total = sums[0].sum(axis=0)
    freedom = np.maximum(np.count_nonzero(weight, axis=1) - 1, 1)
    between = np.zeros(len(sums))
    for what, variance in zip((LEVEL, SPREAD), variances, strict=True):
        means = sums[:, :, what] / np.maximum(weight, 1)
        squares = np.sum(weight * (means - total[what] / total[WEIGHT]) ** 2, axis=1)
        between += squares / variance
    return (between - 2 * freedom) / np.sqrt(4 * freedom)
