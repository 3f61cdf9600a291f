"""Screening of very many columns: members see a few, and their trees are as good as on all."""

import numpy as np
import pytest

from clearbands import BoostedQuantiles, ForestQuantiles
from clearbands.engine.binning import Bins
from clearbands.engine.screening import FEWEST_KEPT, Screen, n_kept
from clearbands.models.symmetric_trees import SymmetricTrees

LEVEL, BOWL, SPREAD, DUMMY = 7, 100, 300, 555  # the columns that matter


def wide_rows(n=400, d=600, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, d)
    X[:, 500:] = X[:, 500:] > 0.5
    return X, signal(X) + 0.5 * np.exp(X[:, SPREAD]) * rng.randn(n)


def signal(X):
    return X[:, LEVEL] + X[:, BOWL] ** 2 + 2 * X[:, DUMMY]


def screen_of(X):
    return Screen.from_bins(Bins.from_data(X).apply(X))


def test_few_columns_are_all_looked_at():
    X, _ = wide_rows()
    assert screen_of(X[:, :FEWEST_KEPT]) is None
    assert screen_of(X[:, : FEWEST_KEPT + 1]) is not None


def test_more_rows_tell_more_columns_apart():
    assert [n_kept(n) for n in (10, 1_024, 2_000, 4_096, 10**6)] == [128, 128, 250, 512, 512]
    rows = np.zeros((2_000, 251), np.uint8)
    assert Screen.from_bins(rows[:, :250]) is None
    assert Screen.from_bins(rows) is not None
    once = Screen.from_bins(rows).columns(np.arange(2_000.0), np.ones(2_000, np.uint8))
    assert len(once) == 250


@pytest.mark.parametrize("seed", range(3))
def test_columns_that_matter_to_level_or_spread_are_kept(seed):
    X, y = wide_rows(seed=seed)
    once = np.ones(len(y), np.uint8)
    kept = screen_of(X).columns(y, once)
    assert len(kept) == FEWEST_KEPT
    assert (np.diff(kept) > 0).all()
    assert {LEVEL, BOWL, DUMMY} <= set(kept.tolist())
    assert SPREAD in screen_of(X).columns(y - signal(X), once)


def test_every_member_chooses_by_its_own_rows():
    X, y = wide_rows()
    screen = screen_of(X)
    half = np.arange(len(y)) % 2
    one, other = (screen.columns(y, counts) for counts in (half, 1 - half))
    assert set(one.tolist()) != set(other.tolist())


def test_only_ranks_matter():
    X, y = wide_rows()
    counts = np.random.RandomState(1).poisson(1, len(y)).astype(np.uint8)
    kept = screen_of(X).columns(y, counts)
    np.testing.assert_array_equal(screen_of(np.exp(X)).columns(np.cbrt(y), counts), kept)


@pytest.mark.parametrize(
    "model", [BoostedQuantiles((0.5,)), ForestQuantiles((0.5,)), SymmetricTrees()]
)
def test_trees_on_wide_data_find_the_columns_that_matter(model):
    """Predictions are right only if a tree's columns are found again among all of them."""
    X, y = wide_rows(n=700)
    predicted = model.set_params(random_state=0).fit(X[:500], y[:500]).predict(X[500:])
    assert np.corrcoef(predicted, signal(X[500:]))[0, 1] > 0.6
