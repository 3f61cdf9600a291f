"""The coverage of calibrators and of whole models if rows are few.

A calibrator sees the right widths up to independent errors, so that only the number of calibration
rows matters. Whole models are fitted to few rows. In both cases the noise is normal with a known
deviation, so that the coverage of an interval is computed exactly.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import ndtr

from clearbands import ClearCalibrator, ClearRegressor
from clearbands.calibration.conformal import beta_parameters
from experiments import pages

LEVEL = 0.9
CALIBRATION_ROWS = (19, 39, 99, 399)
TRAINING_ROWS = (20, 60, 200, 1000)
NEW_ROWS = 1000
CALIBRATIONS = ("cross", "joint", "conformal")


class Parts(NamedTuple):
    """Rows with their widths, and the true deviation of y around the center."""

    y: np.ndarray
    center: np.ndarray
    aleatoric: np.ndarray
    epistemic: np.ndarray
    deviation: np.ndarray

    @classmethod
    def draw(cls, n: int, rng: np.random.Generator) -> Parts:
        known, unknown = rng.lognormal(0, 0.5, (2, n))
        deviation = np.hypot(known, 0.5 * unknown)
        errors = rng.lognormal(0, 0.2, (2, n, 2))
        aleatoric, epistemic = known[:, None] * errors[0], unknown[:, None] * errors[1]
        y = deviation * rng.normal(size=n)
        return cls(y, np.zeros(n), aleatoric, epistemic, deviation)

    @property
    def shown(self) -> tuple[np.ndarray, ...]:
        return self[:4]


def calibrator_coverage(n: int, draws: int, *, split: bool, seed: int = 0) -> np.ndarray:
    """Return coverages (draws,) after calibration on n rows; with `split`, others choose lambda."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(draws):
        rows, others, new = (Parts.draw(size, rng) for size in (n, n, NEW_ROWS))
        fitted = ClearCalibrator(LEVEL).fit(*rows.shown, validation=others.shown if split else None)
        found.append(exact_coverage(fitted.predict_interval(*new.shown[1:]), 0.0, new.deviation))
    return np.array(found)


def model_coverage(n: int, fits: int, calibration: str, seed: int = 0) -> np.ndarray:
    """Return coverages (fits,) of ClearRegressor with the default parts, fitted to n rows."""
    rng = np.random.default_rng(seed)
    found = []
    for fit in range(fits):
        X, new = rng.normal(size=(n, 4)), rng.normal(size=(NEW_ROWS, 4))
        y = mean_at(X) + deviation_at(X) * rng.normal(size=n)
        model = ClearRegressor(calibration=calibration, confidence_level=LEVEL, random_state=fit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # models warn that rows are few, as is intended here
            _, intervals = model.fit(X, y).predict_interval(new)
        found.append(exact_coverage(intervals[:, :, 0], mean_at(new), deviation_at(new)))
    return np.array(found)


def exact_coverage(intervals: np.ndarray, mean: np.ndarray | float, deviation: np.ndarray) -> float:
    lower, upper = ((intervals[:, side] - mean) / deviation for side in (0, 1))
    return float(np.mean(ndtr(upper) - ndtr(lower)))


def mean_at(X: np.ndarray) -> np.ndarray:
    return np.sin(2 * X[:, 0]) + X[:, 1]


def deviation_at(X: np.ndarray) -> np.ndarray:
    return 0.3 + 0.3 * np.abs(X[:, 2])


def report(draws: int, fits: int) -> Iterator[str]:
    yield f"Mean coverage of the calibrator at {LEVEL:.0%}, over {draws:,} calibration sets:\n"
    yield "| calibration rows | joint | lambda from as many others | of the Beta distribution |"
    yield "|---:|---:|---:|---:|"
    for n in CALIBRATION_ROWS:
        joint, split = (calibrator_coverage(n, draws, split=split) for split in (False, True))
        law = stats.beta(*beta_parameters(n, LEVEL)).mean()
        yield f"| {n} | {_mean_of(joint)} | {_mean_of(split)} | {law:.3f} |"
    yield f"\nMean coverage of `ClearRegressor` at {LEVEL:.0%}, over {fits} fits to so many rows:\n"
    yield "| rows | " + " | ".join(f'`"{name}"`' for name in CALIBRATIONS) + " |"
    yield "|---:|" + "---:|" * len(CALIBRATIONS)
    for n in TRAINING_ROWS:
        cells = [_mean_of(model_coverage(n, fits, name)) for name in CALIBRATIONS]
        yield f"| {n} | " + " | ".join(cells) + " |"


def _mean_of(coverage: np.ndarray) -> str:
    error = coverage.std(ddof=1) / np.sqrt(len(coverage))
    return f"{coverage.mean():.3f} ± {error:.3f}"


def add_commands(commands) -> None:
    help_ = "coverage where rows are few, of the calibrator and of whole models"
    parser = commands.add_parser("small-samples", help=help_, description=help_)
    parser.add_argument(
        "--draws", type=int, default=1000, help="calibration sets per number of rows"
    )
    parser.add_argument("--fits", type=int, default=20, help="models per number of rows and way")
    parser.add_argument("--write", type=Path, help="a page whose tables are to be replaced")
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> int:
    pages.show(report(args.draws, args.fits), "small samples", args.write)
    return 0
