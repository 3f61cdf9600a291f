"""One member boosted with symmetric trees for the probabilities of classes.

Every round grows a tree for each class (for two classes one tree in all) on the gradients of the
log-likelihood at the start of the round, and its leaves take Newton's step. Pairs are those of the
squared loss, but their lower part holds the curvature in whole units instead of a count. So trees
are as exact as there: weights equal repeated rows, and the order of the rows does not matter.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from clearbands.engine.compiled import Real, Whole, called, inlined, kernel
from clearbands.engine.symmetric_columns import Columns
from clearbands.engine.symmetric_histograms import Histograms
from clearbands.engine.symmetric_tree import (
    EXACT_BITS,
    Rule,
    grow_tree,
    set_means,
    sum_of,
)

FINEST = 12  # a curvature of 1 has at most 2**FINEST units
COARSEST = 2  # with very many rows the largest curvature, 1/4, is one unit, and rows count alike


class ClassRows(NamedTuple):
    """The state of one member: its rows, their classes and the probabilities so far."""

    label: np.ndarray  # (m,) int64
    weight: np.ndarray  # (m,) int64: how often a row counts
    score: np.ndarray  # (trees per round, m): logits
    probability: np.ndarray  # (trees per round, m): at the start of a round
    pairs: np.ndarray  # (m,) int64
    leaf: np.ndarray  # (m,) uint16
    keys: np.ndarray  # (m,) uint64

    @classmethod
    def of(cls, label: np.ndarray, weight: np.ndarray, n_scores: int) -> ClassRows:
        m = len(label)
        return cls(
            label,
            weight,
            np.empty((n_scores, m)),
            np.empty((n_scores, m)),
            np.empty(m, np.int64),
            np.empty(m, np.uint16),
            np.empty(m, np.uint64),
        )


@kernel
def fit_class_member(
    columns: Columns,
    rule: Rule,
    rows: ClassRows,
    histograms: Histograms,
    stop: np.ndarray,
    init: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    value: np.ndarray,
) -> None:
    """Fill feature, threshold and value (classes, trees, .), which come as trees without effect.

    `init` (classes,) are the logits before the first tree; for two classes there is one, that of
    the second class against the first.
    """
    n_scores = len(init)
    for k in range(n_scores):
        for i in range(len(rows.label)):
            rows.score[k, i] = init[k]
    if len(columns.used) == 0:
        return
    total = sum_of(rows.weight)
    count_bits = np.int64(math.frexp(np.float64(total))[1])
    fineness = min(np.int64(FINEST), max(np.int64(COARSEST), EXACT_BITS + 1 - count_bits))
    bits = count_bits + fineness - 2  # no curvature is above 1/4
    units = math.ldexp(1.0, int(fineness))
    own = Rule(rule.n_trees, rule.max_depth, rule.learning_rate, rule.l2 * units, False)
    for tree in range(rule.n_trees):
        if stop[0] != 0:
            return
        _set_probabilities(rows.score, rows.probability)
        for k in range(n_scores):
            hit = np.int64(1) if n_scores == 1 else np.int64(k)
            scale = _set_pairs(
                rows.label, rows.weight, rows.probability[k], hit, total, bits, units, rows.pairs
            )
            if scale == 0:
                continue
            grow_tree(columns, own, rows, histograms, bits, feature[k, tree], threshold[k, tree])
            set_means(own, histograms.total, bits, scale / units, value[k, tree])
            _shift(rows.score[k], rows.leaf, value[k, tree])


@called
def _set_probabilities(score: np.ndarray, probability: np.ndarray) -> None:
    n_scores, size = score.shape
    if n_scores == 1:
        for i in range(size):
            probability[0, i] = 1 / (1 + math.exp(-score[0, i]))
        return
    for i in range(size):
        top = score[0, i]
        for k in range(1, n_scores):
            top = max(top, score[k, i])
        total = 0.0
        for k in range(n_scores):
            probability[k, i] = math.exp(score[k, i] - top)
            total += probability[k, i]
        for k in range(n_scores):
            probability[k, i] /= total


@inlined
def _gradient(label: Whole, probability: Real, hit: Whole) -> Real:
    return (1.0 if label == hit else 0.0) - probability


@called
def _set_pairs(
    label: np.ndarray,
    count: np.ndarray,
    probability: np.ndarray,
    hit: Whole,
    total_count: Whole,
    bits: int,
    units: Whole,
    pairs: np.ndarray,
) -> Real:
    """Fill `pairs`; return how many units a gradient of 1 has, or 0 if nothing is to explain."""
    largest = 0.0
    for i in range(len(label)):
        largest = max(largest, abs(_gradient(label[i], probability[i], hit)))
    if largest == 0:
        return 0.0
    # As for the squared loss, the sizes of all gradients must add up to at most 61 - bits bits.
    exponent = 62 - bits - math.frexp(largest)[1]
    scale = math.ldexp(1.0, exponent)
    total = total_count
    for i in range(len(label)):
        size = abs(_gradient(label[i], probability[i], hit))
        total += count[i] * np.int64(size * scale)
    scale = math.ldexp(1.0, exponent + 61 - bits - math.frexp(np.float64(total))[1])
    for i in range(len(label)):
        p = probability[i]
        gradient = _gradient(label[i], p, hit)
        if bits <= EXACT_BITS:
            gradient = count[i] * np.rint(gradient * scale)
        else:
            gradient = np.rint(count[i] * gradient * scale)
        curvature = count[i] * max(np.int64(1), np.int64(p * (1 - p) * units))
        pairs[i] = (np.int64(gradient) << bits) + curvature
    return scale


@called
def _shift(score: np.ndarray, leaf: np.ndarray, value: np.ndarray) -> None:
    for i in range(len(score)):
        score[i] += np.float64(value[leaf[i]])
