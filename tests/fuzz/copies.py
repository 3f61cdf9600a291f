"""Copies of training rows that calibrate, rounded or changed a little; and tables without any."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from clearbands import (
    ClearRegressor,
    FoldedEnsemble,
    LinearQuantiles,
    PCSEnsemble,
    ResidualQuantiles,
    ScaledResiduals,
)
from clearbands.calibration.guarantee import Guarantee
from tests.fuzz.campaign import Target

CALIBRATIONS = ("cross", "joint", "conformal")


def attempt_copies(rng: np.random.Generator) -> None:
    """Fit a tree that learns its rows, with calibration rows that are copies of them."""
    n, n_columns = int(rng.integers(60, 200)), int(rng.integers(2, 6))
    X = rng.normal(size=(n, n_columns)) * 10.0 ** rng.integers(-5, 6, n_columns)
    y = 10.0 ** rng.integers(-5, 6) * (X[:, 0] / np.abs(X[:, 0]).max() + rng.normal(size=n))
    if rng.random() < 0.5:
        change = rng.choice(list(CHANGES))
        calibration = str(rng.choice(CALIBRATIONS[1:]))
        X_cal, y_cal = CHANGES[change](rng, X, y)
        model, what = _tree(calibration).fit(X, y, X_cal=X_cal, y_cal=y_cal), f"{change} copies"
    else:
        times, calibration = int(rng.integers(2, 6)), str(rng.choice(CALIBRATIONS))
        X, y = np.tile(X, (times, 1)), np.tile(y, times)
        X = X + 1e-9 * X.std(axis=0) * rng.normal(size=X.shape)
        model, what = _tree(calibration).fit(X, y), f"a table that stands there {times} times"
    assert model.guarantee_ == Guarantee.COPIES, f"{what}: {model.guarantee_}"


def attempt_honest(rng: np.random.Generator) -> None:
    """Fit a table without copies, but for chance ones: no alarm may come."""
    calibration = str(rng.choice(CALIBRATIONS))
    n, has_set = int(10 ** rng.uniform(1.5, 3)), calibration != "cross" and rng.random() < 0.5
    n_all = n + (int(rng.integers(20, 300)) if has_set else 0)
    kinds = [rng.choice(list(COLUMNS))] if rng.random() < 0.5 else list(COLUMNS)
    columns = [COLUMNS[rng.choice(kinds)](rng, n_all) for _ in range(rng.integers(1, 6))]
    X = np.column_stack(columns)
    y = TARGETS[rng.choice(list(TARGETS))](rng, X)
    extra = {"X_cal": X[n:], "y_cal": y[n:]} if has_set else {}
    model = (_tree if rng.random() < 0.5 else _line)(calibration)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.fit(X[:n], y[:n], **extra)
    alarms = [str(w.message) for w in heard if "copy among" in str(w.message)]
    assert model.guarantee_ != Guarantee.COPIES, f"false alarm: {alarms}"


def _tree(calibration: str) -> ClearRegressor:
    """Return a model that knows every row that it has seen."""
    tree = DecisionTreeRegressor(random_state=0)
    smooth = DecisionTreeRegressor(min_samples_leaf=20, random_state=0)
    return ClearRegressor(
        FoldedEnsemble(tree, n_folds=5, n_repeats=1),
        ScaledResiduals(smooth),
        calibration=calibration,
        random_state=0,
    )


def _line(calibration: str) -> ClearRegressor:
    if calibration == "cross":
        parts = (
            FoldedEnsemble(LinearRegression(), n_folds=5, n_repeats=1),
            ScaledResiduals(LinearRegression()),
        )
    else:
        parts = (
            PCSEnsemble([LinearRegression()], n_bootstraps=5),
            ResidualQuantiles(LinearQuantiles(), n_bootstraps=3),
        )
    return ClearRegressor(*parts, calibration=calibration, random_state=0)


def _jittered(rng: np.random.Generator, values: np.ndarray, size: float) -> np.ndarray:
    return values + size * values.std(axis=0) * rng.normal(size=values.shape)


Change = Callable[[np.random.Generator, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
CHANGES: dict[str, Change] = {
    "single precision": lambda rng, X, y: (X.astype("f4"), y),
    "single precision in y too": lambda rng, X, y: (X.astype("f4"), y.astype("f4")),
    "half of them, in single precision": lambda rng, X, y: (X[::2].astype("f4"), y[::2]),
    "shifted": lambda rng, X, y: (X, y + 1e-12 * np.abs(y).max()),
    "shaken": lambda rng, X, y: (_jittered(rng, X, 1e-9), _jittered(rng, y, 1e-9)),
    "shaken visibly": lambda rng, X, y: (_jittered(rng, X, 1e-4), _jittered(rng, y, 1e-4)),
}

COLUMNS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "numbers": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-8, 9),
    "far from zero": lambda rng, n: 10.0 ** rng.integers(3, 10) + rng.normal(size=n),
    "heavy tails": lambda rng, n: rng.lognormal(0, rng.uniform(1, 4), n),
    "categories": lambda rng, n: rng.integers(0, rng.integers(2, 40), n).astype(float),
    "rare": lambda rng, n: (rng.random(n) < 0.05).astype(float),
    "rounded": lambda rng, n: rng.normal(size=n).round(rng.integers(0, 3)),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.exponential(size=n)),
    "days": lambda rng, n: 1.7e9 + 86400.0 * rng.integers(0, 3000, n),
    "even steps": lambda rng, n: rng.permutation(n).astype(float),
    "constant": lambda rng, n: np.full(n, 0.1),
}


def _signal(X: np.ndarray) -> np.ndarray:
    unit = np.abs(X - X.mean(axis=0)).mean(axis=0)
    return ((X - X.mean(axis=0)) / np.where(unit > 0, unit, 1.0)).sum(axis=1)


TARGETS: dict[str, Callable[[np.random.Generator, np.ndarray], np.ndarray]] = {
    "noise": lambda rng, X: rng.normal(size=len(X)),
    "signal": lambda rng, X: _signal(X) + 10.0 ** rng.uniform(-3, 1) * rng.normal(size=len(X)),
    "no noise": lambda rng, X: _signal(X),
    "curve without noise": lambda rng, X: np.sin(_signal(X)) + _signal(X) ** 2,
    "far from zero": lambda rng, X: 1e9 + _signal(X) + rng.normal(size=len(X)),
    "heavy tails": lambda rng, X: _signal(X) + rng.standard_cauchy(len(X)),
    "counts": lambda rng, X: rng.poisson(np.exp(np.clip(_signal(X), -3, 3))).astype(float),
    "rounded": lambda rng, X: (_signal(X) + rng.normal(size=len(X))).round(1),
    "claims": lambda rng, X: np.where(rng.random(len(X)) < 0.7, 0, rng.exponential(size=len(X))),
}

TARGET = Target(
    "copies",
    "rows that train and calibrate, up to rounding or a little more: nothing is promised",
    attempt_copies,
)
HONEST = Target(
    "honest rows",
    "tables of numbers, categories, whole numbers: no false alarm about copies",
    attempt_honest,
)
