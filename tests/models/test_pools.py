"""Pools of models, and the rows for which a model takes part."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from clearbands import (
    BoostedQuantiles,
    ForestQuantiles,
    ResidualQuantiles,
    mean_pool,
    quantile_pool,
)
from clearbands.models.pools import FOREST_ROWS, center_pool, quantile_counterpart


def test_the_counterpart_of_a_model_of_the_mean_is_the_forest():
    assert isinstance(quantile_counterpart(LinearRegression()), ForestQuantiles)
    same = quantile_counterpart(BoostedQuantiles(n_trees=7))
    assert (type(same), same.n_trees) == (BoostedQuantiles, 7)


@pytest.mark.parametrize(("n", "depth"), [(FOREST_ROWS[0] - 1, 3), (FOREST_ROWS[0], 6)])
def test_many_rows_bear_deeper_trees(n, depth):
    X = np.linspace(0, 1, n)[:, None]
    fitted = ResidualQuantiles(n_bootstraps=1, random_state=0).fit(X, np.sin(50 * X[:, 0]))
    assert fitted.bag_.value.shape[-1] == 2**depth


@pytest.mark.parametrize(
    ("size", "n_bins"),
    [((250, 20), 128), ((250, 21), 32), ((600, 300), 60), ((1_280, 300), 128), ((5_000, 80), 128)],
)
def test_few_rows_of_many_columns_have_fewer_bins(size, n_bins):
    trees = center_pool(*size)["trees of depth 6"]
    assert trees.max_bins == n_bins


@pytest.mark.parametrize(
    ("size", "has_deep"),
    [((511, 4), False), ((512, 20), True), ((1_999, 80), False), ((2_000, 80), True)],
)
def test_deep_trees_need_rows_for_every_column(size, has_deep):
    assert ("trees of depth 8" in center_pool(*size)) == has_deep


def test_the_papers_pools():
    assert list(quantile_pool()) == ["forest", "boosting", "gam"]
    pytest.importorskip("xgboost")
    assert len(mean_pool()) == 9


def test_least_squares_of_the_pool_sees_columns_in_small_units():
    """LinearRegression alone drops directions 1e-6 times as long as the longest."""
    pytest.importorskip("xgboost")
    X = np.random.RandomState(0).normal(size=(100, 2))
    y = X @ [1.0, 3.0]
    model = mean_pool()["least squares"].fit(X * [1e6, 1e-3], y)
    np.testing.assert_allclose(model.predict(X * [1e6, 1e-3]), y, rtol=1e-9, atol=1e-9)
