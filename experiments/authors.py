"""Variant (b) of the paper, XGBoost only, as the authors' program computes it.

The library follows the paper's text. The published numbers come from a program that differs from
the text in details, and only a run that repeats those details can tell whether we understand the
method as the authors do. Only this file repeats them:

- residuals are in-sample, and the center f(x) is appended to the features of their models;
- three models per bootstrap; lower, middle and upper curve are each the median over the
  bootstraps, and the widths are the differences of those medians;
- the bootstraps of the aleatoric part draw the same rows in every split of a data set;
- the rank of the calibration score is one too high for some numbers of rows (`authors_rank`).

Calibration rows choose lambda and gamma, as in the paper. Metrics, scores, grid search and order
statistic are those of the library, where the definitions coincide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.utils import resample

from clearbands import metrics
from clearbands.calibration.conformal import coverage_rank, order_statistic
from clearbands.calibration.lambda_path import PAPER_LAMBDAS, CalibrationRows, search_grid
from clearbands.rows.levels import alpha, tails
from experiments.protocol import BOOTSTRAPS, FIRST_SEED, LEVEL, Split, split_rows


class Parts(NamedTuple):
    """The target, center and widths of rows for calibration; widths are (n, 2), below and above."""

    y: np.ndarray
    center: np.ndarray
    aleatoric: np.ndarray
    epistemic: np.ndarray

    def take(self, rows: np.ndarray) -> Parts:
        return Parts(*(part[rows] for part in self))

    @property
    def distances(self) -> np.ndarray:
        """The distances (n, 2) of y below and above the center; one of the two is negative."""
        return np.stack([self.center - self.y, self.y - self.center], axis=1)


class Calibrated(NamedTuple):
    """Widths of the test rows, and the factors that gave them, under their published names."""

    widths: np.ndarray
    factors: dict[str, float]


def run(
    X: np.ndarray,
    y: np.ndarray,
    seed_index: int,
    methods: Sequence[str] = ("CLEAR",),
    n_bootstraps: int = BOOTSTRAPS,
) -> dict[str, dict[str, float]]:
    """Return the published metrics and factors on the test rows, by method and then by metric."""
    seed = FIRST_SEED + seed_index
    split = split_rows(len(y), seed)
    members = fit_members(X[split.train], y[split.train], seed, n_bootstraps)
    on_residuals = {METHODS[name].on_residuals for name in methods}
    parts = {kind: fit_parts(X, y, split, members, kind, n_bootstraps) for kind in on_residuals}
    results = {}
    for name in methods:
        calibration, test = parts[METHODS[name].on_residuals]
        calibrated = METHODS[name].calibrate(calibration, test)
        results[name] = {**score(test, calibrated.widths), **calibrated.factors}
    return results


def score(test: Parts, widths: np.ndarray) -> dict[str, float]:
    """Return the metrics by their published names; widths are relative to the range of test y."""
    bounds = np.stack([test.center - widths[:, 0], test.center + widths[:, 1]], axis=1)
    found = metrics.evaluate(test.y, test.center, bounds, LEVEL)
    return {
        "picp": found["picp"],
        "niw": found["niw"],
        "nciw": found["nciw"],
        "quantileloss": found["quantile_loss"],
        "intervalscoreloss": found["interval_score"],
    }


def authors_nciw(y: np.ndarray, center: np.ndarray, bounds: np.ndarray) -> float:
    """Return NCIW as the authors compute it.

    A row off the center on a side without width counts as covered, so that the factor that just
    covers the level is too small. A side of negative width, which additive calibration may give,
    reduces the mean width.
    """
    widths = np.stack([center - bounds[:, 0], bounds[:, 1] - center], axis=1)
    side = np.where(y < center, widths[:, 0], widths[:, 1])
    scores = np.divide(np.abs(y - center), side, out=np.zeros_like(side), where=side > 0)
    factor = order_statistic(scores, coverage_rank(len(y), LEVEL))
    return float(factor * np.mean(widths.sum(axis=1)) / np.ptp(y))


# The two uncertainties


def booster(quantile: float):
    from xgboost import XGBRegressor  # this library is optional, and the tests do without it

    return XGBRegressor(
        objective="reg:quantileerror",
        quantile_alpha=quantile,
        n_estimators=100,
        tree_method="hist",
        min_child_weight=10,
        random_state=FIRST_SEED,
        n_jobs=1,
    )


def fit_members(X: np.ndarray, y: np.ndarray, seed: int, n_bootstraps: int) -> list:
    """Fit the members of PCS: one model of the median on bootstraps by the seed of the split."""
    return [booster(0.5).fit(*resample(X, y, random_state=seed + i)) for i in range(n_bootstraps)]


def epistemic_part(members: list, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the center (n,), and the widths (n, 2) to the outer quantiles of the members."""
    predictions = np.array([member.predict(X) for member in members], float)
    lower_tail, upper_tail = tails(LEVEL)
    lower, center, upper = np.quantile(predictions, [lower_tail, 0.5, upper_tail], axis=0)
    return center, np.stack([center - lower, upper - center], axis=1)


def aleatoric_draw(n: int, i: int) -> np.ndarray:
    """Return the rows of bootstrap i, which are the same in every split."""
    return np.random.RandomState(FIRST_SEED + i).choice(n, n)


def fit_triples(X: np.ndarray, target: np.ndarray, n_bootstraps: int) -> list[list]:
    """Fit for each bootstrap a model of the lower, the middle and the upper quantile."""
    lower_tail, upper_tail = tails(LEVEL)
    triples = []
    for i in range(n_bootstraps):
        rows = aleatoric_draw(len(target), i)
        triples.append(
            [booster(q).fit(X[rows], target[rows]) for q in (lower_tail, 0.5, upper_tail)]
        )
    return triples


def aleatoric_widths(triples: list[list], X: np.ndarray) -> np.ndarray:
    """Uncross within each bootstrap, take the three medians over bootstraps, then subtract."""
    curves = np.array([[model.predict(X) for model in triple] for triple in triples], float)
    lower, middle, upper = curves[:, 0], curves[:, 1], curves[:, 2]
    median = np.median(middle, axis=0)
    below = median - np.median(np.minimum(lower, middle), axis=0)
    above = np.median(np.maximum(upper, middle), axis=0) - median
    return np.stack([below, above], axis=1)


def fit_parts(
    X: np.ndarray,
    y: np.ndarray,
    split: Split,
    members: list,
    on_residuals: bool | None,
    n_bootstraps: int,
) -> tuple[Parts, Parts]:
    """Return both uncertainties for the calibration and the test rows.

    If `on_residuals` is None, the aleatoric widths are 0.
    """
    center, epistemic = epistemic_part(members, X)
    if on_residuals is None:
        nothing = np.zeros_like(epistemic)
        found = Parts(y, center, nothing, epistemic)
        return found.take(split.calibration), found.take(split.test)
    features = np.column_stack([X, center]) if on_residuals else X
    target = y - center if on_residuals else y
    triples = fit_triples(features[split.train], target[split.train], n_bootstraps)

    def parts_of(rows: np.ndarray) -> Parts:
        aleatoric = aleatoric_widths(triples, features[rows])
        return Parts(y[rows], center[rows], aleatoric, epistemic[rows])

    return parts_of(split.calibration), parts_of(split.test)


# Calibration


def authors_rank(n: int, level: float = LEVEL) -> int:
    """Return the rank at which the authors read off the calibration score.

    They ask numpy for the quantile level * (1 + 1/n), rounded up. Numpy counts the n - 1 gaps
    between scores. Therefore the rank is one too high if the right one needs no rounding (n = 19,
    39, 59, ... at 95 %), and otherwise right.
    """
    share = min(level * (1 + 1 / n), 1.0)
    return int(np.quantile(np.arange(n), share, method="higher")) + 1


def authors_quantile(scores: np.ndarray) -> float:
    return order_statistic(scores, authors_rank(len(scores)))


def clear(calibration: Parts, test: Parts) -> Calibrated:
    rows = CalibrationRows.from_widths(*calibration)
    k = authors_rank(len(rows))
    lambda_ = search_grid(rows, k, alpha(LEVEL), PAPER_LAMBDAS)
    gamma, _ = rows.factors(lambda_, k)
    widths = gamma * (test.aleatoric + lambda_ * test.epistemic)
    return Calibrated(widths, {"lambda": lambda_, "gamma": gamma})


def ratio_one(calibration: Parts, test: Parts) -> Calibrated:
    both = calibration.aleatoric + calibration.epistemic
    gamma = authors_quantile((calibration.distances / both).max(axis=1))
    return Calibrated(gamma * (test.aleatoric + test.epistemic), {"gamma": gamma})


def aleatoric_as_is(calibration: Parts, test: Parts) -> Calibrated:
    """Calibrate with gamma1 = 1; unlike the library's lambda, the authors' may be negative."""
    leftover = calibration.distances - calibration.aleatoric
    lambda_ = authors_quantile((leftover / calibration.epistemic).max(axis=1))
    return Calibrated(test.aleatoric + lambda_ * test.epistemic, {"lambda": lambda_})


def additive(calibration: Parts, test: Parts) -> Calibrated:
    """Calibrate conformalized quantile regression around the center of PCS."""
    shift = authors_quantile((calibration.distances - calibration.aleatoric).max(axis=1))
    return Calibrated(test.aleatoric + shift, {})


def epistemic_only(calibration: Parts, test: Parts) -> Calibrated:
    """Calibrate PCS by a factor of at least 1, without a finite-sample correction.

    The authors bisect to a precision of 1e-6; this is the limit of that search.
    """
    scores = (calibration.distances / calibration.epistemic).max(axis=1)
    gamma = max(1.0, order_statistic(scores, coverage_rank(len(scores), LEVEL)))
    return Calibrated(gamma * test.epistemic, {"gamma": gamma})


def constant(calibration: Parts, test: Parts) -> Calibrated:
    """Calibrate one width for all rows, without a finite-sample correction."""
    width = np.quantile(calibration.distances.max(axis=1), LEVEL, method="higher")
    return Calibrated(np.full_like(test.epistemic, width), {})


class Method(NamedTuple):
    calibrate: Callable[[Parts, Parts], Calibrated]
    on_residuals: bool | None = True  # None stands for no aleatoric part


METHODS = {
    "CLEAR": Method(clear),
    "lambda=1": Method(ratio_one),
    "gamma1=1": Method(aleatoric_as_is),
    "PCS-EPISTEMIC": Method(epistemic_only, on_residuals=None),
    "ALEATORIC-R": Method(additive),
    "ALEATORIC": Method(additive, on_residuals=False),
    "Naive": Method(constant, on_residuals=None),
}
"""The methods by their names in the published table. Those of one kind share their fits."""
