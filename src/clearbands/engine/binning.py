"""Bins turn columns of numbers into columns of small integers, once per training set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clearbands.engine.stored import Stored, check_array, check_starts

MAX_BINS = 256
MAX_COLUMNS = 2**16 - 1  # a tree names its column in two bytes
ROWS_PER_PART = 2**13  # rows that are copied at once where a copy is needed


@dataclass(frozen=True)
class Bins(Stored):
    """The cut points of all columns, end to end in one array.

    The bin of a value is the number of cuts of its column that lie strictly below it, so a split
    after bin k sends to the left exactly the values that are at most the k-th cut.
    """

    cuts: np.ndarray  # (number of cuts in all columns,)
    starts: np.ndarray  # (d + 1,): the cuts of column j are cuts[starts[j] : starts[j + 1]]

    @classmethod
    def from_data(
        cls,
        X: np.ndarray,
        max_bins: int = MAX_BINS,
        weight: np.ndarray | None = None,
        most_columns: int = MAX_COLUMNS,
    ) -> Bins:
        """Return at most `max_bins` bins per column, which hold about equally many rows each.

        A row counts `weight` (n,) times, a whole number.
        """
        if X.shape[1] > most_columns:
            raise ValueError(f"X must have at most {most_columns} columns, got {X.shape[1]}.")
        cuts = [_column_cuts(column, max_bins, weight) for column in X.T]
        return cls(np.concatenate(cuts), np.cumsum([0, *map(len, cuts)]))

    def check(self) -> None:
        check_array(self.cuts, "cuts", np.float64, (None,))
        check_starts(self.starts, "starts of cuts", len(self.cuts))

    def check_width(self, X: np.ndarray) -> None:
        """Raise unless X has as many columns as the bins."""
        if X.shape[1] != self.n_columns:
            raise ValueError(
                f"X has {X.shape[1]} columns where trees were grown on {self.n_columns}."
            )

    @property
    def n_columns(self) -> int:
        return len(self.starts) - 1

    @property
    def offsets(self) -> np.ndarray:
        """The first bin of each column (d + 1,): column j has offsets[j] .. offsets[j + 1] - 1."""
        return self.starts + np.arange(len(self.starts))

    def columns(self, X: np.ndarray) -> np.ndarray:
        """Return the bins (d, n) int16 of floats X (n, d), whose width the caller has checked."""
        # Imported here, because this file is also imported where nothing is compiled yet.
        from clearbands.engine.bin_kernel import find_bins
        from clearbands.engine.compiled import whole_and_read_only

        binned = np.empty((X.shape[1], len(X)), np.int16)
        cuts, starts = whole_and_read_only(self.cuts), whole_and_read_only(self.starts)
        for first in range(0, len(X), ROWS_PER_PART):
            part = whole_and_read_only(X[first : first + ROWS_PER_PART])
            find_bins(part, cuts, starts, first, binned)
        return binned

    def apply(self, X: np.ndarray, dtype: type = np.uint8) -> np.ndarray:
        """Return the bins (n, d) of floats X (n, d), in an integer type that has room for them."""
        self.check_width(X)
        binned: np.ndarray = np.empty(X.shape, dtype)
        for first in range(0, len(X), ROWS_PER_PART):
            part = slice(first, first + ROWS_PER_PART)
            binned[part] = self.columns(X[part]).T
        return binned


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
    ends = ends[ends < len(middles)]  # which rise
    return middles[ends[np.diff(ends, prepend=-1) > 0]]


def _distinct(column: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values, rising, and how often each occurs."""
    if weight is None:
        return np.unique(column, return_counts=True)
    values, places = np.unique(column[weight > 0], return_inverse=True)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, places, weight[weight > 0])
    return values, counts
