"""Rows for GAMs, and what pygam said of some."""

import json

import numpy as np

from tests.golden.make_pygam import GOLDEN

GOLDEN_VALUES = json.loads(GOLDEN.read_text())
RECORDS = GOLDEN_VALUES["records"]


def case_name(record):
    return record["case"]


def unsorted_predictions(model, X):
    """(n, q): one column per level as fitted, before crossings are sorted away."""
    return model.bag_.basis.apply(X) @ model.bag_.coef[0].T


def noisy_rows(n=200, d=2, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1, 1, (n, d))
    return X, np.sin(3 * X[:, 0]) + (0.2 + np.abs(X[:, -1])) * rng.randn(n)
