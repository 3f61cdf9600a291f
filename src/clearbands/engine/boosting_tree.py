"""One quantile boosted on one bootstrap.

The gradient of the pinball loss takes two values, -tau where the prediction lies below the target
and 1 - tau elsewhere, so a node is described by two integers: the weight of its rows, and the
weight of those whose prediction overshoots (is not below the target). Both travel in the halves of
one int64, a "pair": adding and subtracting pairs is exact, and so the same trees come out of
weights and of repeated rows, of one thread and of many.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearbands.engine.binning import MAX_BINS
from clearbands.engine.bits import lowest_bit
from clearbands.engine.boosting_columns import BoostingColumns
from clearbands.engine.compiled import ZERO, Real, Whole, called, inlined, kernel, pasted
from clearbands.engine.selection import weighted_quantile

ALWAYS_LEFT = 2**16 - 1  # a threshold that no bin exceeds
MIN_GAIN = 1e-6
TIE = 1 + 1e-12  # scores closer than this are equal, and the first split wins on every machine
HALF = 32
LOW_HALF = 2**HALF - 1
NO_SPLIT = -1
NO_HISTOGRAM = -1


class BoostingRule(NamedTuple):
    """How a tree grows."""

    tau: float
    learning_rate: float
    min_weight: int
    reg_lambda: float
    few_rows: int  # nodes of at most this many rows get no histogram of their own


class Sample(NamedTuple):
    """The state of one member: its drawn rows and what is left to explain of their targets."""

    drawn: np.ndarray  # (m,) uint32: the rows that were drawn
    rows: np.ndarray  # (m,) uint32: the drawn rows, of which every node owns a contiguous part
    counts: np.ndarray  # (n,) uint8 or int64: how often each row was drawn, or its weight
    gradients: np.ndarray  # (n,) uint16 or int64: the two weights of a pair, half of the bits each
    residual: np.ndarray  # (n,): target - prediction
    spare_rows: np.ndarray  # (m,) uint32
    leaf_residuals: np.ndarray  # (m,)
    leaf_weights: np.ndarray  # (m,), as `counts`

    @classmethod
    def draw(cls, y: np.ndarray, counts: np.ndarray) -> Sample:
        drawn = np.flatnonzero(counts).astype(np.uint32)
        leaf_residuals = np.empty(len(drawn))
        return cls(
            drawn,
            np.empty_like(drawn),
            counts,
            np.zeros(len(y), np.uint16 if counts.dtype == np.uint8 else np.int64),
            y,
            # Rows are moved when a node is split and residuals gathered when it is not: one
            # piece of memory serves both.
            leaf_residuals.view(np.uint32)[: len(drawn)],
            leaf_residuals,
            np.empty(len(drawn), counts.dtype),
        )


class BoostingHistograms(NamedTuple):
    """Pairs per bin, and the nodes that wait for their turn."""

    root: np.ndarray  # (bins of all columns,) int64: all drawn rows, kept from tree to tree
    slots: np.ndarray  # (slots, bins of all columns) int64
    sparse: np.ndarray  # (bins of all columns,) int64; zero between uses
    occupied: np.ndarray  # (d, 4) uint64: a bit for every bin of `sparse` that is in use
    pending: np.ndarray  # (depth + 1, fields of Node) int64

    @classmethod
    def allocate(cls, columns: BoostingColumns, n_slots: int, max_depth: int) -> BoostingHistograms:
        n_bins = int(columns.offsets[-1])
        return cls(
            np.zeros(n_bins, np.int64),
            np.empty((n_slots, n_bins), np.int64),
            np.zeros(n_bins, np.int64),
            np.empty((columns.binned.shape[1], MAX_BINS // 64), np.uint64),
            np.empty((max_depth + 1, len(Node._fields)), np.int64),
        )


class Node(NamedTuple):
    """A part of the rows, on its way to be split or to become a leaf."""

    number: Whole
    levels_left: Whole  # how often its descendants may still be split
    start: Whole
    stop: Whole
    pair: Whole
    slot: Whole  # where its histogram stands


@kernel
def fit_member(
    columns: BoostingColumns,
    rule: BoostingRule,
    sample: Sample,
    histograms: BoostingHistograms,
    max_depth: Whole,
    stop: np.ndarray,
    init: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    value: np.ndarray,
) -> None:
    """Boost one quantile on one bootstrap: fill init (1,), feature, threshold, value (trees, .)."""
    n_drawn = len(sample.drawn)
    slot = 0 if n_drawn > rule.few_rows else NO_HISTOGRAM
    root = Node(0, max_depth, 0, n_drawn, _start_tree(columns, sample, histograms.root), slot)
    init[0] = _quantile_of_residuals(sample, root, rule.tau)
    _shift_residuals(sample, root, init[0])
    for tree in range(len(feature)):
        if stop[0] != 0:
            return
        root = Node(0, max_depth, 0, n_drawn, _start_tree(columns, sample, histograms.root), slot)
        if slot != NO_HISTOGRAM:
            _copy(histograms.root, histograms.slots[slot])
        _grow_tree(
            columns, rule, sample, histograms, root, feature[tree], threshold[tree], value[tree]
        )


@inlined
def _copy(source: np.ndarray, target: np.ndarray) -> None:
    for place in range(len(source)):
        target[place] = source[place]


@called
def _start_tree(columns: BoostingColumns, sample: Sample, histogram: np.ndarray) -> Whole:
    """Give all drawn rows to the root, note their gradients, and return the pair of the root.

    Few residuals change their sign from one tree to the next: the histogram of the root is
    corrected for those rows and not built again.
    """
    half = _half_bits(sample.gradients)
    total: Whole = 0
    for i in range(len(sample.drawn)):
        row = sample.drawn[i]
        sample.rows[i] = row
        weight = np.int64(sample.counts[row])
        overshoots = weight if sample.residual[row] <= 0 else 0
        pair = (weight << HALF) | overshoots
        total += pair
        before = _pair(sample.gradients[row], half)
        if pair != before:
            sample.gradients[row] = (weight << half) | overshoots
            _add_row(columns.binned[row], columns.offsets, pair - before, histogram)
    return total


@inlined
def _add_row(bins: np.ndarray, offsets: np.ndarray, pair: Whole, histogram: np.ndarray) -> None:
    for column in range(len(bins)):
        histogram[offsets[column] + np.uint64(bins[column])] += pair


@pasted
def _grow_tree(
    columns: BoostingColumns,
    rule: BoostingRule,
    sample: Sample,
    histograms: BoostingHistograms,
    root: Node,
    feature: np.ndarray,
    threshold: np.ndarray,
    value: np.ndarray,
) -> None:
    """Grow one tree depth first.

    The histogram of a waiting node stays in its slot, while the smaller child is split first and
    uses the slots above: one slot per level is enough.
    """
    feature[:] = 0
    threshold[:] = ALWAYS_LEFT
    n_pending = _push(histograms.pending, ZERO, root)
    while n_pending > 0:
        n_pending -= 1
        node = _read(histograms.pending, n_pending)
        column, last_left_bin, left_pair = _best_split(columns, rule, sample, histograms, node)
        if column == NO_SPLIT:
            _close_leaf(rule, sample, node, value)
            continue
        feature[node.number] = column
        threshold[node.number] = columns.last_fine[column, last_left_bin]
        middle = node.start + _partition(
            columns.binned,
            sample.rows[node.start : node.stop],
            sample.spare_rows,
            column,
            last_left_bin,
        )
        larger, smaller = _children(columns, rule, sample, histograms, node, middle, left_pair)
        n_pending = _push(histograms.pending, n_pending, larger)
        n_pending = _push(histograms.pending, n_pending, smaller)


@inlined
def _push(pending: np.ndarray, n_pending: Whole, node: Node) -> Whole:
    place = pending[n_pending]
    place[0] = node.number
    place[1] = node.levels_left
    place[2] = node.start
    place[3] = node.stop
    place[4] = node.pair
    place[5] = node.slot
    return n_pending + 1


@inlined
def _read(pending: np.ndarray, index: Whole) -> Node:
    place = pending[index]
    return Node(place[0], place[1], place[2], place[3], place[4], place[5])


@inlined
def _half_bits(gradients: np.ndarray) -> Whole:
    """Return the bits of one half, which the compiler knows: each dtype has its own kernel."""
    return 4 * gradients.itemsize


@inlined
def _pair(gradients: Whole, half: Whole) -> Whole:
    return (np.int64(gradients >> half) << HALF) | np.int64(gradients & ((1 << half) - 1))


@inlined
def _weight(pair: Whole) -> Whole:
    return pair >> HALF


@inlined
def _gradient(pair: Whole, tau: Real) -> Real:
    return (pair & LOW_HALF) - tau * (pair >> HALF)


@called
def _build_histogram(
    binned: np.ndarray,
    offsets: np.ndarray,
    rows: np.ndarray,
    gradients: np.ndarray,
    histogram: np.ndarray,
) -> None:
    histogram[:] = 0
    half = _half_bits(gradients)
    for i in range(len(rows)):
        row = rows[i]
        _add_row(binned[row], offsets, _pair(gradients[row], half), histogram)


@inlined
def _best_split(
    columns: BoostingColumns,
    rule: BoostingRule,
    sample: Sample,
    histograms: BoostingHistograms,
    node: Node,
) -> tuple[Whole, Whole, Whole]:
    """Return the column or NO_SPLIT, the last bin that goes left and the pair of the left child."""
    if node.levels_left == 0 or _weight(node.pair) < 2 * rule.min_weight:
        return NO_SPLIT, 0, 0
    if node.slot == NO_HISTOGRAM:
        _build_sparse_histogram(
            columns.binned,
            columns.offsets,
            sample.rows[node.start : node.stop],
            sample.gradients,
            histograms.sparse,
            histograms.occupied,
        )
        return _best_split_of_few_rows(
            columns.offsets, rule, histograms.sparse, histograms.occupied, node.pair
        )
    return _best_split_of_histogram(columns.offsets, rule, histograms.slots[node.slot], node.pair)


@called
def _best_split_of_histogram(
    offsets: np.ndarray, rule: BoostingRule, histogram: np.ndarray, pair: Whole
) -> tuple[Whole, Whole, Whole]:
    best_bin: Whole = 0
    best_column, best_left = NO_SPLIT, 0
    best_score = _score_to_beat(pair, rule)
    max_left_weight = _weight(pair) - rule.min_weight
    for column in range(len(offsets) - 1):
        first_bin = offsets[column]
        left = 0
        for place in range(first_bin, offsets[column + 1]):
            if histogram[place] == 0:
                continue
            left += histogram[place]
            if _weight(left) < rule.min_weight:
                continue
            if _weight(left) > max_left_weight:
                break
            numerator, denominator = _score(left, pair, rule)
            if numerator > best_score * denominator:
                best_score = numerator / denominator * TIE
                best_column, best_bin, best_left = column, np.int64(place - first_bin), left
    return best_column, best_bin, best_left


@called
def _best_split_of_few_rows(
    offsets: np.ndarray,
    rule: BoostingRule,
    histogram: np.ndarray,
    occupied: np.ndarray,
    pair: Whole,
) -> tuple[Whole, Whole, Whole]:
    """Search as `_best_split_of_histogram`, but in occupied bins only, and clear the histogram."""
    best_column, best_bin, best_left = NO_SPLIT, 0, 0
    best_score = _score_to_beat(pair, rule)
    max_left_weight = _weight(pair) - rule.min_weight
    for column in range(len(offsets) - 1):
        first_bin = offsets[column]
        left = 0
        for word in range(occupied.shape[1]):
            bits = occupied[column, word]
            while bits != 0:
                bin_ = np.uint64(64 * word) + lowest_bit(bits)  # type: ignore[call-arg]
                bits &= bits - np.uint64(1)
                left += histogram[first_bin + bin_]
                histogram[first_bin + bin_] = 0
                if rule.min_weight <= _weight(left) <= max_left_weight:
                    numerator, denominator = _score(left, pair, rule)
                    if numerator > best_score * denominator:
                        best_score = numerator / denominator * TIE
                        best_column, best_bin, best_left = column, np.int64(bin_), left
    return best_column, best_bin, best_left


@called
def _build_sparse_histogram(
    binned: np.ndarray,
    offsets: np.ndarray,
    rows: np.ndarray,
    gradients: np.ndarray,
    histogram: np.ndarray,
    occupied: np.ndarray,
) -> None:
    occupied[:] = 0
    half = _half_bits(gradients)
    for i in range(len(rows)):
        row = rows[i]
        pair = _pair(gradients[row], half)
        for column in range(binned.shape[1]):
            bin_ = np.uint64(binned[row, column])
            histogram[offsets[column] + bin_] += pair
            occupied[column, bin_ >> np.uint64(6)] |= np.uint64(1) << (bin_ & np.uint64(63))


@inlined
def _score(left: Whole, both: Whole, rule: BoostingRule) -> tuple[Real, Real]:
    """Return numerator and denominator of G^2 / (W + lambda), summed over both children."""
    left_gradient = _gradient(left, rule.tau)
    right_gradient = _gradient(both, rule.tau) - left_gradient
    left_weight = _weight(left) + rule.reg_lambda
    right_weight = _weight(both - left) + rule.reg_lambda
    numerator = (
        left_gradient * left_gradient * right_weight + right_gradient * right_gradient * left_weight
    )
    return numerator, left_weight * right_weight


@inlined
def _score_to_beat(pair: Whole, rule: BoostingRule) -> Real:
    gradient = _gradient(pair, rule.tau)
    return gradient * gradient / (_weight(pair) + rule.reg_lambda) + MIN_GAIN


@called
def _partition(
    binned: np.ndarray,
    rows: np.ndarray,
    spare_rows: np.ndarray,
    column: Whole,
    last_left_bin: Whole,
) -> Whole:
    """Move the rows that go left to the front, keep their order and return their number."""
    n_left: Whole = 0
    n_right: Whole = 0
    for i in range(len(rows)):
        row = rows[i]
        # Two writes instead of a branch: which way a row goes cannot be predicted.
        goes_left = np.int64(binned[row, column] <= last_left_bin)
        rows[n_left] = row
        spare_rows[n_right] = row
        n_left += goes_left
        n_right += 1 - goes_left
    for i in range(n_right):
        rows[n_left + i] = spare_rows[i]
    return n_left


@inlined
def _children(
    columns: BoostingColumns,
    rule: BoostingRule,
    sample: Sample,
    histograms: BoostingHistograms,
    node: Node,
    middle: Whole,
    left_pair: Whole,
) -> tuple[Node, Node]:
    """Return the larger and the smaller child, with the histograms of those that need one."""
    number, levels_left = 2 * node.number + 1, node.levels_left - 1
    left = Node(number, levels_left, node.start, middle, left_pair, NO_HISTOGRAM)
    right = Node(number + 1, levels_left, middle, node.stop, node.pair - left_pair, NO_HISTOGRAM)
    larger, smaller = (left, right) if _size(left) >= _size(right) else (right, left)
    if node.slot == NO_HISTOGRAM or levels_left == 0 or _size(larger) <= rule.few_rows:
        return larger, smaller
    histogram, part = histograms.slots[node.slot], histograms.slots[node.slot + 1]
    _build_histogram(
        columns.binned,
        columns.offsets,
        sample.rows[smaller.start : smaller.stop],
        sample.gradients,
        part,
    )
    for place in range(len(histogram)):
        histogram[place] -= part[place]
    larger = _with_slot(larger, node.slot)
    if _size(smaller) > rule.few_rows:
        smaller = _with_slot(smaller, node.slot + 1)
    return larger, smaller


@inlined
def _size(node: Node) -> Whole:
    return node.stop - node.start


@inlined
def _with_slot(node: Node, slot: Whole) -> Node:
    return Node(node.number, node.levels_left, node.start, node.stop, node.pair, slot)


@inlined
def _close_leaf(rule: BoostingRule, sample: Sample, node: Node, value: np.ndarray) -> None:
    # The shift is rounded first, so that the residuals are exactly those of the stored tree.
    shift = np.float32(rule.learning_rate * _quantile_of_residuals(sample, node, rule.tau))
    _shift_residuals(sample, node, np.float64(shift))
    # The tree is complete: a leaf above the last level stands for all leaves below it.
    width = 1 << node.levels_left
    first = (node.number + 1) * width - len(value)
    for leaf in range(first, first + width):
        value[leaf] = shift


@inlined
def _quantile_of_residuals(sample: Sample, node: Node, tau: Real) -> Real:
    for i in range(_size(node)):
        row = sample.rows[node.start + i]
        sample.leaf_residuals[i] = sample.residual[row]
        sample.leaf_weights[i] = sample.counts[row]
    return weighted_quantile(
        sample.leaf_residuals, sample.leaf_weights, _size(node), _weight(node.pair), tau
    )


@inlined
def _shift_residuals(sample: Sample, node: Node, shift: Real) -> None:
    for i in range(node.start, node.stop):
        sample.residual[sample.rows[i]] -= shift
