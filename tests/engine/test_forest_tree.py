"""One tree of the forest against a slow and obvious implementation, and laws of weights."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from clearbands.engine.binning import Bins
from clearbands.engine.forest import (
    pack_targets,
)
from clearbands.engine.forest_tree import ForestColumns, Growth, Nodes, Workspace, grow_tree

grow_tree_from_python = njit(grow_tree.py_func)


def grow(X, y, weights, *, leaf_weight, dense_weight=None, max_bins=256):
    """Grow one tree on rows with the given weights; return its nodes and the rows of its leaves."""
    columns = ForestColumns.from_bins(Bins.from_data(X, max_bins), X)
    weight = int(weights.sum())
    drawn_once, sum_bits = pack_targets(y, weight)
    growth = Growth.for_columns(columns, sum_bits, leaf_weight)
    if dense_weight is not None:
        growth = growth._replace(dense_weight=dense_weight)
    workspace = Workspace.for_weight(columns, growth, weight)
    workspace.packed[:] = weights * drawn_once
    nodes = Nodes.empty(2 * len(workspace.leaf_rows))
    n_leaves = grow_tree_from_python(columns, growth, workspace, nodes, 0, 0)
    leaves = [np.sort(workspace.rows[start:stop]) for start, stop in workspace.leaf_rows[:n_leaves]]
    assert not workspace.sparse.any()
    assert not workspace.occupied.any()
    return Nodes(*(array[: 2 * n_leaves - 1] for array in nodes)), leaves


def tree_of(nodes, leaves, node=0):
    """Return the tree as nested (feature, threshold, left, right); leaves are tuples of rows."""
    child = nodes.child[node]
    if child <= 0:
        return tuple(leaves[-1 - child].tolist())
    split = int(nodes.feature[node]), int(nodes.threshold[node])
    return *split, tree_of(nodes, leaves, child), tree_of(nodes, leaves, child + 1)


def slow_tree(binned, targets, weights, rows, leaf_weight):
    """Grow the tree with exact fractions, trying every bin of every column."""
    best_error, best = _squared_error(targets, weights, rows), None
    for column in range(binned.shape[1]):
        values = np.unique(binned[rows, column])
        for last_left, first_right in zip(values[:-1].tolist(), values[1:].tolist(), strict=True):
            goes_left = binned[rows, column] <= last_left
            left, right = rows[goes_left], rows[~goes_left]
            if min(weights[left].sum(), weights[right].sum()) < leaf_weight:
                continue
            error = _squared_error(targets, weights, left) + _squared_error(targets, weights, right)
            if error < best_error:
                best_error, best = error, (column, (last_left + first_right - 1) // 2, left, right)
    if best is None:
        return tuple(rows.tolist())
    column, threshold, left, right = best
    return (
        column,
        threshold,
        slow_tree(binned, targets, weights, left, leaf_weight),
        slow_tree(binned, targets, weights, right, leaf_weight),
    )


def _squared_error(targets, weights, rows):
    drawn = [(int(weights[row]), int(targets[row])) for row in rows]
    weight = sum(w for w, _ in drawn)
    return sum(w * t * t for w, t in drawn) - Fraction(sum(w * t for w, t in drawn) ** 2, weight)


@pytest.mark.parametrize("leaf_weight", [1, 5, 16])
@pytest.mark.parametrize("dense_weight", [1, 20, 1000], ids=["dense", "mixed", "sparse"])
def test_tree_equals_slow_implementation(leaf_weight, dense_weight):
    rng = np.random.RandomState(leaf_weight)
    X = np.column_stack(
        [rng.normal(size=(90, 2)), rng.randint(4, size=90), rng.randint(2, size=90), np.ones(90)]
    )
    y = X[:, 0] + X[:, 2] * X[:, 3] + rng.normal(size=90)
    weights = rng.poisson(1.0, size=90)
    fast = tree_of(*grow(X, y, weights, leaf_weight=leaf_weight, dense_weight=dense_weight))
    drawn_once, sum_bits = pack_targets(y, int(weights.sum()))
    targets = drawn_once - (1 << sum_bits)
    binned = Bins.from_data(X).apply(X)
    assert fast == slow_tree(binned, targets, weights, np.flatnonzero(weights), leaf_weight)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**31 - 1),
    n=st.integers(2, 40),
    leaf_weight=st.integers(1, 8),
    dense_weight=st.integers(1, 60),
)
def test_weights_equal_repetition(seed, n, leaf_weight, dense_weight):
    rng = np.random.RandomState(seed)
    X, y = rng.randint(6, size=(n, 3)).astype(float), rng.randint(5, size=n).astype(float)
    weights = rng.randint(1, 5, size=n)
    copies = np.repeat(np.arange(n), weights)
    limits = {"leaf_weight": leaf_weight, "dense_weight": dense_weight}
    weighted, leaves = grow(X, y, weights, **limits)
    repeated, leaves_of_copies = grow(X[copies], y[copies], np.ones(len(copies), int), **limits)
    for name in Nodes._fields:
        assert np.array_equal(getattr(weighted, name), getattr(repeated, name))
    for leaf, leaf_of_copies in zip(leaves, leaves_of_copies, strict=True):
        assert np.array_equal(np.repeat(leaf, weights[leaf]), np.sort(copies[leaf_of_copies]))


def test_leaves_part_the_drawn_rows_and_weigh_enough():
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(2000, 3)), rng.normal(size=2000)
    weights = rng.poisson(1.0, size=2000)
    _, leaves = grow(X, y, weights, leaf_weight=16)
    assert np.array_equal(np.sort(np.concatenate(leaves)), np.flatnonzero(weights))
    assert min(weights[leaf].sum() for leaf in leaves) >= 16


def test_lopsided_trees_need_little_memory():
    """Exploding targets split off one row at a time, into a chain as deep as there are rows."""
    X, y = np.arange(20.0)[:, None], 3.0 ** np.arange(20)
    nodes, leaves = grow(X, y, np.ones(20, int), leaf_weight=1, dense_weight=1)
    assert len(leaves) == 20
    assert np.array_equal(nodes.threshold[nodes.child > 0], np.arange(18, -1, -1))


def test_constant_target_and_constant_columns_do_not_split():
    rng = np.random.RandomState(0)
    weights = np.ones(50, int)
    assert len(grow(rng.normal(size=(50, 2)), np.full(50, 0.1), weights, leaf_weight=1)[1]) == 1
    assert len(grow(np.ones((50, 2)), rng.normal(size=50), weights, leaf_weight=1)[1]) == 1


def test_equal_columns_tie_to_the_first_also_when_mirrored():
    rng = np.random.RandomState(0)
    x, y = rng.normal(size=300), rng.normal(size=300)
    weights = rng.poisson(1.0, size=300)
    nodes, _ = grow(np.column_stack([x, -x, x]), y, weights, leaf_weight=5)
    assert np.all(nodes.feature == 0)


def test_equal_values_stay_together():
    x = np.repeat([0.0, 1.0, 2.0], 20)
    nodes, leaves = grow(x[:, None], np.arange(60.0), np.ones(60, int), leaf_weight=1)
    assert sorted(len(leaf) for leaf in leaves) == [20, 20, 20]
    assert nodes.threshold[nodes.child > 0].max() <= 1


def test_threshold_lies_halfway_between_the_bins_it_parts():
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    weights = np.array([1, 0, 0, 0, 0, 1])
    nodes, _ = grow(x[:, None], x, weights, leaf_weight=1)
    assert nodes.threshold[0] == 2


def test_more_than_256_distinct_values():
    rng = np.random.RandomState(0)
    x = rng.permutation(5000).astype(float)
    nodes, leaves = grow(x[:, None], x, np.ones(5000, int), leaf_weight=1)
    assert len(leaves) == 256
    assert nodes.threshold.max() == 254


def test_one_hot_columns_cost_two_bins_each():
    X = np.eye(300)[np.random.RandomState(0).randint(300, size=2000)]
    columns = ForestColumns.from_bins(Bins.from_data(X), X)
    growth = Growth.for_columns(columns, 40, 16)
    workspace = Workspace.for_weight(columns, growth, 2000)
    assert columns.n_bins <= 600
    assert workspace.dense.nbytes < 50_000


def test_workers_need_little_memory_per_row():
    n = 100_000
    X = np.random.RandomState(0).normal(size=(n, 4))
    columns = ForestColumns.from_bins(Bins.from_data(X), X)
    workspace = Workspace.for_weight(columns, Growth.for_columns(columns, 40, 16), n)
    assert sum(array.nbytes for array in workspace) < 20 * n
