"""One member of symmetric trees against a slow and obvious implementation."""

from fractions import Fraction

import numpy as np
import pytest

from clearbands.engine import symmetric_histograms
from clearbands.engine.own_unit import STEPS
from clearbands.engine.symmetric_columns import ALWAYS_LEFT
from tests.engine.symmetric_bags import LOSSES, bootstraps, fit, predict, problem

# A second implementation: repeated rows, one question at a time, exact fractions for the scores.


class SlowTrees:
    def __init__(self, X, y, absolute, n_trees, max_depth, learning_rate, l2):
        self.X, self.absolute, self.l2 = X, absolute, Fraction(l2)
        self.init = np.median(y) if absolute else np.mean(y)
        self.residual = y - self.init
        self.questions = []  # (column, the last value that answers 0)
        self.values = []
        for _ in range(n_trees):
            leaf = np.zeros(len(y), int)
            for level in range(max_depth):
                column, last = self.best_question(leaf)
                self.questions.append((column, last))
                leaf += (X[:, column] > last) << level
            steps = np.array([self.step(leaf == k) for k in range(2**max_depth)])
            self.values.append((learning_rate * steps).astype(np.float32))
            self.residual = self.residual - self.values[-1][leaf]

    def step(self, rows):
        if not rows.any():
            return 0.0
        if self.absolute:
            return np.median(self.residual[rows])
        return self.residual[rows].sum() / (rows.sum() + float(self.l2))

    def best_question(self, leaf):
        gradient = np.sign(self.residual) if self.absolute else self.residual
        best, best_score = None, -1
        for column in range(self.X.shape[1]):
            for last in np.unique(self.X[:, column])[:-1]:
                child = 2 * leaf + (self.X[:, column] > last)
                score = sum(self.score(gradient[child == k]) for k in np.unique(child))
                if score > best_score:
                    best, best_score = (column, last), score
        return best

    def score(self, gradients):
        return sum(map(Fraction, gradients)) ** 2 / (len(gradients) + self.l2)


def questions(bag, X):
    """Return the columns, and the largest values of X that answer 0."""
    columns, last_bins = bag.feature[0].ravel(), bag.threshold[0].ravel()
    binned = bag.bins.apply(X, np.uint16)
    return [
        (column, X[binned[:, column] <= last, column].max())
        for column, last in zip(columns, last_bins, strict=True)
        if last != ALWAYS_LEFT
    ]


@LOSSES
@pytest.mark.parametrize("kept", [True, False], ids=["kept histograms", "counted anew"])
@pytest.mark.parametrize(
    ("n", "d", "distinct"),
    [(12, 1, None), (40, 3, None), (60, 3, 5), (120, 2, 9)],
    ids=["few rows", "one row per bin", "ties", "many rows per bin"],
)
def test_same_trees_as_the_slow_implementation(n, d, distinct, absolute, kept, monkeypatch):
    if not kept:
        monkeypatch.setattr(symmetric_histograms, "MOST_CELLS", 0)
    X, y, rng = problem(n, d, seed=n, distinct=distinct)
    y = np.round(64 * y)  # whole numbers have exact sums
    counts = bootstraps(n, 1, rng)
    bag = fit(X, y, counts, absolute=absolute, n_trees=4, l2=0.5)
    rows = np.repeat(np.arange(n), counts[0])
    slow = SlowTrees(X[rows], y[rows], absolute, 4, 3, 0.3, 0.5)
    assert bag.unit[0] * bag.init[0] == pytest.approx(slow.init, abs=bag.unit[0] / STEPS)
    assert questions(bag, X[rows]) == slow.questions
    np.testing.assert_allclose(bag.unit * bag.value[0], slow.values, rtol=1e-6, atol=1e-5)


@LOSSES
@pytest.mark.parametrize("weight", [2**10, 2**20, 2**23])
def test_large_weights(weight, absolute):
    """Only proportions matter if the penalty grows with the weights."""
    X, y, rng = problem(200, 3)
    counts = bootstraps(200, 1, rng).astype(np.int32)
    plain = predict(fit(X, y, counts, absolute=absolute), X)
    heavy = predict(fit(X, y, counts * weight, absolute=absolute, l2=3.0 * 2**10), X)
    if weight == 2**10:
        np.testing.assert_allclose(heavy, plain, atol=1e-5)
    else:  # the penalty is small beside such weights
        light = predict(fit(X, y, counts, absolute=absolute, l2=3.0 * 2**10 / weight), X)
        np.testing.assert_allclose(heavy, light, atol=1e-5)


@pytest.mark.parametrize("absolute", [False, True])
def test_leaves_are_means_or_medians(absolute):
    X, y, rng = problem(300, 3)
    counts = bootstraps(300, 1, rng)
    bag = fit(X, y, counts, absolute=absolute, n_trees=1, learning_rate=1.0, l2=0.0)
    rows = np.repeat(np.arange(300), counts[0])
    predicted = predict(bag, X[rows])[:, 0]
    leaves = np.unique(predicted)
    assert len(leaves) > 4
    for leaf in leaves:
        own = y[rows][predicted == leaf]
        expected = np.median(own) if absolute else np.mean(own)
        assert leaf == pytest.approx(expected, abs=1e-6)


def test_l2_shrinks_leaves():
    X = np.repeat([0.0, 1.0], [6, 6])[:, None]
    y = np.repeat([-1.0, 1.0], [6, 6])
    bag = fit(X, y, l2=2.0, n_trees=1, max_depth=1, learning_rate=1.0)
    np.testing.assert_allclose(predict(bag, X)[:, 0], y * 6 / 8)


def test_the_deepest_tree_tells_all_rows_apart():
    X = np.array(np.unravel_index(np.arange(2**10), [2] * 10), float).T  # all rows of ten bits
    y = np.random.RandomState(0).normal(size=2**10)
    bag = fit(X, y, max_depth=10, l2=0.0, learning_rate=1.0, n_trees=1)
    assert sorted(bag.feature[0, 0]) == list(range(10))
    np.testing.assert_allclose(predict(bag, X)[:, 0], y, atol=1e-6)
