"""A kernel that finds the bins of values."""

from __future__ import annotations

import numpy as np

from clearbands.engine.compiled import Whole, kernel_with_memory

ROWS_SIDE_BY_SIDE = 64  # enough for the compiler to vectorise loops over them, not unroll them


@kernel_with_memory
def find_bins(
    X: np.ndarray, cuts: np.ndarray, starts: np.ndarray, first_row: Whole, binned: np.ndarray
) -> None:
    """Fill `binned` with the number of cuts below each value, found by halving.

    Halving takes equally many steps for every row of a column, so many rows go through it together.
    It has no branches, because a processor could not predict them.
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
                # A loop of its own: inside the other one most processors would get a branch.
                for i in range(width):
                    below[i] += half * np.uint64(is_above[i])
                size -= half
            for i in range(width):
                binned[column, first_row + start + i] = np.int16(below[i] - first)
