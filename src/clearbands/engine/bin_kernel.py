"""The bins of values, found by a kernel."""

from __future__ import annotations

import numpy as np

from clearbands.engine.compiled import Whole, kernel_with_memory

ROWS_SIDE_BY_SIDE = 64  # so many that loops over them are not unrolled, but one step for several


@kernel_with_memory
def find_bins(
    X: np.ndarray, cuts: np.ndarray, starts: np.ndarray, first_row: Whole, binned: np.ndarray
) -> None:
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
