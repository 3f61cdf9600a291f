"""Bags of boosted quantiles, and rows for them, that the tests of the engine share."""

import numpy as np

from clearbands.engine.boosting import fit_boosted_bag

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


def fit(X, y, counts=None, quantiles=(0.5,), **settings):
    counts = np.ones((1, len(y)), np.uint8) if counts is None else np.asarray(counts, np.uint8)
    return fit_boosted_bag(X, y, counts, np.array(quantiles), **{**DEFAULTS, **settings})


def problem(n, d, seed=0, distinct=None):
    rng = np.random.RandomState(seed)
    X = rng.uniform(size=(n, d)) if distinct is None else rng.randint(distinct, size=(n, d)) * 1.0
    y = 3 * X[:, 0] + np.sin(9 * X[:, -1]) + rng.normal(size=n)
    return X, y, rng
