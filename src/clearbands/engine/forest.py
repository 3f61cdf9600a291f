"""Bags of quantile random forests: one forest per outer bootstrap, all trees end to end.

Every tree grows on an inner bootstrap, drawn from the outer one, and keeps a few random targets
per leaf. A forest answers with quantiles of the targets kept in the leaves that a row falls into,
so one forest serves every quantile.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import e

import numpy as np

from clearbands.engine.binning import Bins
from clearbands.engine.bits import random_below, random_unit
from clearbands.engine.compiled import Whole, inlined, kernel
from clearbands.engine.forest_tree import (
    ForestColumns,
    Growth,
    Nodes,
    Workspace,
    grow_tree,
    max_leaves,
)
from clearbands.engine.grains import EVEN, Grains
from clearbands.engine.quantiles import quantiles_of_places
from clearbands.engine.screening import Screen
from clearbands.engine.stored import (
    Stored,
    check_array,
    check_numbers,
    check_starts,
    check_walks,
)
from clearbands.engine.threads import run_threads

MAX_COLUMNS = 1 << 16  # a node names its column in two bytes
MAX_TARGET_BITS = 32  # more would let rounding errors of y decide between equal splits
MIN_TARGET_BITS = 8
ROWS_AT_ONCE = 1 << 14  # rows binned or looked up at once
PLACES_AT_ONCE = 1 << 20  # places of kept targets that are gathered at once, from all members
ROWS_PER_WALK = 128  # rows that go down a tree while it is in the cache


@dataclass(frozen=True)
class ForestBag(Stored):
    """The trees of all forests end to end; nodes and leaves are numbered within their forest."""

    bins: Bins
    quantiles: np.ndarray  # (q,)
    targets: np.ndarray  # (distinct targets,), rising
    feature: np.ndarray  # (nodes,), as in Nodes
    threshold: np.ndarray  # (nodes,)
    child: np.ndarray  # (nodes,)
    samples: np.ndarray  # (leaves, samples per leaf): places in `targets`
    roots: np.ndarray  # (b, trees)
    node_starts: np.ndarray  # (b + 1,): the first node of every forest
    leaf_starts: np.ndarray  # (b + 1,): the first leaf of every forest

    def check(self) -> None:
        check_array(self.targets, "targets", np.float64, (None,))
        check_array(self.child, "children", np.int32, (None,))
        check_array(self.feature, "features", np.uint16, self.child.shape)
        check_array(self.threshold, "thresholds", np.uint8, self.child.shape)
        check_array(self.samples, "targets of leaves", np.int32, (None, None))
        check_numbers(self.samples, "A leaf", len(self.targets), "targets")
        check_starts(self.node_starts, "starts of nodes", len(self.child))
        check_starts(self.leaf_starts, "starts of leaves", len(self.samples))
        n_members = len(self.node_starts) - 1
        check_array(self.roots, "roots", np.int64, (n_members, None))
        if 0 in (self.roots.shape[1], self.samples.shape[1]):
            raise ValueError("A forest has no trees, or leaves without targets.")
        starts = self.node_starts, self.leaf_starts
        check_walks(self.feature, self.child, self.roots, starts, self.bins.n_columns)

    def predict_members(self, X: np.ndarray) -> np.ndarray:
        """Return the quantiles (n, q, b) of every row in every forest."""
        n_members, per_row = len(self.roots), self.roots.shape[1] * self.samples.shape[1]
        predicted = np.empty((len(X), len(self.quantiles), n_members))
        size = min(ROWS_AT_ONCE, max(1, PLACES_AT_ONCE // (n_members * per_row)))
        places = np.empty((min(size, len(X)), n_members, per_row), np.int32)
        for first in range(0, len(X), size):
            block = slice(first, first + size)
            binned = self.bins.apply(X[block])
            for member in range(n_members):
                _walk_forest(binned, *self._forest(member), places, member)
            by_member = quantiles_of_places(places[: len(binned)], self.targets, self.quantiles)
            predicted[block] = by_member.transpose(0, 2, 1)
        return predicted

    def member(self, number: int) -> ForestBag:
        """Return one forest alone, as views without copies."""
        trees, roots, samples = self._forest(number)
        starts = (np.array([0, len(trees.feature)]), np.array([0, len(samples)]))
        return replace(
            self,
            **trees._asdict(),
            samples=samples,
            roots=roots[None],
            node_starts=starts[0],
            leaf_starts=starts[1],
        )

    def _forest(self, member: int) -> tuple[Nodes, np.ndarray, np.ndarray]:
        nodes = slice(*self.node_starts[member : member + 2])
        leaves = slice(*self.leaf_starts[member : member + 2])
        trees = Nodes(self.feature[nodes], self.threshold[nodes], self.child[nodes])
        return trees, self.roots[member], self.samples[leaves]


def fit_forest_bag(
    X: np.ndarray,
    y: np.ndarray,
    counts: np.ndarray,
    quantiles: np.ndarray,
    grains: Grains = EVEN,
    *,
    leaf_targets: np.ndarray | None = None,
    n_trees: int,
    min_samples_leaf: int,
    samples_per_leaf: int,
    max_bins: int,
    seeds: np.ndarray,
    n_jobs: int | None,
    stage: str,
) -> ForestBag:
    """Grow one forest per row of `counts` (b, n); member i depends on seeds[i] alone.

    y decides the splits; leaves keep `leaf_targets` of their rows, by default y as well. A tree
    makes as many draws as the member weighs, and draws each row in proportion to its weight.
    """
    bins = Bins.from_data(X, max_bins, grains.of_rows, MAX_COLUMNS)
    all_columns = ForestColumns.from_bins(bins, X)
    screen = Screen.from_bins(all_columns.binned, grains)
    n_draws = np.maximum(np.rint(grains.drawn(counts)), 1).astype(np.int64)
    drawn_once, sum_bits = pack_targets(y, int(n_draws.max()))
    leaf_weight = least_leaf_weight(min_samples_leaf)
    values = y if leaf_targets is None else leaf_targets
    targets = np.unique(values)
    places = _places(values, targets)
    forests: list[tuple[np.ndarray, ...]] = [()] * len(counts)

    def grow(member: int, stop: np.ndarray) -> None:
        own_counts = grains.times(counts[member])
        seen = None if screen is None else screen.columns(y, own_counts)
        columns = all_columns if seen is None else all_columns.take(seen)
        growth = Growth.for_columns(columns, sum_bits, leaf_weight)
        sample = np.repeat(np.arange(len(y), dtype=np.uint32), own_counts)
        most_leaves = n_trees * max_leaves(int(n_draws[member]), growth.leaf_weight)
        nodes = Nodes.empty(2 * most_leaves)
        samples = np.empty((most_leaves, samples_per_leaf), np.int32)
        roots = np.empty(n_trees, np.int64)
        n_nodes, n_leaves = _grow_forest(
            columns,
            growth,
            Workspace.for_weight(columns, growth, int(n_draws[member])),
            sample,
            n_draws[member],
            drawn_once,
            places,
            np.array([seeds[member]], np.uint64),
            stop,
            nodes,
            roots,
            samples,
        )
        for array in nodes:
            _shorten(array, n_nodes)
        if seen is not None:
            nodes.feature[:] = seen[nodes.feature]
        _shorten(samples, n_leaves)
        forests[member] = (*nodes, samples, roots)

    run_threads(grow, len(counts), n_jobs=n_jobs, stage=stage)
    return ForestBag(bins, quantiles, targets, *_end_to_end(forests))


def least_leaf_weight(min_samples_leaf: int) -> int:
    """The least weight of a leaf that stands for `min_samples_leaf` different rows.

    scikit-learn counts the different rows in a leaf. Here weights decide, so that copies of a row
    and its weight mean the same. An inner bootstrap draws each row that it draws at all
    1 / (1 - 1/e) = 1.58 times on average: 10 rows weigh 16. A single row may weigh 1.
    """
    return 1 if min_samples_leaf == 1 else round(min_samples_leaf / (1 - 1 / e))


def pack_targets(y: np.ndarray, weight: int) -> tuple[np.ndarray, int]:
    """Return what one draw of each row adds, 1 << sum_bits plus its whole target; and sum_bits.

    Targets get as many bits as possible, but neither the sum over rows of this total weight nor
    that sum times the weight may overflow: 32 bits for 12,000 rows, 15 for ten million.
    """
    weight_bits = weight.bit_length()
    target_bits = min(MAX_TARGET_BITS, 63 - 2 * weight_bits)
    if target_bits < MIN_TARGET_BITS:
        raise ValueError(f"A forest takes at most {2**27 - 1} rows, got {weight}.")
    low, high = y.min(), y.max()
    levels = y - low  # changed in place: a million rows are 8 MB
    if high > low:
        levels /= high - low
    levels *= 2.0**target_bits - 1
    drawn_once = np.rint(levels, out=levels).astype(np.int64)
    sum_bits = weight_bits + target_bits
    drawn_once += 1 << sum_bits
    return drawn_once, sum_bits


def _places(y: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the place of every y in `targets`, without arrays of 8 bytes per row on the way."""
    places = np.empty(len(y), np.int32)
    for first in range(0, len(y), ROWS_AT_ONCE):
        block = slice(first, first + ROWS_AT_ONCE)
        places[block] = np.searchsorted(targets, y[block])
    return places


@kernel
def _grow_forest(
    columns: ForestColumns,
    growth: Growth,
    workspace: Workspace,
    sample: np.ndarray,
    n_draws: Whole,
    drawn_once: np.ndarray,
    places: np.ndarray,
    rng: np.ndarray,
    stop: np.ndarray,
    nodes: Nodes,
    roots: np.ndarray,
    samples: np.ndarray,
) -> tuple[Whole, Whole]:
    """Fill `nodes`, `roots` and `samples`, and return the numbers of nodes and of leaves."""
    n_nodes = n_leaves = np.int64(0)
    for tree in range(len(roots)):
        if stop[0] != 0:
            break
        _draw_bootstrap(rng, sample, n_draws, drawn_once, workspace.packed)
        n_new = grow_tree(columns, growth, workspace, nodes, n_nodes, n_leaves)
        for leaf in range(n_new):
            _keep_targets(rng, workspace, growth.sum_bits, leaf, places, samples[n_leaves + leaf])
        roots[tree] = n_nodes
        n_nodes += 2 * n_new - 1
        n_leaves += n_new
    return n_nodes, n_leaves


@inlined
def _draw_bootstrap(
    rng: np.ndarray, sample: np.ndarray, n_draws: Whole, drawn_once: np.ndarray, packed: np.ndarray
) -> None:
    packed[:] = 0
    for _ in range(n_draws):
        row = sample[random_below(rng, len(sample))]
        packed[row] += drawn_once[row]


@inlined
def _keep_targets(
    rng: np.ndarray,
    workspace: Workspace,
    sum_bits: Whole,
    leaf: Whole,
    places: np.ndarray,
    samples: np.ndarray,
) -> None:
    """Keep the targets of len(samples) draws in a leaf, taken at equal steps from a random start.

    Each draw is as likely as any other, and none comes twice while there are enough of them.
    """
    packed, rows = workspace.packed, workspace.rows
    start, stop = workspace.leaf_rows[leaf, 0], workspace.leaf_rows[leaf, 1]
    weight = np.int64(0)
    for i in range(start, stop):
        weight += packed[rows[i]] >> sum_bits
    step = weight / len(samples)
    position = random_unit(rng) * step
    i = start
    weight_so_far = packed[rows[i]] >> sum_bits
    for sample in range(len(samples)):
        # Rounding may carry the last position past the end.
        while weight_so_far <= position and i + 1 < stop:
            i += 1
            weight_so_far += packed[rows[i]] >> sum_bits
        samples[sample] = places[rows[i]]
        position += step


def _shorten(array: np.ndarray, length: int) -> None:
    """Cut off the end of an array in place: a copy would hold a large forest twice."""
    array.resize((length, *array.shape[1:]), refcheck=False)


def _end_to_end(forests: list[tuple[np.ndarray, ...]]) -> list[np.ndarray]:
    """Return the last seven fields of a ForestBag; empty `forests`, so as to hold little twice."""
    *parts, roots = map(list, zip(*forests, strict=True))
    forests.clear()
    node_starts, leaf_starts = (np.cumsum([0, *map(len, parts[k])]) for k in (0, -1))
    joined = [_join(arrays) for arrays in parts]
    return [*joined, np.stack(roots), node_starts, leaf_starts]


def _join(arrays: list[np.ndarray]) -> np.ndarray:
    """Concatenate the arrays, and drop each as soon as it is copied."""
    if len(arrays) == 1:
        return arrays.pop()
    joined = np.empty((sum(map(len, arrays)), *arrays[0].shape[1:]), arrays[0].dtype)
    start = 0
    while arrays:
        array = arrays.pop(0)
        joined[start : start + len(array)] = array
        start += len(array)
    return joined


@kernel
def _walk_forest(
    binned: np.ndarray,
    nodes: Nodes,
    roots: np.ndarray,
    samples: np.ndarray,
    places: np.ndarray,
    member: Whole,
) -> None:
    """Copy to `places[:, member]` the places that the leaves of each row keep.

    A row goes down four trees side by side: while one waits for memory, the others go on.
    """
    feature, threshold, child = nodes
    last = len(roots) - 1
    for first in range(0, len(binned), ROWS_PER_WALK):
        for tree in range(0, len(roots), 4):
            # Past the end the last tree is walked again, with the same result.
            second, third, fourth = min(tree + 1, last), min(tree + 2, last), min(tree + 3, last)
            for row in range(first, min(first + ROWS_PER_WALK, len(binned))):
                a, b, c, d = roots[tree], roots[second], roots[third], roots[fourth]
                while (child[a] > 0) | (child[b] > 0) | (child[c] > 0) | (child[d] > 0):
                    a = next_node(binned, row, feature, threshold, child, a)
                    b = next_node(binned, row, feature, threshold, child, b)
                    c = next_node(binned, row, feature, threshold, child, c)
                    d = next_node(binned, row, feature, threshold, child, d)
                _copy_samples(samples, child[a], places, row, member, tree)
                _copy_samples(samples, child[b], places, row, member, second)
                _copy_samples(samples, child[c], places, row, member, third)
                _copy_samples(samples, child[d], places, row, member, fourth)


@inlined
def next_node(
    binned: np.ndarray,
    row: Whole,
    feature: np.ndarray,
    threshold: np.ndarray,
    child: np.ndarray,
    node: Whole,
) -> Whole:
    """Return the child of a node that the row goes to, or the node itself if it is a leaf."""
    if child[node] <= 0:
        return node
    return child[node] + (binned[row, feature[node]] > threshold[node])


@inlined
def _copy_samples(
    samples: np.ndarray, child: Whole, places: np.ndarray, row: Whole, member: Whole, tree: Whole
) -> None:
    per_leaf = samples.shape[1]
    for sample in range(per_leaf):
        places[row, member, tree * per_leaf + sample] = samples[-1 - child, sample]
