"""Rows of numbers, counts and text."""

import numpy as np
import polars as pl


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    town = rng.choice(["a", "b", None], n).tolist()
    X = pl.DataFrame({"size": rng.normal(size=n), "rooms": rng.integers(1, 5, n), "town": town})
    return X, rng.normal(size=n)
