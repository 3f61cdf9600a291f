"""Methods that predict intervals of series, all on the same rows.

Rows come in blocks of as many as a forecast reaches ahead. The intervals of a block are made before
any of its targets is known; then all its targets become known.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from clearbands import CalibrationWarning, ClearRegressor, RefitWarning
from clearbands.calibration.conformal import order_statistic, rank
from clearbands.rows.levels import tails
from experiments.series_data import Series

LEVEL = 0.9
ACI_RATE = 0.005  # the rate of Gibbs and Candes
LOW, HIGH = tails(LEVEL)
CALIBRATION_SHARE = 0.25


def blocks(series: Series) -> Iterator[slice]:
    for start in range(series.n_train, len(series.y), series.ahead):
        yield slice(start, min(start + series.ahead, len(series.y)))


def at_random(series: Series, seed: int) -> Iterator[np.ndarray]:
    """Predict with our default, as if rows could be shuffled."""
    n = series.n_train
    model = ClearRegressor(confidence_level=LEVEL, random_state=seed)
    model.fit(series.X[:n], series.y[:n])
    yield model.predict_interval(series.X[n:])[1][:, :, 0]


def in_time(series: Series, seed: int) -> Iterator[np.ndarray]:
    """Predict with ours in the order of time, first as fitted, and then with updates."""
    n, gap = series.n_train, series.ahead - 1
    model = ClearRegressor(confidence_level=LEVEL, split="time", gap=gap, random_state=seed)
    model.fit(series.X[:n], series.y[:n], time=series.time[:n])
    yield model.predict_interval(series.X[n:])[1][:, :, 0]
    found = []
    for block in blocks(series):
        rows = series.X[block]
        found.append(model.predict_interval(rows)[1][:, :, 0])
        known = {"time": series.time[block], "lead": series.ahead}
        model.update(rows, series.y[block], **known)
    yield np.concatenate(found)


def lightgbm(series: Series, seed: int) -> Iterator[np.ndarray]:
    """Predict two quantiles with LightGBM, conformalized on the last training rows (CQR)."""
    n = series.n_train
    n_fit = n - int(CALIBRATION_SHARE * n)
    models = [
        _lightgbm(seed, objective="quantile", alpha=q).fit(series.X[:n_fit], series.y[:n_fit])
        for q in (LOW, HIGH)
    ]
    lower, upper = np.sort([model.predict(series.X[n_fit:]) for model in models], axis=0)
    y, held_out = series.y[n_fit:], slice(0, n - n_fit)
    scores = np.maximum(lower - y, y - upper)
    shift = order_statistic(scores[held_out], rank(n - n_fit, LEVEL))
    test = slice(n - n_fit, None)
    yield np.stack([lower[test] - shift, upper[test] + shift], axis=1)


def mapie_enbpi(series: Series, seed: int) -> Iterator[np.ndarray]:
    """Predict with EnbPI, whose scores are replaced by those of new rows, block by block."""

    def update(model: Any, X: np.ndarray, y: np.ndarray) -> None:
        model.update(X, y, ensemble=True)

    yield _mapie(series, seed, "enbpi", update)


def mapie_aci(series: Series, seed: int) -> Iterator[np.ndarray]:
    """Predict with ACI, whose scores are also replaced and whose level adapts."""

    def update(model: Any, X: np.ndarray, y: np.ndarray) -> None:
        model.adapt_conformal_inference(X, y, gamma=ACI_RATE, confidence_level=LEVEL, ensemble=True)
        model.update(X, y, ensemble=True)

    yield _mapie(series, seed, "aci", update)


def _mapie(
    series: Series, seed: int, method: str, update: Callable[[Any, np.ndarray, np.ndarray], Any]
) -> np.ndarray:
    from mapie.regression import TimeSeriesRegressor
    from mapie.subsample import BlockBootstrap

    n = series.n_train
    X, y = series.X.to_numpy(float), series.y
    draws = BlockBootstrap(
        n_resamplings=20, length=7 * series.ahead, overlapping=True, random_state=seed
    )
    model = TimeSeriesRegressor(_lightgbm(seed), method=method, cv=draws, random_state=seed)
    model.fit(X[:n], y[:n])
    found = []
    for block in blocks(series):
        _, bounds = model.predict(
            X[block], confidence_level=LEVEL, ensemble=True, allow_infinite_bounds=True
        )
        found.append(bounds[:, :, 0])
        update(model, X[block], y[block])
    return np.concatenate(found)


def _lightgbm(seed: int, **parameters: Any) -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_jobs=1, verbosity=-1, random_state=seed, **parameters)


METHODS: dict[tuple[str, ...], Callable[[Series, int], Iterator[np.ndarray]]] = {
    ("ClearRegressor, split at random",): at_random,
    ('ClearRegressor, split="time"', 'ClearRegressor, split="time", updated'): in_time,
    ("LightGBM, conformalized",): lightgbm,
    ("MAPIE, EnbPI",): mapie_enbpi,
    ("MAPIE, ACI",): mapie_aci,
}
"""Functions that yield the bounds (n, 2) of the test rows, by the names of these bounds."""


def answers(names: tuple[str, ...], series: Series, seed: int) -> dict[str, np.ndarray]:
    """Return the bounds (n, 2) of the test rows by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RefitWarning)  # no model is refitted here
        warnings.simplefilter("ignore", CalibrationWarning)  # infinite widths are counted
        warnings.simplefilter("ignore", UserWarning)  # LightGBM warns about names of columns
        return dict(zip(names, METHODS[names](series, seed), strict=True))
