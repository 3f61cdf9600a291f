"""Bags of symmetric trees: laws of rows, units, weights and unseen members."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearbands.engine.binning import MAX_COLUMNS
from clearbands.engine.grains import EVEN
from clearbands.engine.symmetric import GrowingBag, Rule
from tests.engine.symmetric_bags import ARRAYS, LOSSES, bootstraps, fit, predict, problem


def assert_same(one, other):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def folds(n, n_folds, repeats, rng):
    """Return counts (folds x repeats, n), where each member leaves out one fold."""
    fold = np.arange(n) % n_folds
    own = np.arange(n_folds)[:, None]
    return np.concatenate([rng.permutation(fold) != own for _ in range(repeats)]).astype(np.uint8)


@LOSSES
@pytest.mark.parametrize("max_bins", [4, 256])
def test_the_order_of_rows_changes_nothing(absolute, max_bins):
    X, y, rng = problem(300, 3)
    counts = bootstraps(300, 2, rng)
    order = rng.permutation(300)
    plain = fit(X, y, counts, absolute=absolute, max_bins=max_bins, n_trees=20)
    shuffled = fit(
        X[order], y[order], counts[:, order], absolute=absolute, max_bins=max_bins, n_trees=20
    )
    assert_same(plain, shuffled)


@LOSSES
def test_threads_and_repetition_change_nothing(absolute):
    X, y, rng = problem(400, 4)
    settings = {"absolute": absolute, "n_trees": 20, "max_depth": 6, "max_bins": 32}
    counts = bootstraps(400, 5, rng)
    first = fit(X, y, counts, **settings)
    assert_same(first, fit(X, y, counts, **settings))
    assert_same(first, fit(X, y, counts, n_jobs=2, **settings))
    many = rng.uniform(size=(20_000, 4))
    np.testing.assert_array_equal(predict(first, many), first.predict_members(many, n_jobs=2)[:, 0])


def test_a_member_does_not_depend_on_its_bag():
    X, y, rng = problem(100, 3)
    counts = bootstraps(100, 3, rng)
    bag, alone = fit(X, y, counts), fit(X, y, counts[2:], seeds=np.array([2]))
    np.testing.assert_array_equal(predict(bag, X)[:, 2:], predict(alone, X))


@settings(max_examples=40, deadline=None)
@given(
    counts=st.lists(st.integers(0, 4), min_size=8, max_size=40).filter(lambda c: sum(c) > 1),
    absolute=st.booleans(),
    max_bins=st.sampled_from([3, 256]),
    seed=st.integers(0, 1000),
)
def test_weights_equal_repeated_rows(counts, absolute, max_bins, seed):
    X, y, _ = problem(len(counts), 2, seed)
    rows = np.repeat(np.arange(len(counts)), counts)
    settings = {"absolute": absolute, "max_bins": max_bins}
    weighted = fit(X, y, np.array([counts], np.int32), **settings)
    repeated = fit(X[rows], y[rows], **settings)
    np.testing.assert_array_equal(predict(weighted, X[rows]), predict(repeated, X[rows]))


@LOSSES
@pytest.mark.parametrize("factor", [2.0**-900, 0.25, 2.0**40, 2.0**900])
def test_scaling_by_powers_of_two_is_exact(factor, absolute):
    X, y, _ = problem(150, 3)
    plain = predict(fit(X, y, n_trees=20, absolute=absolute), X)
    scaled = predict(fit(X, factor * y, n_trees=20, absolute=absolute), X)
    np.testing.assert_array_equal(scaled, factor * plain)


@LOSSES
def test_any_unit_and_a_large_shift_cost_no_accuracy(absolute):
    X, y, _ = problem(150, 3)
    y = np.round(y * 2**12) / 2**12  # so that y + shift is exact
    shift = 2.0**30
    plain = predict(fit(X, y, n_trees=20, absolute=absolute), X)
    shifted = predict(fit(X, y + shift, n_trees=20, absolute=absolute), X) - shift
    np.testing.assert_allclose(shifted, plain, atol=1e-5)
    other_unit = predict(fit(X, 1.8 * y, n_trees=20, absolute=absolute), X)
    np.testing.assert_allclose(other_unit, 1.8 * plain, atol=1e-5)


def test_the_first_trees_are_those_of_a_shorter_fit():
    X, y, rng = problem(120, 3)
    counts = folds(120, 4, 1, rng)
    long, short = fit(X, y, counts, n_trees=20), fit(X, y, counts, n_trees=8)
    np.testing.assert_array_equal(predict(long.first(8), X), predict(short, X))
    np.testing.assert_array_equal(
        long.first(8).predict_unseen(X, counts), short.predict_unseen(X, counts)
    )


@LOSSES
def test_members_may_have_targets_of_their_own(absolute):
    X, y, rng = problem(100, 2)
    counts, targets = bootstraps(100, 2, rng), np.array([y, 9 * X[:, 0] - y])
    together = predict(fit(X, targets, counts, absolute=absolute), X)
    for member in (0, 1):
        one = slice(member, member + 1)
        alone = fit(X, targets[member], counts[one], absolute=absolute, seeds=np.array([member]))
        np.testing.assert_array_equal(together[:, one], predict(alone, X))


class TestUnseen:
    def test_folds_give_as_many_members_as_repeats(self):
        X, y, rng = problem(103, 3)
        counts = folds(103, 5, 3, rng)
        bag = fit(X, y, counts)
        unseen = bag.predict_unseen(X, counts)
        assert unseen.shape == (103, 3)
        everyone = predict(bag, X)
        for i in range(103):
            np.testing.assert_array_equal(unseen[i], everyone[i, counts[:, i] == 0])
        np.testing.assert_array_equal(bag.predict_unseen(X, counts, n_jobs=2), unseen)

    def test_bootstraps_are_filled_up(self):
        X, y, rng = problem(60, 2)
        counts = bootstraps(60, 4, rng)
        counts[:, 0] = 1  # every member saw this row
        bag = fit(X, y, counts)
        unseen, everyone = bag.predict_unseen(X, counts), predict(bag, X)
        n_unseen = (counts == 0).sum(axis=0)
        assert unseen.shape == (60, n_unseen.max())
        for i in range(60):
            np.testing.assert_array_equal(unseen[i, : n_unseen[i]], everyone[i, counts[:, i] == 0])
            assert np.isnan(unseen[i, n_unseen[i] :]).all()

    def test_nobody_left_out(self):
        X, y, _ = problem(20, 2)
        counts = np.ones((3, 20), np.uint8)
        assert fit(X, y, counts).predict_unseen(X, counts).shape == (20, 0)


@LOSSES
class TestDegenerateRows:
    @pytest.mark.parametrize("n", [1, 2, 5])
    def test_few_rows(self, absolute, n):
        X, y = np.arange(float(n))[:, None], np.arange(float(n))
        bag = fit(X, y, absolute=absolute, n_trees=200, l2=0.0, max_depth=4)
        np.testing.assert_allclose(predict(bag, X)[:, 0], y, atol=1e-6)

    def test_constant_columns_are_never_used(self, absolute):
        X, y, _ = problem(200, 1)
        X = np.column_stack([np.ones(200), X, np.zeros(200)])
        bag = fit(X, y, absolute=absolute)
        assert np.all(bag.feature[:, :6] == 1)

    def test_nothing_to_split_leaves_the_start(self, absolute):
        y = np.random.RandomState(0).normal(size=50)
        bag = fit(np.ones((50, 2)), y, absolute=absolute)
        expected = np.median(y) if absolute else np.mean(y)
        np.testing.assert_allclose(predict(bag, np.zeros((1, 2))), expected)

    def test_constant_targets_are_returned_exactly(self, absolute):
        X, _, _ = problem(50, 2)
        np.testing.assert_array_equal(predict(fit(X, np.full(50, 0.1), absolute=absolute), X), 0.1)

    def test_extreme_values(self, absolute):
        X, y, _ = problem(100, 2)
        plain = predict(fit(X, y, absolute=absolute), X)
        huge, tiny = 2.0**1020, 2.0**-1060
        np.testing.assert_array_equal(
            predict(fit(X * huge, y * huge, absolute=absolute), X * huge), plain * huge
        )
        bag = fit(X, np.round(y * 2**14) * tiny, absolute=absolute)
        assert np.isfinite(predict(bag, X)).all()
        assert np.ptp(predict(bag, X)) > 0


def test_too_many_columns_are_refused():
    X = np.zeros((2, MAX_COLUMNS + 1))
    with pytest.raises(ValueError, match=r"at most 65535 columns, got 65536"):
        fit(X, np.array([0.0, 1.0]))


def test_members_without_rows_are_refused():
    X, y, _ = problem(10, 1)
    with pytest.raises(ValueError, match=r"Member 1 has no rows"):
        fit(X, y, np.array([[1] * 10, [0] * 10]))


def test_weights_that_do_not_fit_are_refused():
    X, y, _ = problem(10, 1)
    with pytest.raises(ValueError, match=r"at most 2,147,483,647, got 10,737,418,240: divide"):
        fit(X, y, np.full((1, 10), 2**30))


def test_a_bag_survives_pickling():
    X, y, _ = problem(60, 2)
    bag = fit(X, y)
    again = pickle.loads(pickle.dumps(bag))
    np.testing.assert_array_equal(predict(again, X), predict(bag, X))


def test_trees_that_are_grown_in_stages_are_the_same():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60.0)
    counts = np.array([[1] * 60, [2] * 30 + [0] * 30])
    rule = Rule(0, 3, 0.0, 3.0, False)
    growing = GrowingBag.start(
        X, y, counts, EVEN, rule=rule, learning_rates=np.full(2, 0.3), seeds=np.arange(2),
        max_bins=256, column_share=1.0, direction=None,
    )  # fmt: skip
    for n_trees in (4, 8, 12):
        bag = growing.grow(n_trees, n_jobs=1, stage="test")
    assert_same(bag, fit(X, y, counts, n_trees=12))
