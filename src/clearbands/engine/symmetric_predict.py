"""Predictions of symmetric trees: for many rows side by side, or by four trees for one row."""

from __future__ import annotations

import numpy as np

from clearbands.engine.compiled import Whole, called, called_with_memory, inlined, kernel

ROWS_PER_BLOCK = 512
ROWS_SIDE_BY_SIDE = 16  # rows that one instruction compares on most machines
TREES_AT_ONCE = 4


@kernel
def predict_rows(
    fine: np.ndarray,
    init: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    value: np.ndarray,
    stop: np.ndarray,
    members: np.ndarray,
) -> None:
    """Fill `members` (n, b) from the fine bins (d, n). One row alone gets the same bits."""
    if fine.shape[1] == 1:
        _predict_one(fine[:, 0], init, feature, threshold, value, members[0])
    else:
        _predict_many(fine, init, feature, threshold, value, stop, members)


@called_with_memory
def _predict_many(
    fine: np.ndarray,
    init: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    value: np.ndarray,
    stop: np.ndarray,
    members: np.ndarray,
) -> None:
    """Predict block by block, so that the columns of a block stay in the cache.

    One instruction finds the answers of many rows to a question. Looking up the leaves takes most
    of the time; with four trees at once, sums are loaded and stored a quarter as often.
    """
    n_columns, n_rows = fine.shape
    block = np.zeros((n_columns, ROWS_PER_BLOCK), np.int16)
    leaf = np.empty((TREES_AT_ONCE, ROWS_PER_BLOCK), np.int16)
    total = np.empty(ROWS_PER_BLOCK, np.float32)
    for start in range(0, n_rows, ROWS_PER_BLOCK):
        size = min(ROWS_PER_BLOCK, n_rows - start)
        # Places beyond the last row get answers, too, which are never read.
        width = (size + ROWS_SIDE_BY_SIDE - 1) // ROWS_SIDE_BY_SIDE * ROWS_SIDE_BY_SIDE
        for column in range(n_columns):
            for i in range(size):
                block[column, i] = fine[column, start + i]
        for member in range(len(init)):
            if stop[0] != 0:
                return
            for i in range(width):
                total[i] = 0
            for first in range(0, feature.shape[1], TREES_AT_ONCE):
                for k in range(TREES_AT_ONCE):
                    _find_leaves(
                        block, feature[member], threshold[member], first + k, leaf[k], width
                    )
                _add_four(value[member], first, leaf, total, width)
            for i in range(size):
                members[start + i, member] = init[member] + total[i]


@called
def _find_leaves(
    block: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    tree: Whole,
    leaf: np.ndarray,
    width: Whole,
) -> None:
    column, last = block[feature[tree, 0]], threshold[tree, 0]
    for i in range(width):
        leaf[i] = np.int16(column[i] > last)
    for level in range(1, feature.shape[1]):
        column, last = block[feature[tree, level]], threshold[tree, level]
        bit = np.int16(1 << level)
        for i in range(width):
            leaf[i] |= bit if column[i] > last else np.int16(0)


@called
def _add_four(
    value: np.ndarray, tree: Whole, leaf: np.ndarray, total: np.ndarray, width: Whole
) -> None:
    for i in range(width):
        first = value[tree, np.uint16(leaf[0, i])] + value[tree + 1, np.uint16(leaf[1, i])]
        second = value[tree + 2, np.uint16(leaf[2, i])] + value[tree + 3, np.uint16(leaf[3, i])]
        total[i] += first + second


@inlined
def _predict_one(
    row: np.ndarray,
    init: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    value: np.ndarray,
    members: np.ndarray,
) -> None:
    """Predict one row by four trees side by side: while one waits for memory, the others go on."""
    for member in range(len(init)):
        columns, last, own = feature[member], threshold[member], value[member]
        total = np.float32(0)
        for tree in range(0, len(columns), TREES_AT_ONCE):
            a = b = c = d = np.uint64(0)
            for level in range(columns.shape[1]):
                a |= _bit(row[columns[tree, level]] > last[tree, level], level)
                b |= _bit(row[columns[tree + 1, level]] > last[tree + 1, level], level)
                c |= _bit(row[columns[tree + 2, level]] > last[tree + 2, level], level)
                d |= _bit(row[columns[tree + 3, level]] > last[tree + 3, level], level)
            first = own[tree, a] + own[tree + 1, b]
            total += first + (own[tree + 2, c] + own[tree + 3, d])
        members[member] = init[member] + total


@inlined
def _bit(answer: bool, level: Whole) -> np.uint64:
    return np.uint64(answer) << np.uint64(level)
