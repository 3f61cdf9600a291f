"""Rows for GAMs, with predictions by pygam for some of them."""

import json

import numpy as np

from tests.golden.make_pygam import GOLDEN

GOLDEN_VALUES = json.loads(GOLDEN.read_text())
RECORDS = GOLDEN_VALUES["records"]


def case_name(record):
    return record["case"]


def unsorted_predictions(model, X):
    """Return predictions (n, q) as fitted, a column per level, before sorting ends crossings."""
    return model.bag_.basis.apply(X) @ model.bag_.coef[0].T


def noisy_rows(n=200, d=2, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1, 1, (n, d))
    return X, np.sin(3 * X[:, 0]) + (0.2 + np.abs(X[:, -1])) * rng.randn(n)
