"""Two of the paper's laws, on simulated data whose population values are known.

Population optimality says that CLEAR, calibrated on many rows, has an expected quantile loss of at
most that of every calibration with one free factor. Finite-sample coverage says that over
calibration sets of n rows, the coverage of Conformalized CLEAR follows the law Beta(k, n + 1 - k).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import stats
from sklearn.base import clone

from clearbands import ClearCalibrator, FixedAleatoricCalibrator, FixedRatioCalibrator
from clearbands.calibration.conformal import beta_parameters
from clearbands.rows.levels import alpha
from experiments.methods import both
from experiments.simulation_data import LEVEL
from experiments.simulation_fit import Cell, FittedWorld, fit_world

CASES = (("homo", 1), ("hetero1", 1), ("hetero2", 1), ("homo", 3))
ROWS_TO_FIT, BOOTSTRAPS = 2000, 10  # the laws hold for any widths, so small fits are enough
NEW_ROWS = 5000  # the exact coverage and loss given x are averaged over so many rows
SIZES = (29, 100)  # the sizes of the calibration sets

CALIBRATORS = {
    "CLEAR": ClearCalibrator(LEVEL),
    "lambda=1": FixedRatioCalibrator(LEVEL, ratio=1),
    "gamma1=1": FixedAleatoricCalibrator(LEVEL),
    "lambda=0": FixedRatioCalibrator(LEVEL, ratio=0),
    "lambda=inf": FixedRatioCalibrator(LEVEL, ratio=math.inf),
}


class Losses(NamedTuple):
    """The quantile losses of calibrated intervals on calibration rows, and expected on new ones."""

    sample: float
    population: float


def quantile_losses(model: FittedWorld, n: int, rng: np.random.Generator) -> dict[str, Losses]:
    """Return the losses by calibrator, each calibrated on the same n rows."""
    rows = model.parts(*model.world.sample(n, rng))
    X, _ = model.world.sample(NEW_ROWS, rng)
    new = both(model.parts(X))
    found = {}
    for name, calibrator in CALIBRATORS.items():
        fitted = clone(calibrator).fit(rows.y, *both(rows))
        expected = model.world.quantile_loss(X, fitted.predict_interval(*new), alpha(LEVEL))
        found[name] = Losses(fitted.loss_, float(np.mean(expected)))
    return found


def conformal_coverage(
    model: FittedWorld, n: int, draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the coverages (draws,) with lambda from n new rows and gamma1 from n others."""
    pool = model.parts(*model.world.sample(2 * n * draws, rng))
    X, _ = model.world.sample(NEW_ROWS, rng)
    new = both(model.parts(X))
    coverage = []
    for rows in np.arange(2 * n * draws).reshape(draws, 2, n):
        validation, calibration = (pool.take(half) for half in rows)
        fitted = ClearCalibrator(LEVEL).fit(
            calibration.y, *both(calibration), validation=(validation.y, *both(validation))
        )
        coverage.append(np.mean(model.world.coverage(X, fitted.predict_interval(*new))))
    return np.array(coverage)


def report(n_calibration: int, draws: int) -> Iterator[str]:
    models = {case: fit_world(Cell(*case, 0), ROWS_TO_FIT, BOOTSTRAPS) for case in CASES}
    yield f"Expected quantile loss, calibrated on {n_calibration:,} rows:\n"
    yield f"| noise | d | {' | '.join(CALIBRATORS)} |"
    yield "|---|" + "---:|" * (1 + len(CALIBRATORS))
    for (noise, d), model in models.items():
        losses = quantile_losses(model, n_calibration, np.random.default_rng(0))
        values = " | ".join(f"{loss.population:.5f}" for loss in losses.values())
        yield f"| {noise} | {d} | {values} |"
    yield f"\nCoverage of Conformalized CLEAR over {draws} calibration sets of n rows:\n"
    yield "| noise | d | n | mean | of the law | deviation | of the law | Kolmogorov-Smirnov p |"
    yield "|---|" + "---:|" * 7
    for (noise, d), model in models.items():
        for n in SIZES:
            coverage = conformal_coverage(model, n, draws, np.random.default_rng(0))
            law = stats.beta(*beta_parameters(n, LEVEL))
            yield (
                f"| {noise} | {d} | {n} | {coverage.mean():.4f} | {law.mean():.4f} | "
                f"{coverage.std():.4f} | {law.std():.4f} | "
                f"{stats.kstest(coverage, law.cdf).pvalue:.2f} |"
            )
