"""The trees against a slow and obvious second implementation, and the laws of weights."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from clearbands.engine.binning import Bins
from clearbands.engine.bits import lowest_bit, random_below, random_unit
from clearbands.engine.forest import (
    ROWS_AT_ONCE,
    ForestBag,
    fit_forest_bag,
    least_leaf_weight,
    pack_targets,
)
from clearbands.engine.forest_tree import Columns, Growth, Nodes, Workspace, grow_tree
from clearbands.engine.quantiles import sorted_quantiles
from clearbands.models.bagging import Bootstraps, member_seeds

QUANTILES = np.array([0.05, 0.5, 0.95])

grow_tree_from_python = njit(grow_tree.py_func)


def grow(X, y, weights, *, leaf_weight, dense_weight=None, max_bins=256):
    """One tree as (Nodes, rows per leaf), on rows with the given weights."""
    columns = Columns.from_bins(Bins.from_data(X, max_bins), X)
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
    """Nested (feature, threshold, left, right); leaves are tuples of rows."""
    child = nodes.child[node]
    if child <= 0:
        return tuple(leaves[-1 - child].tolist())
    split = int(nodes.feature[node]), int(nodes.threshold[node])
    return *split, tree_of(nodes, leaves, child), tree_of(nodes, leaves, child + 1)


def slow_tree(binned, targets, weights, rows, leaf_weight):
    """The same tree in exact fractions: every bin of every column is tried."""
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
    """Exploding targets split off one row at a time: a chain as deep as there are rows."""
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


@pytest.mark.parametrize("weight", [1, 1000, 2**20, 10_000_000, 2**27 - 1])
def test_packed_sums_cannot_overflow(weight):
    packed, sum_bits = pack_targets(np.array([-3.0, 7.0]), weight)
    largest_target = int(packed[1]) - (1 << sum_bits)
    assert largest_target >= 255
    assert weight * largest_target < 1 << sum_bits
    assert weight * int(packed[1]) < 2**63
    assert weight * largest_target * weight < 2**63


def test_too_many_rows_are_refused():
    with pytest.raises(ValueError, match="at most 134217727 rows"):
        pack_targets(np.array([0.0, 1.0]), 2**27)


def test_least_leaf_weight():
    assert [least_leaf_weight(k) for k in (1, 2, 10, 100)] == [1, 3, 16, 158]


def test_random_numbers_are_splitmix64_and_uniform():
    state = np.array([1234567], np.uint64)
    # The published first output of splitmix64 for this seed is 6457827717110365317.
    assert njit(random_unit.py_func)(state) == (6457827717110365317 >> 11) / 2**53
    below = njit(random_below.py_func)
    drawn = np.bincount([below(state, 7) for _ in range(70_000)], minlength=7)
    assert len(drawn) == 7
    assert np.abs(drawn - 10_000).max() < 500


@pytest.mark.parametrize("place", [0, 1, 31, 63])
def test_lowest_bit(place):
    lowest = njit(lambda word: lowest_bit(word))
    assert lowest(np.uint64(1 << place | 1 << 63)) == place


def fit(X, y, counts, *, seed=0, n_jobs=1, n_trees=20, min_samples_leaf=5, samples_per_leaf=1):
    return fit_forest_bag(
        X,
        y,
        counts,
        QUANTILES,
        n_trees=n_trees,
        min_samples_leaf=min_samples_leaf,
        samples_per_leaf=samples_per_leaf,
        max_bins=256,
        seeds=member_seeds(seed, len(counts)),
        n_jobs=n_jobs,
        stage="fit",
    )


@pytest.fixture(scope="module")
def data():
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(400, 3))
    y = 3 * X[:, 0] + (1 + X[:, 1]) * rng.normal(size=400)
    return X, y, Bootstraps.draw(400, 4, rng).counts


def slow_predictions(bag: ForestBag, X):
    """Row by row and tree by tree, with np.quantile at the end."""
    predicted = np.empty((len(X), len(bag.quantiles), len(bag.roots)))
    for i, row in enumerate(bag.bins.apply(X)):
        for member, roots in enumerate(bag.roots):
            first_node, first_leaf = bag.node_starts[member], bag.leaf_starts[member]
            found = []
            for node in roots:
                while (child := bag.child[first_node + node]) > 0:
                    column, threshold = (
                        bag.feature[first_node + node],
                        bag.threshold[first_node + node],
                    )
                    node = child + (row[column] > threshold)
                found.extend(bag.targets[bag.kept[first_leaf - 1 - child]])
            predicted[i, :, member] = np.quantile(found, bag.quantiles)
    return predicted


@pytest.mark.parametrize("samples_per_leaf", [1, 3])
def test_predictions_equal_slow_walk(data, samples_per_leaf):
    X, y, counts = data
    bag = fit(X, y, counts, samples_per_leaf=samples_per_leaf)
    new = np.random.RandomState(1).uniform(-0.2, 1.2, size=(150, 3))
    assert np.allclose(bag.predict_members(new), slow_predictions(bag, new), rtol=1e-14)


def test_rows_are_predicted_alike_in_every_block(data):
    X, y, counts = data
    bag = fit(X, y, counts[:1], n_trees=2)
    many = np.tile(X, (ROWS_AT_ONCE // len(X) + 2, 1))
    predicted = bag.predict_members(many).reshape(-1, *bag.predict_members(X).shape)
    assert np.all(predicted == predicted[0])


def test_threads_change_nothing(data):
    X, y, counts = data
    one, two = fit(X, y, counts, n_jobs=1), fit(X, y, counts, n_jobs=2)
    for name in ("feature", "threshold", "child", "kept", "roots"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


def test_seed_decides(data):
    X, y, counts = data
    first = fit(X, y, counts, seed=1).predict_members(X)
    assert np.array_equal(first, fit(X, y, counts, seed=1).predict_members(X))
    assert not np.array_equal(first, fit(X, y, counts, seed=2).predict_members(X))


def test_members_depend_on_their_own_bootstrap_and_seed_only(data):
    X, y, counts = data
    seeds = member_seeds(0, len(counts))
    together = fit(X, y, counts).predict_members(X)
    alone = fit_forest_bag(
        X,
        y,
        counts[2:3],
        QUANTILES,
        n_trees=20,
        min_samples_leaf=5,
        samples_per_leaf=1,
        max_bins=256,
        seeds=seeds[2:3],
        n_jobs=1,
        stage="fit",
    )
    assert np.array_equal(together[:, :, 2:3], alone.predict_members(X))


def test_equivariance(data):
    X, y, counts = data
    predicted = fit(X, y, counts).predict_members(X)
    moved = fit(X, 1e9 + 4 * y, counts).predict_members(X)
    assert np.allclose((moved - 1e9) / 4, predicted, atol=1e-6)
    mirrored = fit(X, -y, counts).predict_members(X)
    assert np.allclose(-mirrored[:, ::-1], predicted)


def test_rising_maps_of_columns_change_nothing(data):
    X, y, counts = data
    bag, mapped = fit(X, y, counts), fit(np.exp(3 * X), y, counts)
    assert np.array_equal(bag.predict_members(X), mapped.predict_members(np.exp(3 * X)))


def test_only_drawn_targets_are_kept(data):
    X, y, counts = data
    bag = fit(X, y, counts, samples_per_leaf=4)
    for member, drawn in enumerate(counts):
        kept = bag.kept[bag.leaf_starts[member] : bag.leaf_starts[member + 1]]
        assert np.isin(bag.targets[kept], y[drawn > 0]).all()


def test_every_draw_of_a_leaf_is_kept_equally_often():
    """Without splits each of three rows, drawn 1, 1 and 2 times, is kept at its share."""
    counts = np.array([[1, 1, 2]], np.uint8)
    bag = fit(np.zeros((3, 1)), np.arange(3.0), counts, n_trees=20_000)
    share = np.bincount(bag.kept[:, 0]) / 20_000
    assert np.allclose(share, [0.25, 0.25, 0.5], atol=0.015)


def test_samples_of_a_leaf_are_different_draws():
    """A leaf of 50 draws that keeps 50 keeps exactly its bootstrap."""
    y = np.arange(50.0)
    bag = fit(np.zeros((50, 1)), y, np.ones((1, 50), np.uint8), n_trees=50, samples_per_leaf=50)
    distinct = np.array([len(np.unique(kept)) for kept in bag.kept])
    assert abs(distinct.mean() - 50 * (1 - (1 - 1 / 50) ** 50)) < 1.5


def test_leaves_of_one_row():
    X = np.arange(30.0)[:, None]
    counts = np.ones((1, 30), np.uint8)
    bag = fit(X, X[:, 0], counts, n_trees=300, min_samples_leaf=1)
    assert np.allclose(bag.predict_members(X)[:, 1, 0], X[:, 0], atol=1.0)
    drawn_rows = len(bag.kept) / 300
    assert abs(drawn_rows - 30 * (1 - (1 - 1 / 30) ** 30)) < 0.5


def test_two_rows():
    bag = fit(np.array([[0.0], [1.0]]), np.array([2.0, 5.0]), np.ones((1, 2), np.uint8))
    predicted = bag.predict_members(np.array([[0.5]]))
    assert predicted.shape == (1, 3, 1)
    assert np.all((predicted >= 2) & (predicted <= 5))


def test_constant_target():
    X = np.random.RandomState(0).normal(size=(60, 2))
    bag = fit(X, np.full(60, 0.1), np.ones((2, 60), np.uint8))
    assert np.all(bag.predict_members(X) == 0.1)
    assert len(bag.kept) == 2 * 20


def test_quantiles_equal_sorted_quantiles():
    """One leaf per tree: the forest's quantiles are those of the kept targets."""
    rng = np.random.RandomState(0)
    y = rng.normal(size=40)
    bag = fit(np.zeros((40, 1)), y, np.ones((1, 40), np.uint8), n_trees=33)
    expected = sorted_quantiles(bag.targets[bag.kept[:, 0]], QUANTILES)
    assert np.allclose(bag.predict_members(np.zeros((1, 1)))[0, :, 0], expected, rtol=1e-15)


def test_pickle_keeps_predictions(data):
    X, y, counts = data
    bag = fit(X, y, counts)
    copy = pickle.loads(pickle.dumps(bag))
    assert np.array_equal(bag.predict_members(X), copy.predict_members(X))


def test_one_hot_columns_cost_two_bins_each():
    X = np.eye(300)[np.random.RandomState(0).randint(300, size=2000)]
    columns = Columns.from_bins(Bins.from_data(X), X)
    growth = Growth.for_columns(columns, 40, 16)
    workspace = Workspace.for_weight(columns, growth, 2000)
    assert columns.n_bins <= 600
    assert workspace.dense.nbytes < 50_000


def test_workers_need_little_memory_per_row():
    n = 100_000
    X = np.random.RandomState(0).normal(size=(n, 4))
    columns = Columns.from_bins(Bins.from_data(X), X)
    workspace = Workspace.for_weight(columns, Growth.for_columns(columns, 40, 16), n)
    assert sum(array.nbytes for array in workspace) < 20 * n


def test_too_many_columns_are_refused():
    with pytest.raises(ValueError, match="at most 65536 columns, got 65537"):
        fit(np.zeros((2, 65537)), np.arange(2.0), np.ones((1, 2), np.uint8))
