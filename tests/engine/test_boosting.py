"""The boosting kernels against a slow and obvious implementation, and the laws they keep."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearbands.engine.binning import Bins
from clearbands.engine.boosting import MAX_COLUMNS, fit_boosted_bag
from clearbands.engine.boosting_columns import FineColumns
from clearbands.engine.boosting_tree import ALWAYS_LEFT

DEFAULTS = {
    "max_bins": 256,
    "n_trees": 4,
    "max_depth": 3,
    "learning_rate": 0.3,
    "min_child_weight": 2,
    "reg_lambda": 1.0,
    "n_jobs": 1,
    "stage": "test",
}
ARRAYS = ("init", "feature", "threshold", "value")
STEP = 1e-9  # targets are rounded to 2^-32 of their spread
ROUNDED = 1e-6  # and the values of leaves to float32, which the next trees make good


def fit(X, y, counts=None, quantiles=(0.5,), **settings):
    counts = np.ones((1, len(y)), np.uint8) if counts is None else np.asarray(counts, np.uint8)
    return fit_boosted_bag(X, y, counts, np.array(quantiles), **{**DEFAULTS, **settings})


def assert_same(one, other):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def problem(n, d, seed=0, distinct=None):
    rng = np.random.RandomState(seed)
    X = rng.uniform(size=(n, d)) if distinct is None else rng.randint(distinct, size=(n, d)) * 1.0
    y = 3 * X[:, 0] + np.sin(9 * X[:, -1]) + rng.normal(size=n)
    return X, y, rng


# A second implementation: repeated rows, one candidate at a time, exact fractions for the scores.


class SlowTrees:
    def __init__(self, binned, y, tau, n_trees, max_depth, learning_rate, min_weight, reg_lambda):
        self.binned, self.tau, self.learning_rate = binned, tau, learning_rate
        self.min_weight, self.reg_lambda = min_weight, Fraction(reg_lambda)
        self.max_depth = max_depth
        self.init = self.quantile(y)
        self.residual = y - self.init
        n_inner = 2**max_depth - 1
        self.feature = np.zeros((n_trees, n_inner), int)
        self.threshold = np.full((n_trees, n_inner), ALWAYS_LEFT)
        self.value = np.full((n_trees, n_inner + 1), np.nan)
        for tree in range(n_trees):
            self.overshoots = self.residual <= 0
            self.grow(tree, node=0, level=0, rows=np.arange(len(y)))

    def quantile(self, values):
        ordered = np.sort(values)
        position = np.clip(self.tau * (len(values) + 1) - 1, 0, len(values) - 1)
        return np.interp(position, np.arange(len(values)), ordered)

    def score(self, rows):
        gradient = int(self.overshoots[rows].sum()) - Fraction(self.tau) * len(rows)
        return gradient**2 / (len(rows) + self.reg_lambda)

    def grow(self, tree, node, level, rows):
        split = self.best_split(rows) if level < self.max_depth else None
        if split is None:
            step = np.float32(self.learning_rate * self.quantile(self.residual[rows]))
            self.residual[rows] -= step
            span = 2 ** (self.max_depth - level)
            first = (node + 1) * span - 2**self.max_depth
            self.value[tree, first : first + span] = step
            return
        column, last_left_bin = split
        self.feature[tree, node], self.threshold[tree, node] = split
        goes_left = self.binned[rows, column] <= last_left_bin
        self.grow(tree, 2 * node + 1, level + 1, rows[goes_left])
        self.grow(tree, 2 * node + 2, level + 1, rows[~goes_left])

    def best_split(self, rows):
        best, best_score = None, self.score(rows) + Fraction(1e-6)
        for column in range(self.binned.shape[1]):
            bins = self.binned[rows, column]
            for last_left_bin in np.unique(bins)[:-1]:
                left, right = rows[bins <= last_left_bin], rows[bins > last_left_bin]
                if min(len(left), len(right)) < self.min_weight:
                    continue
                score = self.score(left) + self.score(right)
                if score > best_score:
                    best, best_score = (column, last_left_bin), score
        return best


def into_the_gap(slow, drawn):
    """Thresholds halfway between the last bin that goes left and the next one that was drawn."""
    threshold = slow.threshold.copy()
    for place in np.argwhere(threshold != ALWAYS_LEFT):
        last_left = threshold[*place]
        bins = drawn[:, slow.feature[*place]]
        threshold[*place] = (last_left + int(bins[bins > last_left].min()) - 1) // 2
    return threshold


@pytest.mark.parametrize("tau", [0.05, 0.5, 0.9])
@pytest.mark.parametrize(
    ("n", "d", "distinct"),
    [(25, 2, None), (60, 3, None), (60, 3, 4), (150, 1, None), (150, 2, 3)],
    ids=["few rows", "one row per bin", "ties", "histograms", "histograms of three bins"],
)
def test_same_trees_as_the_slow_implementation(n, d, distinct, tau):
    X, y, rng = problem(n, d, seed=n, distinct=distinct)
    counts = np.bincount(rng.randint(n, size=n), minlength=n)
    bag = fit(X, y, [counts], [tau])
    rows = np.repeat(np.arange(n), counts)
    drawn = bag.bins.apply(X[rows])
    slow = SlowTrees(drawn, y[rows], tau, 4, 3, 0.3, 2, 1.0)
    assert bag.unit[0] * bag.init[0, 0] == pytest.approx(slow.init, rel=STEP)
    np.testing.assert_array_equal(bag.feature[0, 0], slow.feature)
    np.testing.assert_array_equal(bag.threshold[0, 0], into_the_gap(slow, drawn))
    np.testing.assert_allclose(bag.unit * bag.value[0, 0], slow.value, rtol=0, atol=ROUNDED)


def test_subtracted_histograms_give_the_same_trees():
    # Four bins per column and 600 rows: most nodes take the histogram that their sibling left.
    X, y, _ = problem(600, 3, distinct=4)
    bag = fit(X, y, max_depth=4, min_child_weight=5)
    slow = SlowTrees(bag.bins.apply(X), y, 0.5, 4, 4, 0.3, 5, 1.0)
    np.testing.assert_array_equal(bag.feature[0, 0], slow.feature)
    np.testing.assert_array_equal(bag.threshold[0, 0], slow.threshold)
    np.testing.assert_allclose(bag.unit * bag.value[0, 0], slow.value, rtol=0, atol=ROUNDED)


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


@settings(max_examples=100, deadline=None)
@given(
    weighted=st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 5)), min_size=2, max_size=60),
    tau=st.floats(0.01, 0.99),
)
def test_the_first_prediction_is_the_weighted_quantile(weighted, tau):
    y, counts = np.array(weighted).T
    bag = fit(np.zeros((len(y), 1)), y * 1.0, [counts], [tau])
    expected = np.quantile(np.repeat(y, counts), tau, method="weibull")
    assert bag.unit[0] * bag.init[0, 0] == pytest.approx(expected, abs=10 * STEP)


def test_no_leaf_is_lighter_than_the_limit():
    X, y, rng = problem(400, 3)
    counts = np.bincount(rng.randint(400, size=400), minlength=400)
    bag = fit(X, y, [counts], n_trees=1, max_depth=8, min_child_weight=6.5, learning_rate=1.0)
    steps = bag.predict_members(X)[:, 0, 0]
    weight_of_step = [counts[steps == step].sum() for step in np.unique(steps)]
    assert min(weight_of_step) >= 7
    assert len(weight_of_step) > 8


def test_leaves_of_one_row_reproduce_the_targets():
    X = np.arange(12.0)[:, None]
    y = np.resize([1.0, -1.0], 12) * np.arange(1, 13)  # neighbours differ in sign: all are split
    bag = fit(X, y, max_depth=12, min_child_weight=0, reg_lambda=0, learning_rate=1.0, n_trees=1)
    np.testing.assert_allclose(bag.predict_members(X)[:, 0, 0], y)


def test_a_step_is_found_exactly():
    X = np.arange(40.0)[:, None]
    y = np.where(X[:, 0] <= 12, 1.0, 5.0)
    # At the lower quartile the lower step is what boosting starts from.
    bag = fit(X, y, quantiles=(0.25,), n_trees=1, max_depth=1, learning_rate=1.0)
    assert bag.threshold[0, 0, 0, 0] == 12
    np.testing.assert_array_equal(bag.predict_members(X)[:, 0, 0], y)


def test_constant_columns_are_never_used():
    X, y, _ = problem(200, 1)
    X = np.column_stack([np.ones(200), X, np.zeros(200)])
    bag = fit(X, y)
    assert np.all(bag.feature[bag.threshold < 255] == 1)
    assert np.any(bag.threshold < 255)


def test_nothing_to_split_leaves_the_quantile():
    y = np.random.RandomState(0).normal(size=50)
    bag = fit(np.ones((50, 2)), y, n_trees=200)
    np.testing.assert_array_equal(bag.threshold, ALWAYS_LEFT)
    np.testing.assert_allclose(bag.predict_members(np.ones((1, 2)))[0, 0, 0], np.median(y))


def test_constant_targets_are_returned_exactly():
    X, _, _ = problem(50, 2)
    bag = fit(X, np.full(50, 0.1), quantiles=(0.05, 0.5, 0.95))
    np.testing.assert_array_equal(bag.predict_members(X), 0.1)


def test_columns_beyond_the_first_byte_are_found():
    rng = np.random.RandomState(0)
    X = rng.randint(2, size=(300, 700)) * 1.0
    y = 4 * X[:, 650] + 0.1 * rng.normal(size=300)
    bag = fit(X, y, n_trees=1)
    assert bag.feature[0, 0, 0, 0] == 650


def test_too_many_columns_are_refused():
    X = np.zeros((2, MAX_COLUMNS + 1))
    with pytest.raises(ValueError, match=r"at most 65535 columns, got 65536"):
        fit(X, np.array([0.0, 1.0]))


@pytest.mark.parametrize("max_bins", [2, 5, 40])
@pytest.mark.parametrize("distinct", [3, 30, 500])
def test_coarse_bins_share_out_the_draws(max_bins, distinct):
    X, _, rng = problem(400, 2, distinct=distinct)
    counts = np.bincount(rng.randint(400, size=400), minlength=400)
    fine = FineColumns.from_bins(Bins.from_data(X), X)
    binned, offsets, last_fine = fine.coarsen(counts, max_bins)
    for j in range(2):
        drawn, coarse = fine.binned[counts > 0, j], binned[counts > 0, j]
        n_bins = int(offsets[j + 1] - offsets[j])
        np.testing.assert_array_equal(np.unique(coarse), np.arange(n_bins))
        np.testing.assert_array_equal(coarse, np.searchsorted(last_fine[j, :n_bins], drawn))
        weights = np.bincount(coarse, counts[counts > 0])
        heaviest_value = np.bincount(drawn, counts[counts > 0]).max()
        if len(np.unique(drawn)) <= max_bins:
            assert n_bins == len(np.unique(drawn))
        else:
            assert weights.max() <= 400 / max_bins + heaviest_value


def test_a_cut_lies_halfway_into_the_values_that_were_not_drawn():
    X = np.arange(8.0)[:, None]
    fine = FineColumns.from_bins(Bins.from_data(X), X)
    drawn = np.array([1, 2, 0, 0, 0, 0, 1, 1], np.uint8)
    binned, offsets, last_fine = fine.coarsen(drawn, 256)
    np.testing.assert_array_equal(offsets, [0, 4])
    np.testing.assert_array_equal(last_fine[0, :4], [0, 3, 6, 7])
    np.testing.assert_array_equal(binned[drawn > 0, 0], [0, 1, 2, 3])


def test_members_cut_a_long_column_in_different_places():
    # With the same cuts in all members their errors of rounding would not average out.
    X, y, rng = problem(3000, 1)
    counts = [np.bincount(rng.randint(3000, size=3000), minlength=3000) for _ in range(20)]
    bag = fit(X, y, counts, max_bins=8, n_trees=30)
    assert len(np.unique(bag.threshold[bag.threshold != ALWAYS_LEFT])) > 20


def test_more_than_256_distinct_values_are_split_between_bins():
    X, y, _ = problem(3000, 2)
    bag = fit(X, y, n_trees=30)
    loss = np.abs(y - bag.predict_members(X)[:, 0, 0]).mean()
    assert loss < 0.95 * np.abs(y - np.median(y)).mean()


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
