"""Bags of trees for classes, and rows for them, that tests of models and engine share."""

import numpy as np

from clearbands.engine.symmetric_classes import fit_symmetric_class_bag

SETTINGS = {
    "n_trees": 4,
    "max_depth": 2,
    "l2": 1.0,
    "max_bins": 256,
    "n_jobs": 1,
    "stage": "test",
}


def clouds(n=120, n_classes=3, seed=0, distinct=None):
    rng = np.random.default_rng(seed)
    label = rng.integers(n_classes, size=n)
    label[:n_classes] = np.arange(n_classes)
    X = rng.normal(size=(n, 3)) + label[:, None] * [1.5, 0.0, -0.5]
    return (X if distinct is None else np.round(X * distinct) / distinct), label


def fit(X, label, n_classes, counts, seeds=None, **settings):
    seeds = np.arange(len(counts)) if seeds is None else seeds
    rates = np.full(len(counts), 0.5)
    settings = SETTINGS | settings
    return fit_symmetric_class_bag(
        X, label, n_classes, counts, learning_rates=rates, seeds=seeds, **settings
    )
