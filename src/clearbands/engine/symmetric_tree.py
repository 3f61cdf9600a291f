"""One member boosted with symmetric trees.

All nodes of one level ask the same question, so a tree of depth k is k questions and 2^k leaf
values, and the leaf of a row is a number whose bits are the answers.

Gradients are rounded to integers and travel with the weights in one int64, a "pair": the weight in
the lowest bits, as many as the sum of all weights needs, the gradient in those above. Adding and
subtracting pairs is exact, so the same trees come out of weights and of repeated rows, of rows in
any order, of one thread and of many.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from clearbands.engine.compiled import ZERO, Real, Whole, called, inlined, kernel
from clearbands.engine.selection import weighted_quantile
from clearbands.engine.symmetric_columns import Columns, draw_columns
from clearbands.engine.symmetric_histograms import NEVER_ZERO, Histograms, best_question
from clearbands.engine.symmetric_order import keep_order

MAX_DEPTH = 10
MAX_WEIGHT = 2**31 - 1  # of all rows of a member, so that half of a pair holds it
EXACT_BITS = 25  # with more bits in the sum of weights, gradients are rounded after weighting


class Rule(NamedTuple):
    """How a member is boosted."""

    n_trees: int
    max_depth: int
    learning_rate: float
    l2: float
    absolute: bool  # the loss: absolute instead of squared


class TreeRows(NamedTuple):
    """The state of one member: its rows and what is left to explain of their targets."""

    residual: np.ndarray  # (m,): target - prediction
    weight: np.ndarray  # (m,) int64
    pairs: np.ndarray  # (m,) int64
    leaf: np.ndarray  # (m,) uint16: the answers so far
    keys: np.ndarray  # (m,) uint64: number and place of the rows that are listed to be counted
    leaf_residuals: np.ndarray  # (m,)
    leaf_weights: np.ndarray  # (m,) int64

    @classmethod
    def from_target(cls, y: np.ndarray, weight: np.ndarray) -> TreeRows:
        # Pairs and lists of rows are needed while a tree grows, gathered residuals afterwards:
        # one piece of memory serves both.
        pairs, keys = np.empty(len(y), np.int64), np.empty(len(y), np.uint64)
        leaf = np.empty(len(y), np.uint16)
        return cls(y.copy(), weight, pairs, leaf, keys, keys.view(np.float64), pairs)


@kernel
def fit_member(
    columns: Columns,
    rule: Rule,
    rows: TreeRows,
    histograms: Histograms,
    first: Whole,
    stop: np.ndarray,
    init: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    value: np.ndarray,
) -> None:
    """Fill init (1,), feature, threshold and value (trees, .), which come as trees without effect.

    With `first` above 0 so many trees exist already, and `rows` are as these trees left them.
    """
    total_weight = sum_of(rows.weight)
    bits = np.int64(math.frexp(np.float64(total_weight))[1])
    if first == 0:
        init[0] = _start(rule, rows, total_weight, bits)
        for i in range(len(rows.residual)):
            rows.residual[i] -= init[0]
    if len(columns.used) == 0:
        return
    for tree in range(first, rule.n_trees):
        scale = _set_pairs(
            rows.residual, rows.weight, total_weight, bits, rule.absolute, rows.pairs
        )
        if stop[0] != 0 or scale == 0:
            return
        grow_tree(columns, rule, rows, histograms, bits, feature[tree], threshold[tree])
        if rule.absolute:
            _set_medians(rule, rows, histograms.left, value[tree])
        else:
            set_means(rule, histograms.total, bits, scale, value[tree])
        keep_order(columns.direction, feature[tree], histograms.total, bits, value[tree])
        _shift_residuals(rows.residual, rows.leaf, value[tree])


@called
def sum_of(values: np.ndarray) -> Whole:
    total = np.int64(0)
    for i in range(len(values)):
        total += values[i]
    return total


@inlined
def _start(rule: Rule, rows: TreeRows, total_weight: Real, bits: int) -> Real:
    """Return the weighted median or mean of the targets, the same in every order of the rows."""
    size = len(rows.residual)
    if rule.absolute:
        for i in range(size):
            rows.leaf_residuals[i], rows.leaf_weights[i] = rows.residual[i], rows.weight[i]
        return weighted_quantile(rows.leaf_residuals, rows.leaf_weights, size, total_weight, 0.5)
    low = high = rows.residual[0]
    for i in range(size):
        low, high = min(low, rows.residual[i]), max(high, rows.residual[i])
    if low == high:
        return low
    scale = math.ldexp(1.0, 62 - bits - math.frexp(high - low)[1])
    total = np.int64(0)
    for i in range(size):
        total += rows.weight[i] * np.int64((rows.residual[i] - low) * scale)
    return low + total / scale / total_weight


@called
def _set_pairs(
    residual: np.ndarray,
    weight: np.ndarray,
    total_weight: Real,
    bits: int,
    absolute: bool,
    pairs: np.ndarray,
) -> Real:
    """Fill `pairs`; return how many units a gradient of 1 has, or 0 if nothing is to explain."""
    largest = 0.0
    for i in range(len(residual)):
        largest = max(largest, abs(residual[i]))
    if largest == 0:
        return 0.0
    # The sum of the sizes of all gradients must fit into 61 - bits bits, so that rounding them to
    # the nearest cannot overflow 62 - bits. It is found in integers: floats depend on the order.
    exponent = 62 - bits - math.frexp(1.0 if absolute else largest)[1]
    scale = math.ldexp(1.0, exponent)
    total = total_weight
    for i in range(len(residual)):
        size = 1.0 if absolute else abs(residual[i])
        total += weight[i] * np.int64(size * scale)
    scale = math.ldexp(1.0, exponent + 61 - bits - math.frexp(np.float64(total))[1])
    for i in range(len(residual)):
        gradient = np.sign(residual[i]) if absolute else residual[i]
        if bits <= EXACT_BITS:
            gradient = weight[i] * np.rint(gradient * scale)
        else:
            gradient = np.rint(weight[i] * gradient * scale)
        pairs[i] = (np.int64(gradient) << bits) + weight[i]
    return scale


@inlined
def grow_tree(
    columns: Columns,
    rule: Rule,
    rows: TreeRows,
    histograms: Histograms,
    bits: Whole,
    feature: np.ndarray,
    threshold: np.ndarray,
) -> None:
    for i in range(len(rows.leaf)):
        rows.leaf[i] = 0
    histograms.total[0] = sum_of(rows.pairs)
    draw_columns(columns.used, columns.per_tree, columns.state)
    for level in range(rule.max_depth):
        column, cut = best_question(columns, rows, histograms, level, bits, rule.l2)
        feature[level], threshold[level] = column, columns.last_fine[column, cut]
        _append_answer(columns.binned[column], cut, level, rows.leaf)
        _split_leaves(
            histograms.total, histograms.left, np.int64(1) << level, bits, histograms.is_lighter
        )


@called
def _append_answer(binned: np.ndarray, cut: Whole, level: Whole, leaf: np.ndarray) -> None:
    bit, last = np.uint16(1 << level), np.uint8(cut)
    for i in range(len(leaf)):
        leaf[i] |= bit if binned[i] > last else np.uint16(0)


@inlined
def _split_leaves(
    total: np.ndarray, left: np.ndarray, n_open: Whole, bits: Whole, is_lighter: np.ndarray
) -> None:
    low_bits = (np.int64(1) << bits) - 1
    for leaf in range(n_open):
        right = total[leaf] - left[leaf]
        is_lighter[leaf] = (left[leaf] & low_bits) < (right & low_bits)
        is_lighter[leaf + n_open] = 1 - is_lighter[leaf]
        total[leaf], total[leaf + n_open] = left[leaf], right


@called
def set_means(rule: Rule, total: np.ndarray, bits: Whole, scale: Real, value: np.ndarray) -> None:
    low_bits = (np.int64(1) << bits) - 1
    for leaf in range(len(total)):
        weight = (total[leaf] & low_bits) + max(rule.l2, np.float64(NEVER_ZERO))
        value[leaf] = rule.learning_rate * ((total[leaf] >> bits) / scale / weight)


@called
def _set_medians(rule: Rule, rows: TreeRows, ends: np.ndarray, value: np.ndarray) -> None:
    """Gather the residuals of each leaf, then take their median."""
    for leaf in range(len(ends)):
        ends[leaf] = 0
    for i in range(len(rows.leaf)):
        ends[rows.leaf[i]] += 1
    start = ZERO
    for leaf in range(len(ends)):
        start, ends[leaf] = start + ends[leaf], start
    for i in range(len(rows.leaf)):
        here = ends[rows.leaf[i]]
        rows.leaf_residuals[here], rows.leaf_weights[here] = rows.residual[i], rows.weight[i]
        ends[rows.leaf[i]] += 1
    start = ZERO
    for leaf in range(len(ends)):
        size = ends[leaf] - start
        if size > 0:
            values, weights = rows.leaf_residuals[start:], rows.leaf_weights[start:]
            total_weight = sum_of(weights[:size])
            median = weighted_quantile(values, weights, size, total_weight, 0.5)
            value[leaf] = rule.learning_rate * median
        start = ends[leaf]


@called
def _shift_residuals(residual: np.ndarray, leaf: np.ndarray, value: np.ndarray) -> None:
    for i in range(len(residual)):
        residual[i] -= np.float64(value[leaf[i]])
