"""The forest: its predictions against a slow walk, and laws of seeds, units and leaves."""

import pickle

import numpy as np
import pytest

from clearbands.engine.forest import (
    ROWS_AT_ONCE,
    ForestBag,
    fit_forest_bag,
    least_leaf_weight,
    pack_targets,
)
from clearbands.engine.quantiles import sorted_quantiles
from clearbands.models.seeds import member_seeds
from clearbands.rows.draws import Bootstraps

QUANTILES = np.array([0.05, 0.5, 0.95])


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
    """Predict row by row and tree by tree, with np.quantile at the end."""
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
                found.extend(bag.targets[bag.samples[first_leaf - 1 - child]])
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
    for name in ("feature", "threshold", "child", "samples", "roots"):
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
        kept = bag.samples[bag.leaf_starts[member] : bag.leaf_starts[member + 1]]
        assert np.isin(bag.targets[kept], y[drawn > 0]).all()


def test_every_draw_of_a_leaf_is_kept_equally_often():
    """Three rows of one leaf, drawn 1, 1 and 2 times, are kept in these proportions."""
    counts = np.array([[1, 1, 2]], np.uint8)
    bag = fit(np.zeros((3, 1)), np.arange(3.0), counts, n_trees=20_000)
    share = np.bincount(bag.samples[:, 0]) / 20_000
    assert np.allclose(share, [0.25, 0.25, 0.5], atol=0.015)


def test_samples_of_a_leaf_are_different_draws():
    """A leaf of 50 draws that may keep 50 keeps exactly its bootstrap."""
    y = np.arange(50.0)
    bag = fit(np.zeros((50, 1)), y, np.ones((1, 50), np.uint8), n_trees=50, samples_per_leaf=50)
    distinct = np.array([len(np.unique(kept)) for kept in bag.samples])
    assert abs(distinct.mean() - 50 * (1 - (1 - 1 / 50) ** 50)) < 1.5


def test_leaves_of_one_row():
    X = np.arange(30.0)[:, None]
    counts = np.ones((1, 30), np.uint8)
    bag = fit(X, X[:, 0], counts, n_trees=300, min_samples_leaf=1)
    assert np.allclose(bag.predict_members(X)[:, 1, 0], X[:, 0], atol=1.0)
    drawn_rows = len(bag.samples) / 300
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
    assert len(bag.samples) == 2 * 20


def test_quantiles_equal_sorted_quantiles():
    """With one leaf per tree, the forest's quantiles are those of the kept targets."""
    rng = np.random.RandomState(0)
    y = rng.normal(size=40)
    bag = fit(np.zeros((40, 1)), y, np.ones((1, 40), np.uint8), n_trees=33)
    expected = sorted_quantiles(bag.targets[bag.samples[:, 0]], QUANTILES)
    assert np.allclose(bag.predict_members(np.zeros((1, 1)))[0, :, 0], expected, rtol=1e-15)


def test_pickle_keeps_predictions(data):
    X, y, counts = data
    bag = fit(X, y, counts)
    copy = pickle.loads(pickle.dumps(bag))
    assert np.array_equal(bag.predict_members(X), copy.predict_members(X))


def test_too_many_columns_are_refused():
    with pytest.raises(ValueError, match="at most 65536 columns, got 65537"):
        fit(np.zeros((2, 65537)), np.arange(2.0), np.ones((1, 2), np.uint8))
