"""Bags of boosted quantiles: laws of rows, units, weights and threads."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearbands.engine.binning import MAX_COLUMNS
from tests.engine.boosted_bags import fit, problem

ARRAYS = ("init", "feature", "threshold", "value")


def assert_same(one, other):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def test_members_are_the_sums_of_their_leaves():
    X, y, rng = problem(80, 3)
    counts = [np.bincount(rng.randint(80, size=80), minlength=80) for _ in range(3)]
    bag = fit(X, y, counts, [0.2, 0.7])
    new = rng.uniform(size=(300, 3))  # more than one block of rows
    members = bag.predict_members(new)
    assert members.shape == (300, 2, 3)
    binned = bag.bins.apply(new)
    for i, q, b in [(0, 0, 0), (7, 1, 2), (255, 0, 1), (256, 1, 0), (299, 1, 2)]:
        expected = bag.init[q, b]
        for feature, threshold, value in zip(
            bag.feature[b, q], bag.threshold[b, q], bag.value[b, q], strict=True
        ):
            node = 0
            while node < len(feature):
                node = 2 * node + 1 + int(binned[i, feature[node]] > threshold[node])
            expected += value[node - len(feature)]
        assert members[i, q, b] == expected * bag.unit[b]


@pytest.mark.parametrize("n_trees", [1, 4, 7])
def test_few_rows_are_predicted_as_among_many(n_trees):
    X, y, rng = problem(80, 3)
    bag = fit(X, y, [np.ones(80, int)], [0.2, 0.7], n_trees=n_trees)
    new = rng.uniform(size=(9, 3))
    members = bag.predict_members(new)
    for n in range(1, 9):
        np.testing.assert_array_equal(bag.predict_members(new[:n]), members[:n])


@settings(max_examples=40, deadline=None)
@given(
    counts=st.lists(st.integers(0, 4), min_size=8, max_size=40).filter(lambda c: sum(c) > 1),
    tau=st.sampled_from([0.05, 0.5, 0.95]),
    seed=st.integers(0, 1000),
)
def test_weights_equal_repeated_rows(counts, tau, seed):
    X, y, _ = problem(len(counts), 2, seed)
    rows = np.repeat(np.arange(len(counts)), counts)
    weighted, repeated = fit(X, y, [counts], [tau]), fit(X[rows], y[rows], None, [tau])
    np.testing.assert_array_equal(
        weighted.predict_members(X[rows]), repeated.predict_members(X[rows])
    )


def test_constant_columns_are_never_used():
    X, y, _ = problem(200, 1)
    X = np.column_stack([np.ones(200), X, np.zeros(200)])
    bag = fit(X, y)
    assert np.all(bag.feature[bag.threshold < 255] == 1)
    assert np.any(bag.threshold < 255)


def test_constant_targets_are_returned_exactly():
    X, _, _ = problem(50, 2)
    bag = fit(X, np.full(50, 0.1), quantiles=(0.05, 0.5, 0.95))
    np.testing.assert_array_equal(bag.predict_members(X), 0.1)


def test_too_many_columns_are_refused():
    X = np.zeros((2, MAX_COLUMNS + 1))
    with pytest.raises(ValueError, match=r"at most 65535 columns, got 65536"):
        fit(X, np.array([0.0, 1.0]))


@pytest.mark.parametrize("n", [60, 2000])
def test_threads_and_repetition_change_nothing(n):
    X, y, rng = problem(n, 4)
    counts = [np.bincount(rng.randint(n, size=n), minlength=n) for _ in range(5)]
    settings = {"quantiles": (0.1, 0.5), "n_trees": 10, "max_depth": 6}
    first = fit(X, y, counts, **settings)
    assert_same(first, fit(X, y, counts, **settings))
    assert_same(first, fit(X, y, counts, n_jobs=2, **settings))


def test_a_member_does_not_depend_on_its_bag():
    X, y, rng = problem(100, 3)
    counts = [np.bincount(rng.randint(100, size=100), minlength=100) for _ in range(3)]
    bag = fit(X, y, counts, quantiles=(0.1, 0.5))
    alone = fit(X, y, counts[2:], quantiles=(0.5,))
    np.testing.assert_array_equal(
        bag.predict_members(X)[:, 1, 2], alone.predict_members(X)[:, 0, 0]
    )


@pytest.mark.parametrize("factor", [2.0**-900, 0.25, 2.0**40, 2.0**900])
def test_scaling_by_powers_of_two_is_exact(factor):
    X, y, _ = problem(150, 3)
    plain = fit(X, y, n_trees=20).predict_members(X)
    np.testing.assert_array_equal(fit(X, factor * y, n_trees=20).predict_members(X), factor * plain)


def test_a_large_shift_costs_no_accuracy():
    X, y, _ = problem(150, 3)
    y = np.round(y * 2**12) / 2**12  # so that y + shift is exact
    shift = 2.0**30
    plain = fit(X, y, n_trees=20).predict_members(X)
    shifted = fit(X, y + shift, n_trees=20).predict_members(X) - shift
    np.testing.assert_allclose(shifted, plain, atol=1e-5)


def test_a_bag_survives_pickling():
    X, y, _ = problem(60, 2)
    bag = fit(X, y)
    again = pickle.loads(pickle.dumps(bag))
    np.testing.assert_array_equal(again.predict_members(X), bag.predict_members(X))
