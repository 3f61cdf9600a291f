"""Trees with random cuts: every node draws one cut per column and takes the best of them.

Trees that search their cuts agree on where to cut. These do not, so the mean of many is smooth
(extremely randomised trees: Geurts, Ernst and Wehenkel 2006). A cut lies anywhere between the
smallest and the largest fine bin of a column in a node, so only the order of a column's values
counts.

Weight and target of a row travel in one integer, as in `clearbands.engine.forest_tree`: weights and
repeated rows give the same trees, in whatever order rows are summed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from clearbands.engine.binning import Bins
from clearbands.engine.bits import random_below
from clearbands.engine.compiled import (
    Real,
    Whole,
    called,
    inlined,
    kernel,
    kernel_with_memory,
    whole_and_read_only,
)
from clearbands.engine.forest import next_node, pack_targets
from clearbands.engine.grains import EVEN, Grains
from clearbands.engine.screening import Screen
from clearbands.engine.stored import Stored, check_array, check_starts, check_walks
from clearbands.engine.symmetric import check_counts
from clearbands.engine.symmetric_columns import FINE_BINS
from clearbands.engine.threads import run_threads

ROWS_AT_ONCE = 2**13
ROWS_PER_WALK = 128  # rows that go down a tree while it is in the cache
# The lighter child is grown first, so every pending node weighs at most half of the one before.
MAX_PENDING = 64
NODE, START, STOP, TOTAL = range(4)  # what is noted about a pending node
NO_COLUMN = -1


@dataclass(frozen=True)
class RandomTreesBag(Stored):
    """The trees of all members end to end, the root of each before its other nodes.

    A node whose `child` is positive splits: its children are child and child + 1, counted from the
    first node of the member. Otherwise it is leaf number -1 - child of the member.
    """

    bins: Bins  # fine bins
    origin: np.ndarray  # (b,)
    unit: np.ndarray  # (b,): a prediction is origin + unit * the mean of the leaves
    feature: np.ndarray  # (nodes,) uint16
    threshold: np.ndarray  # (nodes,) int16: the last fine bin that goes left
    child: np.ndarray  # (nodes,) int32
    value: np.ndarray  # (leaves,) float32
    roots: np.ndarray  # (b, trees) int32
    node_starts: np.ndarray  # (b + 1,): the first node of every member
    leaf_starts: np.ndarray  # (b + 1,): the first leaf of every member

    def check(self) -> None:
        check_array(self.origin, "origins", np.float64, (None,))
        n_members = len(self.origin)
        check_array(self.unit, "units", np.float64, (n_members,))
        check_array(self.child, "children", np.int32, (None,))
        check_array(self.feature, "features", np.uint16, self.child.shape)
        check_array(self.threshold, "thresholds", np.int16, self.child.shape)
        check_array(self.value, "values", np.float32, (None,))
        check_array(self.roots, "roots", np.int32, (n_members, None))
        check_starts(self.node_starts, "starts of nodes", len(self.child))
        check_starts(self.leaf_starts, "starts of leaves", len(self.value))
        starts = self.node_starts, self.leaf_starts
        check_walks(self.feature, self.child, self.roots, starts, self.bins.n_columns)

    def __len__(self) -> int:
        return len(self.roots)

    def predict_members(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions (n, 1, b) of all members for every row."""
        members = np.empty((len(X), len(self)))
        for start in range(0, len(X), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            binned = self.bins.apply(X[part], np.int16)
            for member in range(len(self)):
                members[part, member] = self._predict(member, binned)
        return members[:, None, :]

    def member(self, number: int) -> RandomTreesBag:
        """Return one member alone, as views without copies."""
        nodes = slice(*self.node_starts[number : number + 2])
        leaves = slice(*self.leaf_starts[number : number + 2])
        return replace(
            self,
            origin=self.origin[number : number + 1],
            unit=self.unit[number : number + 1],
            feature=self.feature[nodes],
            threshold=self.threshold[nodes],
            child=self.child[nodes],
            value=self.value[leaves],
            roots=self.roots[number : number + 1],
            node_starts=np.array([0, nodes.stop - nodes.start]),
            leaf_starts=np.array([0, leaves.stop - leaves.start]),
        )

    def _predict(self, member: int, binned: np.ndarray) -> np.ndarray:
        nodes = slice(*self.node_starts[member : member + 2])
        leaves = slice(*self.leaf_starts[member : member + 2])
        trees = self.feature[nodes], self.threshold[nodes], self.child[nodes]
        predicted = np.empty(len(binned))
        arrays = map(whole_and_read_only, (*trees, self.value[leaves], self.roots[member]))
        _walk(whole_and_read_only(binned), *arrays, predicted)
        return self.origin[member] + self.unit[member] * predicted


def fit_random_trees_bag(
    X: np.ndarray,
    y: np.ndarray,
    counts: np.ndarray,
    grains: Grains = EVEN,
    *,
    n_trees: int,
    min_samples_leaf: int,
    seeds: np.ndarray,
    n_jobs: int | None,
    stage: str,
) -> RandomTreesBag:
    """Grow trees on every part of the rows, a row of `counts` (b, n), each tree on all of it."""
    check_counts(counts, grains)
    bins = Bins.from_data(X, FINE_BINS, grains.of_rows)
    binned = bins.apply(X, np.int16)
    screen = Screen.from_bins(binned, grains)
    leaf_weight = max(1, round(min_samples_leaf * grains.per_one))
    grown: list[Any] = [None] * len(counts)

    def grow(member: int, stop: np.ndarray) -> None:
        own = grains.times(counts[member]).astype(np.int64)
        seen = None if screen is None else screen.columns(y, own)
        drawn = np.flatnonzero(own)
        columns = binned[drawn] if seen is None else binned[np.ix_(drawn, seen)]
        rows = TreeTargets.of(y[drawn], own[drawn])
        trees = Trees.room_for(n_trees, min(len(drawn), max(1, own.sum() // leaf_weight)))
        state = np.array([seeds[member]], np.uint64)
        n_nodes, n_leaves = _grow_trees(columns, rows, leaf_weight, state, stop, trees)
        grown[member] = rows.origin, rows.unit, *trees.cut(n_nodes, n_leaves, seen)

    run_threads(grow, len(counts), n_jobs=n_jobs, stage=stage)
    origin, unit, feature, threshold, child, value, roots = map(list, zip(*grown, strict=True))
    return RandomTreesBag(
        bins,
        np.array(origin),
        np.array(unit),
        np.concatenate(feature),
        np.concatenate(threshold),
        np.concatenate(child),
        np.concatenate(value),
        np.stack(roots),
        node_starts=np.cumsum([0, *map(len, child)]),
        leaf_starts=np.cumsum([0, *map(len, value)]),
    )


class TreeTargets(NamedTuple):
    """The targets of a member's rows as whole numbers, whose sums do not depend on the order."""

    origin: float
    unit: float
    packed: np.ndarray  # (m,) int64: (1 << sum_bits plus the target, in few bits) times the weight
    sum_bits: int
    exact: np.ndarray  # (m,) int64: the target, in as many bits as sums allow, times the weight
    step: float  # the step of `exact`, in units

    @classmethod
    def of(cls, y: np.ndarray, weight: np.ndarray) -> TreeTargets:
        """Return the targets of rows that count `weight` (m,) times each."""
        total = int(weight.sum())
        origin, unit = float(y.min()), float(y.max() - y.min()) or 1.0
        step = 2.0 ** (total.bit_length() - 62)
        exact = np.rint((y - origin) / unit / step).astype(np.int64)
        once, sum_bits = pack_targets(y, total)
        return cls(origin, unit, once * weight, sum_bits, exact * weight, step)


class Trees(NamedTuple):
    """The trees of one member, as they stand in a bag."""

    feature: np.ndarray
    threshold: np.ndarray
    child: np.ndarray
    value: np.ndarray
    roots: np.ndarray

    @classmethod
    def room_for(cls, n_trees: int, n_leaves: int) -> Trees:
        n_nodes = n_trees * (2 * n_leaves - 1)
        return cls(
            np.zeros(n_nodes, np.uint16),
            np.zeros(n_nodes, np.int16),
            np.empty(n_nodes, np.int32),
            np.empty(n_trees * n_leaves, np.float32),
            np.empty(n_trees, np.int32),
        )

    def cut(self, n_nodes: int, n_leaves: int, columns: np.ndarray | None) -> Trees:
        """Return the trees without unused room; `columns` are those that the member saw."""
        feature = self.feature[:n_nodes]
        return Trees(
            feature.copy() if columns is None else columns[feature].astype(np.uint16),
            self.threshold[:n_nodes].copy(),
            self.child[:n_nodes].copy(),
            self.value[:n_leaves].copy(),
            self.roots,
        )


@kernel_with_memory
def _grow_trees(
    binned: np.ndarray,
    targets: TreeTargets,
    leaf_weight: Whole,
    state: np.ndarray,
    stop: np.ndarray,
    trees: Trees,
) -> tuple[Whole, Whole]:
    """Fill `trees`, and return the numbers of nodes and of leaves."""
    n_rows, n_columns = binned.shape
    rows, moved = np.empty(n_rows, np.int32), np.empty(n_rows, np.int32)
    low, high = np.empty(n_columns, np.int16), np.empty(n_columns, np.int16)
    left, pending = np.empty(n_columns, np.int64), np.empty((MAX_PENDING, 4), np.int64)
    total = np.int64(0)
    for i in range(n_rows):
        total += targets.packed[i]
    n_nodes = n_leaves = np.int64(0)
    for tree in range(len(trees.roots)):
        if stop[0] != 0:
            break
        for i in range(n_rows):
            rows[i] = i
        trees.roots[tree] = n_nodes
        _note(pending[0], n_nodes, 0, n_rows, total)
        n_nodes += 1
        n_pending = 1
        while n_pending > 0:
            n_pending -= 1
            node, start, end = (
                pending[n_pending, NODE],
                pending[n_pending, START],
                pending[n_pending, STOP],
            )
            own = pending[n_pending, TOTAL]
            column, cut = NO_COLUMN, np.int16(0)
            if own >> targets.sum_bits >= 2 * leaf_weight:
                _draw_cuts(binned, rows[start:end], state, low, high)
                _add_left(binned, rows[start:end], targets.packed, low, left)
                column = _best_column(low, high, left, own, targets.sum_bits, leaf_weight)
            if column == NO_COLUMN:
                trees.child[node] = -1 - n_leaves
                trees.value[n_leaves] = _mean(rows[start:end], targets, own)
                n_leaves += 1
                continue
            cut = low[column]
            middle = start + _part_rows(binned, rows[start:end], moved, column, cut)
            trees.feature[node] = column
            trees.threshold[node] = cut
            trees.child[node] = n_nodes
            on_left = left[column]
            first, second = n_nodes, n_nodes + 1
            n_nodes += 2
            if on_left >> targets.sum_bits < (own - on_left) >> targets.sum_bits:
                _note(pending[n_pending], second, middle, end, own - on_left)
                _note(pending[n_pending + 1], first, start, middle, on_left)
            else:
                _note(pending[n_pending], first, start, middle, on_left)
                _note(pending[n_pending + 1], second, middle, end, own - on_left)
            n_pending += 2
    return n_nodes, n_leaves


@inlined
def _note(pending: np.ndarray, node: Whole, start: Whole, end: Whole, total: Whole) -> None:
    pending[NODE] = node
    pending[START] = start
    pending[STOP] = end
    pending[TOTAL] = total


@called
def _draw_cuts(
    binned: np.ndarray, rows: np.ndarray, state: np.ndarray, low: np.ndarray, high: np.ndarray
) -> None:
    """Draw a cut of each column into `low`; where it equals `high`, there is none."""
    for column in range(binned.shape[1]):
        low[column] = high[column] = binned[rows[0], column]
    for i in range(1, len(rows)):
        own = binned[rows[i]]
        for column in range(len(own)):
            low[column] = min(low[column], own[column])
            high[column] = max(high[column], own[column])
    for column in range(len(low)):
        if low[column] < high[column]:
            low[column] += random_below(state, high[column] - low[column])


@called
def _add_left(
    binned: np.ndarray, rows: np.ndarray, packed: np.ndarray, cut: np.ndarray, left: np.ndarray
) -> None:
    for column in range(len(left)):
        left[column] = 0
    for i in range(len(rows)):
        row = rows[i]
        own, amount = binned[row], packed[row]
        for column in range(len(own)):
            left[column] += amount if own[column] <= cut[column] else 0


@called
def _best_column(
    cut: np.ndarray,
    high: np.ndarray,
    left: np.ndarray,
    total: Whole,
    sum_bits: Whole,
    leaf_weight: Whole,
) -> Whole:
    """Return the column whose cut takes most off the squared error, or NO_COLUMN if none does."""
    low_bits = (np.int64(1) << sum_bits) - 1
    weight, target_sum = total >> sum_bits, total & low_bits
    best_gain, best = 0.0, NO_COLUMN
    for column in range(len(left)):
        left_weight, left_sum = left[column] >> sum_bits, left[column] & low_bits
        if (
            cut[column] == high[column]
            or left_weight < leaf_weight
            or weight - left_weight < leaf_weight
        ):
            continue
        # The difference is an exact integer: see `clearbands.engine.forest_tree`.
        difference = np.float64(left_sum * weight - target_sum * left_weight)
        gain = difference * difference / np.float64(left_weight * (weight - left_weight))
        if gain > best_gain:
            best_gain, best = gain, column
    return best


@called
def _part_rows(
    binned: np.ndarray, rows: np.ndarray, moved: np.ndarray, column: Whole, cut: Whole
) -> Whole:
    """Move the rows that go left to the front, in their order; return where the others start."""
    middle = n_right = 0
    for i in range(len(rows)):
        row = rows[i]
        goes_left = binned[row, column] <= cut
        # Two writes instead of a branch: which side a row goes to cannot be predicted.
        rows[middle] = row
        moved[n_right] = row
        middle += goes_left
        n_right += not goes_left
    for i in range(n_right):
        rows[middle + i] = moved[i]
    return middle


@called
def _mean(rows: np.ndarray, targets: TreeTargets, total: Whole) -> Real:
    added = np.int64(0)
    for i in range(len(rows)):
        added += targets.exact[rows[i]]
    return added / np.float64(total >> targets.sum_bits) * targets.step


@kernel
def _walk(
    binned: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    child: np.ndarray,
    value: np.ndarray,
    roots: np.ndarray,
    predicted: np.ndarray,
) -> None:
    """Fill `predicted` with the mean of the leaves that each row falls into.

    A row goes down four trees side by side: while one waits for memory, the others go on.
    """
    last = len(roots) - 1
    predicted[:] = 0
    for first in range(0, len(binned), ROWS_PER_WALK):
        stop = min(first + ROWS_PER_WALK, len(binned))
        for tree in range(0, len(roots), 4):
            n = min(4, len(roots) - tree)
            second, third, fourth = min(tree + 1, last), min(tree + 2, last), min(tree + 3, last)
            for row in range(first, stop):
                a, b, c, d = roots[tree], roots[second], roots[third], roots[fourth]
                while (child[a] > 0) | (child[b] > 0) | (child[c] > 0) | (child[d] > 0):
                    a = next_node(binned, row, feature, threshold, child, a)
                    b = next_node(binned, row, feature, threshold, child, b)
                    c = next_node(binned, row, feature, threshold, child, c)
                    d = next_node(binned, row, feature, threshold, child, d)
                total = np.float64(value[-1 - child[a]])
                total += value[-1 - child[b]] if n > 1 else np.float32(0)
                total += value[-1 - child[c]] if n > 2 else np.float32(0)
                total += value[-1 - child[d]] if n > 3 else np.float32(0)
                predicted[row] += total / len(roots)
