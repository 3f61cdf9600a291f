"""The columns of boosting, binned twice.

Fine bins, of two bytes each, are made once, and trees use them at prediction. From them every
member makes at most 256 coarse bins, of one byte each, with equal shares of its own bootstrap. If
all members had the same cuts, their rounding errors would be the same, too, and would not average
out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearbands.engine.binning import Bins
from clearbands.engine.compiled import ZERO, Whole, inlined, kernel


class FineColumns(NamedTuple):
    """The training set in fine bins."""

    binned: np.ndarray  # (n, d) uint16
    offsets: np.ndarray  # (d + 1,) int64: where the bins of a column start when all lie end to end

    @classmethod
    def from_bins(cls, bins: Bins, X: np.ndarray) -> FineColumns:
        return cls(bins.apply(X, np.uint16), bins.offsets.astype(np.int64))

    def take(self, columns: np.ndarray) -> FineColumns:
        sizes = np.diff(self.offsets)[columns]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        return FineColumns(np.ascontiguousarray(self.binned[:, columns]), offsets)

    def coarsen(self, counts: np.ndarray, max_bins: int) -> BoostingColumns:
        """Return at most `max_bins` bins per column, which hold about equally many draws each."""
        n_columns = self.binned.shape[1]
        binned = np.empty(self.binned.shape, np.uint8)
        offsets = np.zeros(n_columns + 1, np.uint64)
        last_fine = np.empty((n_columns, max_bins), np.uint16)
        draws = np.zeros(self.offsets[-1], np.int64)
        coarse_of = np.empty(self.offsets[-1], np.uint8)
        _coarsen(self, counts, draws, coarse_of, binned, offsets, last_fine)
        return BoostingColumns(binned, offsets, last_fine)


class BoostingColumns(NamedTuple):
    """The columns of the training set as one member sees them."""

    binned: np.ndarray  # (n, d) uint8; undefined for rows that were not drawn
    # Unsigned numbers spare the kernels the check for an index that counts from the end.
    offsets: np.ndarray  # (d + 1,) uint64: where the bins of a column start in a histogram
    last_fine: np.ndarray  # (d, max_bins) uint16: the last fine bin in a bin


@kernel
def _coarsen(
    fine: FineColumns,
    counts: np.ndarray,
    draws: np.ndarray,
    coarse_of: np.ndarray,
    binned: np.ndarray,
    offsets: np.ndarray,
    last_fine: np.ndarray,
) -> None:
    for row in range(len(counts)):
        if counts[row] > 0:
            for column in range(binned.shape[1]):
                draws[fine.offsets[column] + np.int64(fine.binned[row, column])] += counts[row]
    for column in range(binned.shape[1]):
        start, stop = fine.offsets[column], fine.offsets[column + 1]
        n_bins = _share_out(draws[start:stop], coarse_of[start:stop], last_fine[column])
        offsets[column + 1] = offsets[column] + np.uint64(n_bins)
    for row in range(len(counts)):
        if counts[row] > 0:
            for column in range(binned.shape[1]):
                place = fine.offsets[column] + np.int64(fine.binned[row, column])
                binned[row, column] = coarse_of[place]


@inlined
def _share_out(draws: np.ndarray, coarse_of: np.ndarray, last_fine: np.ndarray) -> Whole:
    """Assign every fine bin of a column to a coarse bin and return the number of coarse bins.

    A coarse bin ends with the fine bin that completes its share of the draws or, where few fine
    bins were drawn, with each of these. Two neighbours share the fine bins without draws between
    them half and half.
    """
    max_bins = len(last_fine)
    total, n_drawn = 0, 0
    for here in range(len(draws)):
        total += draws[here]
        n_drawn += draws[here] > 0
    n_bins, so_far, last_drawn, start = ZERO, ZERO, ZERO, ZERO
    full = False
    for here in range(len(draws)):
        if draws[here] == 0:
            continue
        if full:
            stop = (last_drawn + here - 1) // 2 + 1
            _close_bin(start, stop, n_bins, coarse_of, last_fine)
            start = stop
            n_bins += 1
        last_drawn = here
        shares = so_far * max_bins // total
        so_far += draws[here]
        full = n_drawn <= max_bins or so_far * max_bins // total > shares
    _close_bin(start, len(draws), n_bins, coarse_of, last_fine)
    return n_bins + 1


@inlined
def _close_bin(
    start: Whole, stop: Whole, number: Whole, coarse_of: np.ndarray, last_fine: np.ndarray
) -> None:
    last_fine[number] = stop - 1
    for here in range(start, stop):
        coarse_of[here] = number
