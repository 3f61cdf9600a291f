"""One regression tree on columns of bytes and rows with integer weights.

Weight and target of a row travel in one integer: the weight in the high bits, weight times target
(an integer itself) in the low ones. One addition per row and column fills a histogram, sums do not
depend on the order of the rows, and the histogram of a node minus that of one child is exactly
that of the other.

Dense nodes, with more draws than bins, carry such a histogram and split by it. Most nodes are
sparse: they add their rows to an empty histogram, note the occupied bins as set bits of a mask,
and empty exactly those bins again while they look for the best split.

Everything is decided by weights, never by numbers of rows: a row of weight k and k copies of it
give the same tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearbands.engine.binning import Bins
from clearbands.engine.bits import lowest_bit
from clearbands.engine.compiled import Real, Whole, inlined, pasted

BITS_PER_WORD = 64
# The lighter child is grown first, so every pending node weighs at most half of the one before.
MAX_PENDING = 64
NODE, START, STOP, TOTAL, SLOT = range(5)  # what is noted about a pending node
NO_SLOT = -1
NO_FEATURE = -1
DENSE = 1.5  # draws per bin above which a histogram pays; values up to 5 make little difference


class ForestColumns(NamedTuple):
    """The columns of X in a tree; column j has the bins bin_starts[j] .. bin_starts[j + 1] - 1."""

    binned: np.ndarray  # (n, d) uint8
    bin_starts: np.ndarray  # (d + 1,) uint64: signed indices would be checked for being negative
    word_starts: np.ndarray  # (d + 1,) uint64: the first word of each column in the mask

    @classmethod
    def from_bins(cls, bins: Bins, X: np.ndarray) -> ForestColumns:
        return cls._from_sizes(bins.apply(X), np.diff(bins.offsets))

    @classmethod
    def _from_sizes(cls, binned: np.ndarray, sizes: np.ndarray) -> ForestColumns:
        words = -(-sizes // BITS_PER_WORD)
        return cls(binned, _starts(sizes), _starts(words))

    def take(self, columns: np.ndarray) -> ForestColumns:
        sizes = np.diff(self.bin_starts.astype(np.int64))[columns]
        return self._from_sizes(np.ascontiguousarray(self.binned[:, columns]), sizes)

    @property
    def n_bins(self) -> int:
        return int(self.bin_starts[-1])


def _starts(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64)


class Growth(NamedTuple):
    """When a tree stops growing, and how its sums are packed."""

    sum_bits: int  # the low bits, which hold the sum of targets
    leaf_weight: int  # the least weight of a leaf
    dense_weight: int  # nodes above this weight carry a histogram

    @classmethod
    def for_columns(cls, columns: ForestColumns, sum_bits: int, leaf_weight: int) -> Growth:
        bins_per_column = columns.n_bins / columns.binned.shape[1]
        # A node too light to split needs no histogram, however many draws per bin it has.
        return cls(sum_bits, leaf_weight, max(int(DENSE * bins_per_column), 2 * leaf_weight))


class Workspace(NamedTuple):
    """Memory of one worker, used again for every tree: 16 bytes per row and some histograms."""

    packed: np.ndarray  # (n,) int64: weight and weighted target of every row, 0 if not drawn
    rows: np.ndarray  # (n,) uint32: the drawn rows; those of a node lie side by side
    moved: np.ndarray  # (n,) uint32: the rows that go right, while a node is split
    leaf_rows: np.ndarray  # (leaves, 2) int64: leaf i got rows[leaf_rows[i, 0] : leaf_rows[i, 1]]
    dense: np.ndarray  # (slots, bins) int64: the histograms of dense nodes not yet grown
    sparse: np.ndarray  # (bins,) int64: all zero between two nodes
    occupied: np.ndarray  # (words,) uint64: all zero between two nodes
    pending: np.ndarray  # (MAX_PENDING, 5) int64

    @classmethod
    def for_weight(cls, columns: ForestColumns, growth: Growth, weight: int) -> Workspace:
        """Return room for trees on rows of this total weight."""
        n_rows = len(columns.binned)
        # One slot per halving of the weight, down to the first child that is not dense.
        n_slots = (weight // growth.dense_weight).bit_length() + 1
        return cls(
            packed=np.zeros(n_rows, np.int64),
            rows=np.empty(n_rows, np.uint32),
            moved=np.empty(n_rows, np.uint32),
            leaf_rows=np.empty((max_leaves(weight, growth.leaf_weight), 2), np.int64),
            dense=np.empty((n_slots, columns.n_bins), np.int64),
            sparse=np.zeros(columns.n_bins, np.int64),
            occupied=np.zeros(int(columns.word_starts[-1]), np.uint64),
            pending=np.empty((MAX_PENDING, 5), np.int64),
        )


class Nodes(NamedTuple):
    """Trees end to end, the root of each before its other nodes.

    A node whose `child` is positive splits: its children are child and child + 1. Otherwise it is
    leaf number -1 - child.
    """

    feature: np.ndarray  # uint16
    threshold: np.ndarray  # uint8: bins up to this one go left
    child: np.ndarray  # int32

    @classmethod
    def empty(cls, size: int) -> Nodes:
        return cls(np.empty(size, np.uint16), np.empty(size, np.uint8), np.empty(size, np.int32))


def max_leaves(weight: int, leaf_weight: int) -> int:
    return max(1, weight // leaf_weight)


@pasted
def grow_tree(
    columns: ForestColumns,
    growth: Growth,
    workspace: Workspace,
    nodes: Nodes,
    root: Whole,
    first_leaf: Whole,
) -> Whole:
    """Grow a tree on the rows whose `workspace.packed` is not zero, return the number of leaves.

    Splits have the least squared error among those that leave `growth.leaf_weight` on both sides;
    of equally good splits the first is taken. Nodes are numbered from `root`, leaves from
    `first_leaf`; the rows of every leaf are in `workspace.leaf_rows`.
    """
    packed, rows, pending = workspace.packed, workspace.rows, workspace.pending
    n_rows, total = _gather_drawn(packed, rows)
    first_row = np.int64(0)  # a literal 0 would have everything below compiled twice
    slot = NO_SLOT
    if total >> growth.sum_bits > growth.dense_weight:
        slot = 0
        _fill_histogram(workspace.dense[slot], columns, packed, rows, first_row, n_rows)
    _note(pending[0], root, first_row, n_rows, total, slot)
    n_pending = 1
    next_node = root + 1
    n_leaves = 0
    while n_pending > 0:
        n_pending -= 1
        node, start, stop, total, slot = _noted(pending[n_pending])
        feature, last_left, left = NO_FEATURE, 0, 0
        if total >> growth.sum_bits < 2 * growth.leaf_weight:
            pass
        elif slot == NO_SLOT:
            _fill_sparse(workspace, columns, start, stop)
            feature, last_left, left = _best_sparse_split(workspace, columns, growth, total)
        else:
            feature, last_left, left = _best_dense_split(
                workspace.dense[slot], columns.bin_starts, growth, total
            )
        if feature == NO_FEATURE:
            nodes.feature[node] = 0
            nodes.threshold[node] = 0
            nodes.child[node] = -1 - (first_leaf + n_leaves)
            workspace.leaf_rows[n_leaves, 0] = start
            workspace.leaf_rows[n_leaves, 1] = stop
            n_leaves += 1
            continue
        middle, first_right = _part_rows(
            columns.binned, rows, workspace.moved, start, stop, feature, last_left
        )
        nodes.feature[node] = feature
        # Halfway into the gap: later rows that fall into it should not all go to one side.
        nodes.threshold[node] = (last_left + first_right - 1) // 2
        nodes.child[node] = next_node
        left_child = (next_node, start, middle, left)
        right_child = (next_node + 1, middle, stop, total - left)
        next_node += 2
        if left >> growth.sum_bits < (total - left) >> growth.sum_bits:
            lighter, heavier = left_child, right_child
        else:
            lighter, heavier = right_child, left_child
        heavier_slot, lighter_slot = _hand_down_histogram(
            columns, growth, workspace, slot, heavier[TOTAL], lighter
        )
        _note(pending[n_pending], *heavier, heavier_slot)
        _note(pending[n_pending + 1], *lighter, lighter_slot)
        n_pending += 2
    return n_leaves


@inlined
def _gather_drawn(packed: np.ndarray, rows: np.ndarray) -> tuple[Whole, Whole]:
    """Write the drawn rows to `rows`, and return how many they are and their packed sum."""
    n_rows = 0
    total = np.int64(0)
    for row in range(len(packed)):
        if packed[row] != 0:
            rows[n_rows] = row
            n_rows += 1
            total += packed[row]
    return n_rows, total


@inlined
def _note(
    pending: np.ndarray, node: Whole, start: Whole, stop: Whole, total: Whole, slot: Whole
) -> None:
    pending[NODE] = node
    pending[START] = start
    pending[STOP] = stop
    pending[TOTAL] = total
    pending[SLOT] = slot


@inlined
def _noted(pending: np.ndarray) -> tuple[Whole, Whole, Whole, Whole, Whole]:
    return pending[NODE], pending[START], pending[STOP], pending[TOTAL], pending[SLOT]


@inlined
def _fill_histogram(
    histogram: np.ndarray,
    columns: ForestColumns,
    packed: np.ndarray,
    rows: np.ndarray,
    start: Whole,
    stop: Whole,
) -> None:
    binned, bin_starts, _ = columns
    histogram[:] = 0
    for i in range(start, stop):
        row = rows[i]
        draws = packed[row]
        for column in range(binned.shape[1]):
            histogram[bin_starts[column] + binned[row, column]] += draws


@inlined
def _hand_down_histogram(
    columns: ForestColumns,
    growth: Growth,
    workspace: Workspace,
    slot: Whole,
    heavier_total: Whole,
    lighter: tuple[Whole, Whole],
) -> tuple[Whole, Whole]:
    """Turn the histogram of a node into those of its children, and return the slots of both.

    Only the rows of the lighter child are counted: the rest of the node is the heavier child.
    """
    if heavier_total >> growth.sum_bits <= growth.dense_weight:
        return NO_SLOT, NO_SLOT
    whole, part = workspace.dense[slot], workspace.dense[slot + 1]
    start, stop = lighter[START], lighter[STOP]
    _fill_histogram(part, columns, workspace.packed, workspace.rows, start, stop)
    for place in range(len(whole)):
        whole[place] -= part[place]
    if lighter[TOTAL] >> growth.sum_bits <= growth.dense_weight:
        return slot, NO_SLOT
    return slot, slot + 1


@inlined
def _part_rows(
    binned: np.ndarray,
    rows: np.ndarray,
    moved: np.ndarray,
    start: Whole,
    stop: Whole,
    feature: Whole,
    last_left: Whole,
) -> tuple[Whole, Whole]:
    """Move the rows that go left to the front, with the order on both sides as before.

    Returns where the right side starts and its lowest bin.
    """
    middle = start
    n_right = 0
    first_right = np.int64(256)
    for i in range(start, stop):
        row = rows[i]
        value = np.int64(binned[row, feature])
        goes_left = value <= last_left
        # Two writes instead of a branch: which side a row goes to cannot be predicted.
        rows[middle] = row
        moved[n_right] = row
        middle += goes_left
        n_right += not goes_left
        if not goes_left:
            first_right = min(first_right, value)
    for i in range(n_right):
        rows[middle + i] = moved[i]
    return middle, first_right


@inlined
def _best_dense_split(
    histogram: np.ndarray, bin_starts: np.ndarray, growth: Growth, total: Whole
) -> tuple[Whole, Whole, Whole]:
    """Return the column or NO_FEATURE, the last bin on the left and the packed sum of the left."""
    sum_bits, leaf_weight, _ = growth
    weight, target_sum = _unpack(total, sum_bits)
    best_gain, best_feature, best_bin, best_left = 0.0, NO_FEATURE, np.int64(0), np.int64(0)
    for column in range(len(bin_starts) - 1):
        left = np.int64(0)
        for place in range(bin_starts[column], bin_starts[column + 1]):
            if histogram[place] == 0:
                continue
            left += histogram[place]
            left_weight, left_sum = _unpack(left, sum_bits)
            if left_weight < leaf_weight:
                continue
            if weight - left_weight < leaf_weight:
                break
            gain = _gain(left_weight, left_sum, weight, target_sum)
            if gain > best_gain:
                best_gain, best_feature, best_left = gain, column, left
                best_bin = np.int64(place - bin_starts[column])
    return best_feature, best_bin, best_left


@inlined
def _fill_sparse(workspace: Workspace, columns: ForestColumns, start: Whole, stop: Whole) -> None:
    binned, bin_starts, word_starts = columns
    histogram, occupied = workspace.sparse, workspace.occupied
    for i in range(start, stop):
        row = workspace.rows[i]
        draws = workspace.packed[row]
        for column in range(binned.shape[1]):
            value = np.uint64(binned[row, column])
            histogram[bin_starts[column] + value] += draws
            word = word_starts[column] + (value >> np.uint64(6))
            occupied[word] |= np.uint64(1) << (value & np.uint64(63))


@inlined
def _best_sparse_split(
    workspace: Workspace, columns: ForestColumns, growth: Growth, total: Whole
) -> tuple[Whole, Whole, Whole]:
    """Return what `_best_dense_split` does, from the histogram of `_fill_sparse`, and clear it."""
    histogram, occupied = workspace.sparse, workspace.occupied
    _, bin_starts, word_starts = columns
    sum_bits, leaf_weight, _ = growth
    weight, target_sum = _unpack(total, sum_bits)
    best_gain, best_feature, best_bin, best_left = 0.0, NO_FEATURE, np.int64(0), np.int64(0)
    for column in range(len(bin_starts) - 1):
        left = np.int64(0)
        first_bin = np.uint64(0)
        for word in range(word_starts[column], word_starts[column + 1]):
            bits = occupied[word]
            occupied[word] = 0
            while bits != 0:
                value = first_bin + lowest_bit(bits)  # type: ignore[call-arg]
                bits &= bits - np.uint64(1)
                place = bin_starts[column] + value
                left += histogram[place]
                histogram[place] = 0
                left_weight, left_sum = _unpack(left, sum_bits)
                if left_weight < leaf_weight or weight - left_weight < leaf_weight:
                    continue
                gain = _gain(left_weight, left_sum, weight, target_sum)
                if gain > best_gain:
                    best_gain, best_feature, best_left = gain, column, left
                    best_bin = np.int64(value)
            first_bin += np.uint64(BITS_PER_WORD)
    return best_feature, best_bin, best_left


@inlined
def _unpack(packed: Whole, sum_bits: Whole) -> tuple[Whole, Whole]:
    """Return the weight and the sum of targets."""
    return packed >> sum_bits, packed & ((np.int64(1) << sum_bits) - 1)


@inlined
def _gain(left_weight: Whole, left_sum: Whole, weight: Whole, target_sum: Whole) -> Real:
    """Return what a split takes off the squared error, times the weight of the node.

    The difference is an exact integer, so a split without gain has gain 0, and two columns that
    split the rows alike have equal gains.
    """
    difference = np.float64(left_sum * weight - target_sum * left_weight)
    return difference * difference / np.float64(left_weight * (weight - left_weight))
