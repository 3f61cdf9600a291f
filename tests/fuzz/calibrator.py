"""ClearCalibrator against a search over every lambda at which two rows change places."""

from __future__ import annotations

import itertools
import math

import numpy as np

from clearbands import ClearCalibrator, metrics
from clearbands.calibration.conformal import rank
from tests.fuzz.campaign import Target

LEVELS = (0.5, 0.8, 0.9, 0.95)


def attempt(rng: np.random.Generator) -> None:
    level = float(rng.choice(LEVELS))
    y, center, aleatoric, epistemic = _rows(rng)
    k = min(rank(len(y), level), len(y))
    fitted = ClearCalibrator(level).fit(y, center, aleatoric, epistemic)
    interval = fitted.predict_interval(center, aleatoric, epistemic)
    distance, a, e = _facing(y, center, aleatoric), *_widths(y, center, aleatoric, epistemic)
    if np.count_nonzero((a > 0) | (e > 0) | (distance == 0)) < k:
        assert not np.isfinite(interval).all(), "no factor reaches enough rows, yet all is finite"
        return
    slack = 1e-9 * (np.abs(y) + np.ptp(interval, axis=1))
    covered = (y >= interval[:, 0] - slack) & (y <= interval[:, 1] + slack)
    assert covered.sum() >= k, f"{covered.sum()} of its own rows are covered, not {k}"
    best = min(
        _loss(y, center, aleatoric, epistemic, factors, level)
        for factors in _candidates(distance, a, e, k)
    )
    found = metrics.quantile_loss(y, interval, level)
    assert found <= best * (1 + 1e-7), f"a loss of {found!r}, where {best!r} is possible"


def _rows(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Draw a few rows in any unit; in half of the cases values are few and widths may be 0."""
    n = int(rng.integers(1, 25))
    unit = 10.0 ** rng.uniform(-100, 100)
    if rng.random() < 0.5:
        y, (aleatoric, epistemic) = rng.integers(-3, 4, n), rng.integers(0, 3, (2, n, 2))
    else:
        decades = rng.uniform(0, 4)
        y = rng.normal(size=n)
        aleatoric, epistemic = 10 ** rng.uniform(-decades, 0, (2, n, 2))
    parts = 10.0 ** rng.uniform(-3, 3, 2)
    return y * unit, np.zeros(n), aleatoric * unit * parts[0], epistemic * unit * parts[1]


def _facing(y: np.ndarray, center: np.ndarray, aleatoric: np.ndarray) -> np.ndarray:
    return np.abs(y - center)


def _widths(
    y: np.ndarray, center: np.ndarray, aleatoric: np.ndarray, epistemic: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the widths on the side of the target."""
    side = (y > center).astype(int)
    rows = np.arange(len(y))
    return aleatoric[rows, side], epistemic[rows, side]


def _candidates(distance, a, e, k):
    """Yield the least factors that reach k rows, at each lambda where two rows change places."""
    lambdas = [0.0, math.inf]
    for i, j in itertools.combinations(range(len(distance)), 2):
        across = distance[j] * e[i] - distance[i] * e[j]
        if across:
            lambdas.append((distance[i] * a[j] - distance[j] * a[i]) / across)
    for lambda_ in lambdas:
        if lambda_ < 0 or math.isnan(lambda_):
            continue
        one, other = (0.0, 1.0) if lambda_ == math.inf else (1.0, lambda_)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            scores = np.where(distance == 0, 0.0, distance / (one * a + other * e))
        gamma = np.sort(scores)[k - 1]
        if np.isfinite(gamma) and np.isfinite(gamma * other):
            yield gamma * one, gamma * other


def _loss(y, center, aleatoric, epistemic, factors, level):
    widths = factors[0] * aleatoric + factors[1] * epistemic
    interval = np.column_stack([center - widths[:, 0], center + widths[:, 1]])
    return metrics.quantile_loss(y, interval, level)


TARGET = Target(
    "calibrator",
    "covers its rank of rows, and no lambda has a smaller loss",
    attempt,
)
