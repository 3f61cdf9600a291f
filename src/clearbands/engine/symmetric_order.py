"""Leaf values that rise or fall with the columns that must make predictions do so.

The leaf of a row is a number whose bits are answers. Where predictions must rise with a column,
answering one of its questions with yes may not lower the value, whatever the other answers are. So
the values are projected onto values in that order: pairs of leaves are pooled, question by
question, and each pair gets back what pooling took from it before it is pooled again (Dykstra's
algorithm). This approaches the nearest values by weighted squares; a last pass makes the order
exact.
"""

from __future__ import annotations

import numpy as np

from clearbands.engine.compiled import Whole, called_with_memory

MOST_SWEEPS = 30
SETTLED = 1e-4  # share of the range of the values; smaller changes end the sweeps
NO_ROWS = 1e-6  # the weight of a leaf without rows, which follows the others


@called_with_memory
def keep_order(
    direction: np.ndarray | None,
    feature: np.ndarray,
    total: np.ndarray,
    bits: Whole,
    value: np.ndarray,
) -> None:
    """Order `value` (leaves,) of a tree whose questions are about `feature` (depth,)."""
    if direction is None:
        return
    n_ordered = 0
    for level in range(len(feature)):
        n_ordered += direction[feature[level]] != 0
    if n_ordered == 0:
        return
    pooled = np.empty(len(value))
    for leaf in range(len(value)):
        pooled[leaf] = value[leaf]
    _pool(direction, feature, total, bits, n_ordered, pooled)
    for leaf in range(len(value)):
        value[leaf] = pooled[leaf]
    for level in range(len(feature)):
        way, bit = direction[feature[level]], np.int64(1) << level
        for leaf in range(len(value) if way != 0 else 0):
            if leaf & bit == 0:
                larger, smaller = (leaf | bit, leaf) if way > 0 else (leaf, leaf | bit)
                value[larger] = max(value[larger], value[smaller])


@called_with_memory
def _pool(
    direction: np.ndarray,
    feature: np.ndarray,
    total: np.ndarray,
    bits: Whole,
    n_ordered: Whole,
    value: np.ndarray,
) -> None:
    low_bits = (np.int64(1) << bits) - 1
    taken = np.zeros((len(feature), len(value)))
    settled = SETTLED * (value.max() - value.min())
    for _ in range(MOST_SWEEPS if n_ordered > 1 else 1):
        largest = 0.0
        for level in range(len(feature)):
            way, bit = direction[feature[level]], np.int64(1) << level
            if way == 0:
                continue
            for one in range(len(value)):
                if one & bit != 0:
                    continue
                other = one | bit
                before, after = value[one] + taken[level, one], value[other] + taken[level, other]
                new, new_other = before, after
                if (after - before) * way < 0:
                    v = (total[one] & low_bits) + NO_ROWS
                    w = (total[other] & low_bits) + NO_ROWS
                    new = new_other = (v * before + w * after) / (v + w)
                change = max(abs(new - value[one]), abs(new_other - value[other]))
                largest = max(largest, change)
                taken[level, one], taken[level, other] = before - new, after - new_other
                value[one], value[other] = new, new_other
        if largest <= settled:
            return
