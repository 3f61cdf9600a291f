"""Tables with text and dates, and the tables of results of methods on them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from experiments import mixed, mixed_data, mixed_peers


def test_travel_times_have_a_column_of_a_hundred_values():
    train, test = mixed_data.load("travel_times", 0)
    assert (len(train.y), len(test.y)) == (2800, 1200)
    assert train.X["route"].n_unique() == 100
    assert not set(train.y) & set(test.y)


def test_peers_see_the_same_categories_in_all_tables():
    first = pl.DataFrame({"town": ["a", None, "b"], "x": [1.0, 2.0, 3.0]})
    other = pl.DataFrame({"town": ["c"], "x": [0.0]})
    tables = mixed_peers.native([first, other])
    assert tables[0]["town"].dtype == tables[1]["town"].dtype
    assert tables[0]["town"].tolist() == ["a", "missing", "b"]


class Known:
    """A peer that predicts the quantile of its training targets."""

    def __init__(self, tail, seed=0):
        self.tail = tail

    def fit(self, X, y):
        self.quantile = np.quantile(y, self.tail)
        return self

    def predict(self, X):
        return np.full(len(X), self.quantile)


@pytest.mark.parametrize("way", [mixed_peers.conformalized, mixed_peers.in_folds])
def test_conformalized_quantiles_cover_as_asked(way):
    rng = np.random.RandomState(0)
    rows = mixed_data.Mixed(pl.DataFrame({"x": rng.rand(2000)}), rng.randn(2000))
    run = way(lambda seed: Known(0.5), lambda seed: mixed_peers.OneByOne(Known, seed))
    center, bounds = run(rows, rows.X, 0)
    assert center.shape == (2000,)
    assert np.mean((bounds[:, 0] <= rows.y) & (rows.y <= bounds[:, 1])) == pytest.approx(
        0.9, abs=0.03
    )


def test_the_table_compares_with_catboost_and_with_the_best_peer():
    rows = pd.DataFrame(
        {
            "dataset": "towns",
            "seed": 0,
            "method": ["clear", "catboost", "lightgbm"],
            "rmse": [9.0, 10.0, 12.0],
            "interval_score": [8.0, 12.0, 10.0],
            "picp": [0.9, 0.9, 0.9],
            "cpu_seconds": [3.0, 4.0, 1.0],
        }
    )
    assert "| towns | 1 | -10.0 % | -20.0 % | 0.900 | 3 | 4 |" in list(mixed.table(rows))
