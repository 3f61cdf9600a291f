"""Trees with random cuts: leaves, unseen rows and wide tables."""

import numpy as np

from clearbands.models.bagging import predict_unseen
from clearbands.models.random_trees import RandomTrees
from clearbands.rows.draws import Draws
from tests.models.waves import noisy_waves


def test_leaves_of_one_row_remember_it_and_large_ones_do_not():
    X, y, center = noisy_waves(1_000, 0)
    np.testing.assert_allclose(RandomTrees(5).fit(X, y).predict(X), y, atol=1e-6)
    smooth = RandomTrees(50, min_samples_leaf=5, random_state=0).fit(X, y).predict(X)
    assert np.abs(smooth - center).mean() < 0.6 * np.abs(y - center).mean()


def test_a_member_knows_nothing_of_rows_that_it_did_not_draw():
    X, y, _ = noisy_waves(60, 0)
    counts = np.ones((1, 60), np.uint8)
    counts[0, :20] = 0
    other = y.copy()
    other[:20] = other[20:40]  # within the range of the others
    bags = (RandomTrees(5, random_state=0).fit_bag(X, each, counts) for each in (y, other))
    first, second = (predict_unseen(bag, X, Draws(counts)) for bag in bags)
    np.testing.assert_allclose(first, second)
    assert Draws(counts).unseen.sum() == np.isfinite(first).sum()


def test_very_many_columns_are_screened():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(200, 600))
    y = 3 * X[:, 555]
    predicted = RandomTrees(20, random_state=0).fit(X, y).predict(X[:, :])
    assert np.corrcoef(predicted, y)[0, 1] > 0.9
