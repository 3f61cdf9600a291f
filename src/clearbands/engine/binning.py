"""Columns of numbers to columns of small integers, once per training set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clearbands.engine.compiled import kernel, whole_and_read_only
from clearbands.engine.stored import Stored, check_array, check_starts

MAX_BINS = 256
ROWS_PER_PART = 2**13  # that are copied at once where they have to be
ROWS_SIDE_BY_SIDE = 64  # so many that loops over them are not unrolled, but one step for several


@dataclass(frozen=True)
class Bins(Stored):
    """Cut points of every column, end to end in one array.

    The bin of a value is the number of cuts of its column that lie strictly below it, so a split
    after bin k sends to the left exactly the values that are at most the k-th cut.
    """

    cuts: np.ndarray  # (number of cuts in all columns,)
    starts: np.ndarray  # (d + 1,): the cuts of column j are cuts[starts[j] : starts[j + 1]]

    @classmethod
    def from_data(
        cls, X: np.ndarray, max_bins: int = MAX_BINS, weight: np.ndarray | None = None
    ) -> Bins:
        """At most `max_bins` bins per column, holding about equally many rows each.

        A row counts as many times as its whole `weight` (n,) says.
        """
        cuts = [_column_cuts(column, max_bins, weight) for column in X.T]
        return cls(np.concatenate(cuts), np.cumsum([0, *map(len, cuts)]))

    def check(self) -> None:
        check_array(self.cuts, "cuts", np.float64, (None,))
        check_starts(self.starts, "starts of cuts", len(self.cuts))

    def check_width(self, X: np.ndarray) -> None:
        """Raise unless X has a column for all cuts."""
        if X.shape[1] != self.n_columns:
            raise ValueError(
                f"X has {X.shape[1]} columns where trees were grown on {self.n_columns}."
            )

    @property
    def n_columns(self) -> int:
        return len(self.starts) - 1

    @property
    def offsets(self) -> np.ndarray:
        """(d + 1,): the bins of column j have the numbers offsets[j] .. offsets[j + 1] - 1."""
        return self.starts + np.arange(len(self.starts))

    def columns(self, X: np.ndarray) -> np.ndarray:
        """(n, d) floats to (d, n) int16."""
        self.check_width(X)
        binned = np.empty((X.shape[1], len(X)), np.int16)
        cuts, starts = whole_and_read_only(self.cuts), whole_and_read_only(self.starts)
        for first in range(0, len(X), ROWS_PER_PART):
            part = whole_and_read_only(X[first : first + ROWS_PER_PART])
            _find_bins(part, cuts, starts, first, binned)
        return binned

    def apply(self, X: np.ndarray, dtype: type = np.uint8) -> np.ndarray:
        """(n, d) floats to (n, d) small integers, of a type that has room for them."""
        self.check_width(X)
        binned: np.ndarray = np.empty(X.shape, dtype)
        for first in range(0, len(X), ROWS_PER_PART):
            part = slice(first, first + ROWS_PER_PART)
            binned[part] = self.columns(X[part]).T
        return binned


@kernel
def _find_bins(X, cuts, starts, first_row, binned):
    """The number of cuts below each value, by halving; no jumps, as they could not be foreseen.

    Halving takes as many steps for every row of a column, so that many rows go through it together.
    """
    one = np.uint64(1)
    value = np.empty(ROWS_SIDE_BY_SIDE)
    below = np.empty(ROWS_SIDE_BY_SIDE, np.uint64)
    is_above = np.empty(ROWS_SIDE_BY_SIDE, np.uint8)
    for column in range(X.shape[1]):
        first, n_cuts = np.uint64(starts[column]), np.uint64(starts[column + 1] - starts[column])
        for start in range(0, len(X), ROWS_SIDE_BY_SIDE):
            width = min(ROWS_SIDE_BY_SIDE, len(X) - start)
            for i in range(width):
                value[i] = X[start + i, column]
                below[i] = first
            size = n_cuts
            while size > 0:
                half = (size + one) >> one
                for i in range(width):
                    is_above[i] = cuts[below[i] + half - one] < value[i]
                # In a loop of its own: within the other most processors would get a jump.
                for i in range(width):
                    below[i] += half * np.uint64(is_above[i])
                size -= half
            for i in range(width):
                binned[column, first_row + start + i] = np.int16(below[i] - first)


def _column_cuts(column: np.ndarray, max_bins: int, weight: np.ndarray | None) -> np.ndarray:
    values, counts = _distinct(column, weight)
    middles = values[:-1] / 2 + values[1:] / 2
    # Between two neighbouring floats there is no middle: cut at the lower one.
    middles = np.where((middles >= values[:-1]) & (middles < values[1:]), middles, values[:-1])
    if len(values) <= max_bins:
        return middles
    # Cut after the value in which each of max_bins equal shares of the rows ends.
    shares = np.arange(1, max_bins) * (counts.sum() / max_bins)
    ends = np.searchsorted(np.cumsum(counts), shares, side="left")
    return middles[np.unique(ends[ends < len(middles)])]


def _distinct(column: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The values, rising, and how often each occurs."""
    if weight is None:
        return np.unique(column, return_counts=True)
    values, places = np.unique(column[weight > 0], return_inverse=True)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, places, weight[weight > 0])
    return values, counts
