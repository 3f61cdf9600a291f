"""Small data with a known truth, and models of five lines with known output."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from clearbands import ClearRegressor, LinearQuantiles, PCSEnsemble, ResidualQuantiles

OTHER_DRAWS = {
    "check_sample_weight_equivalence_on_dense_data": (
        "copies of a row are drawn apart, unless `groups` says that they belong together"
    )
}
"""A check of scikit-learn that fails for parts which draw rows; test_weighting.py has the law."""


def calibration_set(n=300, seed=0):
    """Return y, center, aleatoric and epistemic widths, with noise from both parts."""
    rng = np.random.default_rng(seed)
    center = rng.normal(size=n)
    aleatoric = rng.uniform(0.5, 1.5, size=(n, 2)) * rng.lognormal(0, 0.5, size=(n, 1))
    epistemic = rng.uniform(0.5, 1.5, size=(n, 2)) * rng.lognormal(0, 0.8, size=(n, 1))
    noise = rng.normal(size=n) * aleatoric.mean(1) + rng.normal(size=n) * epistemic.mean(1)
    return center + 0.5 * noise, center, aleatoric, epistemic


def noisy_line(n=240, seed=0):
    """Return X (n, 2) and y: a line in the first column, whose noise grows with the second."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    y = 3 * X[:, 0] + (0.2 + 0.4 * (X[:, 1] > 0)) * rng.normal(size=n)
    return X, y


def linear_clear(**parameters):
    """Return a model of lines, whose fit takes no time."""
    defaults = {
        "epistemic": PCSEnsemble([LinearRegression()], n_bootstraps=10),
        "aleatoric": ResidualQuantiles(LinearQuantiles(), n_bootstraps=3),
        "calibration": "joint",
        "random_state": 0,
    }
    return ClearRegressor(**(defaults | parameters))


def widths_with_ties():
    """Widths with few distinct values and with zeros, where order statistics and divisions fail."""
    small = st.integers(0, 3).map(float)

    def rows(n):
        column = st.lists(small, min_size=n, max_size=n)
        pair = st.lists(st.tuples(small, small), min_size=n, max_size=n)
        return st.tuples(
            st.lists(st.integers(-4, 4).map(float), min_size=n, max_size=n), column, pair, pair
        )

    return st.integers(3, 30).flatmap(rows).map(lambda arrays: tuple(map(np.array, arrays)))
