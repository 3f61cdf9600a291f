"""Bags of symmetric trees, and rows for them, that the tests of the engine share."""

import numpy as np
import pytest

from clearbands.engine.grains import EVEN
from clearbands.engine.symmetric import GrowingBag, Rule

DEFAULTS = {
    "absolute": False,
    "n_trees": 6,
    "max_depth": 3,
    "l2": 3.0,
    "max_bins": 256,
    "column_share": 1.0,
    "n_jobs": 1,
    "stage": "test",
}
ARRAYS = ("init", "feature", "threshold", "value")
LOSSES = pytest.mark.parametrize("absolute", [False, True], ids=["squared", "absolute"])


def fit(X, y, counts=None, *, learning_rate=0.3, seeds=None, **settings):
    counts = np.ones((1, len(y)), np.uint8) if counts is None else np.asarray(counts)
    rates = np.full(len(counts), learning_rate)
    seeds = np.arange(len(counts)) if seeds is None else seeds
    settings = {"grains": EVEN, "direction": None, **DEFAULTS, **settings}
    absolute, n_trees, depth, l2 = map(settings.pop, ("absolute", "n_trees", "max_depth", "l2"))
    how = {name: settings.pop(name) for name in ("n_jobs", "stage")}
    rule = Rule(0, depth, 0.0, l2 * settings["grains"].per_one, absolute)
    growing = GrowingBag.start(
        X, y, counts, rule=rule, learning_rates=rates, seeds=seeds, **settings
    )
    return growing.grow(n_trees, **how, goes_on=False)


def predict(bag, X):
    """Return the predictions of all members (n, b)."""
    return bag.predict_members(X)[:, 0]


def problem(n, d, seed=0, distinct=None):
    rng = np.random.RandomState(seed)
    X = rng.uniform(size=(n, d)) if distinct is None else rng.randint(distinct, size=(n, d)) * 1.0
    y = 3 * X[:, 0] + np.sin(9 * X[:, -1]) + rng.normal(size=n)
    return X, y, rng


def bootstraps(n, b, rng):
    return np.array([np.bincount(rng.randint(n, size=n), minlength=n) for _ in range(b)], np.uint8)
