"""Rivals that predict whole distributions: a Gaussian process, a linear model, and boosted trees.

Each is used in a few lines, with its library's defaults, on one thread. Those whose libraries are
missing are left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import BayesianRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments.distributions import LEVELS, Table

GP_ROWS = 1_000
"""The most rows of a Gaussian process, whose cost grows with their cube. Of more rows, so many are
drawn at random."""

Normal = Callable[[np.ndarray, np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray]]
"""A function of X, y, new X and a seed that returns means and deviations of the new targets."""


def gaussian_process(
    X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a process with noise and a squared exponential kernel with a length for each column."""
    if len(y) > GP_ROWS:
        chosen = np.random.default_rng(seed).choice(len(y), GP_ROWS, replace=False)
        X, y = X[chosen], y[chosen]
    kernel = ConstantKernel(1.0) * RBF(np.ones(X.shape[1]), (1e-2, 1e3)) + WhiteKernel(0.1)
    process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a length may grow without bound
        model = make_pipeline(StandardScaler(), process).fit(X, y)
    return model.predict(X_new, return_std=True)


def linear(
    X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    model = make_pipeline(StandardScaler(), BayesianRidge()).fit(X, y)
    return model.predict(X_new, return_std=True)


def ngboost(
    X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    from ngboost import NGBRegressor

    model = NGBRegressor(random_state=seed, verbose=False).fit(X, y)
    predicted = model.pred_dist(X_new)
    return predicted.loc, predicted.scale


def catboost(table: Table, rounds: int = 1_000) -> np.ndarray:
    """Predict all quantiles with one booster; `rounds` is the default of its library."""
    from catboost import CatBoostRegressor

    levels = ",".join(f"{level:.2f}" for level in LEVELS)
    model = CatBoostRegressor(
        iterations=rounds,
        loss_function=f"MultiQuantile:alpha={levels}",
        thread_count=1,
        random_seed=table.seed,
        verbose=False,
        allow_writing_files=False,
    )
    model.fit(table.X[table.known], table.y[table.known])
    return np.sort(model.predict(table.new), axis=1)


def chimeraboost(table: Table) -> np.ndarray:
    """Predict all quantiles with one booster, which calibrates them on its stopping rows."""
    from chimeraboost import ChimeraBoostQuantileRegressor

    model = ChimeraBoostQuantileRegressor(LEVELS, random_state=table.seed, thread_count=1)
    model.fit(table.X[table.known], table.y[table.known])
    return np.asarray(model.predict(table.new), float)


def quantiles_of(fit: Normal) -> Callable[[Table], np.ndarray]:
    def quantiles(table: Table) -> np.ndarray:
        mean, deviation = fit(table.X[table.known], table.y[table.known], table.new, table.seed)
        return mean[:, None] + deviation[:, None] * stats.norm.ppf(LEVELS)

    return quantiles


NEEDS = {"NGBoost": "ngboost", "CatBoost": "catboost", "chimeraboost": "chimeraboost"}
_NORMAL: dict[str, Normal] = {
    "Gaussian process": gaussian_process,
    "linear": linear,
    "NGBoost": ngboost,
}
NORMAL = {name: fit for name, fit in _NORMAL.items() if name not in NEEDS or find_spec(NEEDS[name])}
_BOOSTED: dict[str, Callable[[Table], np.ndarray]] = {
    "CatBoost": catboost,
    "chimeraboost": chimeraboost,
}
QUANTILES = {name: quantiles_of(fit) for name, fit in NORMAL.items()} | {
    name: fit for name, fit in _BOOSTED.items() if find_spec(NEEDS[name])
}
