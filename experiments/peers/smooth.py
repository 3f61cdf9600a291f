"""A Gaussian process, and linear quantile regression."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import QuantileRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from clearbands.calibration.conformal import order_statistic, rank
from clearbands.rows.levels import tails
from experiments.case import Case, Result
from experiments.peers.quantiles import conformalized

LENGTH_ROWS, PROCESS_ROWS, LINEAR_ROWS = 500, 2_000, 6_000
"""The most training rows, drawn at random, for the lengths of a Gaussian process, for its center,
and for linear quantiles."""
MOST_LENGTHS = 30


def gaussian_process(case: Case) -> Result:
    """Conformalize the deviations of a Gaussian process with one noise level.

    It has a length for each column if columns are few.
    """
    train, calibration, test = drawn(case, PROCESS_ROWS), case.split.calibration, case.split.test
    X, y = case.X[train], case.y[train]
    scaler = StandardScaler().fit(X)
    lengths = np.ones(X.shape[1] if X.shape[1] <= MOST_LENGTHS else 1)
    start = ConstantKernel() * RBF(lengths, (1e-2, 1e3)) + WhiteKernel(0.1)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a length may grow without bound
        search = GaussianProcessRegressor(start, normalize_y=True)
        search.fit(scaler.transform(X[:LENGTH_ROWS]), y[:LENGTH_ROWS])
        model = GaussianProcessRegressor(search.kernel_, optimizer=None, normalize_y=True)
        model.fit(scaler.transform(X), y)
        center, deviation = model.predict(scaler.transform(case.X[calibration]), return_std=True)
        scores = np.abs(case.y[calibration] - center) / deviation
        center, deviation = model.predict(scaler.transform(case.X[test]), return_std=True)
    distance = deviation * order_statistic(scores, rank(len(scores), case.level))
    return Result(np.stack([center - distance, center + distance], axis=1), center=center)


def linear_quantiles(case: Case) -> Result:
    """Conformalize scikit-learn's linear quantile regression without a penalty."""
    train, (low, high) = drawn(case, LINEAR_ROWS), tails(case.level)
    with threadpool_limits(1):
        lines = [
            make_pipeline(StandardScaler(), QuantileRegressor(quantile=q, alpha=0.0)).fit(
                case.X[train], case.y[train]
            )
            for q in (low, 0.5, high)
        ]
    return conformalized(case, lambda X: np.stack([line.predict(X) for line in lines], axis=1))


def drawn(case: Case, most: int) -> np.ndarray:
    """Return at most so many training rows in random order."""
    return np.random.default_rng(case.seed).permutation(case.split.train)[:most]
