"""One boosted quantile against a slow and obvious implementation."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearbands.engine.boosting_tree import ALWAYS_LEFT
from tests.engine.boosted_bags import fit, problem

STEP = 1e-9  # targets are rounded to 2^-32 of their spread
ROUNDED = 1e-6  # leaf values are rounded to float32, which the next trees correct


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
    """Move thresholds halfway between the last bin that goes left and the next one drawn."""
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
    # With four bins per column and 600 rows, most nodes subtract their sibling's histogram.
    X, y, _ = problem(600, 3, distinct=4)
    bag = fit(X, y, max_depth=4, min_child_weight=5)
    slow = SlowTrees(bag.bins.apply(X), y, 0.5, 4, 4, 0.3, 5, 1.0)
    np.testing.assert_array_equal(bag.feature[0, 0], slow.feature)
    np.testing.assert_array_equal(bag.threshold[0, 0], slow.threshold)
    np.testing.assert_allclose(bag.unit * bag.value[0, 0], slow.value, rtol=0, atol=ROUNDED)


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
    y = np.resize([1.0, -1.0], 12) * np.arange(1, 13)  # neighbours differ in sign, so all are split
    bag = fit(X, y, max_depth=12, min_child_weight=0, reg_lambda=0, learning_rate=1.0, n_trees=1)
    np.testing.assert_allclose(bag.predict_members(X)[:, 0, 0], y)


def test_a_step_is_found_exactly():
    X = np.arange(40.0)[:, None]
    y = np.where(X[:, 0] <= 12, 1.0, 5.0)
    # Boosting starts from the lower quartile, which is the lower step.
    bag = fit(X, y, quantiles=(0.25,), n_trees=1, max_depth=1, learning_rate=1.0)
    assert bag.threshold[0, 0, 0, 0] == 12
    np.testing.assert_array_equal(bag.predict_members(X)[:, 0, 0], y)


def test_nothing_to_split_leaves_the_quantile():
    y = np.random.RandomState(0).normal(size=50)
    bag = fit(np.ones((50, 2)), y, n_trees=200)
    np.testing.assert_array_equal(bag.threshold, ALWAYS_LEFT)
    np.testing.assert_allclose(bag.predict_members(np.ones((1, 2)))[0, 0, 0], np.median(y))
