"""The methods under the names that the paper prints, one line each.

To add one, write a file that puts a `Method` into METHODS[setting] and run it with
`python -m experiments run --methods-from FILE`.
"""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from clearbands import (
    AdditiveCalibrator,
    ClearCalibrator,
    FixedAleatoricCalibrator,
    FixedRatioCalibrator,
    MemberRankCalibrator,
)
from clearbands.baselines.uacqr import spread_components
from clearbands.calibration.conformal import coverage_rank, order_statistic, ratio_scores
from clearbands.rows.bands import make_interval, on_side_of
from experiments import default, peers
from experiments.case import Case, Method, Result
from experiments.fitted import Fitted
from experiments.protocol import LEVEL

# Functions that return what a calibrator sees: center, aleatoric and epistemic widths


def both(rows: Fitted) -> tuple[np.ndarray, ...]:
    return rows.center, rows.aleatoric, rows.epistemic


def residuals_and_ones(rows: Fitted) -> tuple[np.ndarray, ...]:
    return rows.center, rows.aleatoric, np.ones_like(rows.aleatoric)


def of_y_and_ones(rows: Fitted) -> tuple[np.ndarray, ...]:
    return rows.center, rows.aleatoric_of_y, np.ones_like(rows.aleatoric_of_y)


def ones_and_epistemic(rows: Fitted) -> tuple[np.ndarray, ...]:
    return rows.center, np.ones_like(rows.epistemic), rows.epistemic


def with_quantiles(rows: Fitted) -> tuple[np.ndarray, ...]:
    return rows.center, rows.aleatoric, rows.from_quantiles


def spread(rows: Fitted) -> tuple[np.ndarray, ...]:
    return spread_components(rows.members_of_y, [LEVEL])


def by(calibrator: Any, widths: Callable[[Fitted], tuple[np.ndarray, ...]]) -> Callable:
    def run(case: Case) -> Result:
        validation = (case.validation.y, *widths(case.validation)) if case.conformal else None
        fitted = clone(calibrator).fit(
            case.calibration.y, *widths(case.calibration), validation=validation
        )
        intervals = fitted.predict_interval(*widths(case.test))
        if isinstance(fitted, AdditiveCalibrator):
            return Result(intervals)  # its factor is a distance, not a ratio
        return Result(intervals, fitted.lambda_, fitted.gamma1_)

    return run


def uacqr_p(case: Case) -> Result:
    def ends(rows: Fitted) -> tuple[np.ndarray, np.ndarray]:
        return rows.members_of_y[:, 0], rows.members_of_y[:, 2]

    calibrator = MemberRankCalibrator(LEVEL).fit(case.calibration.y, *ends(case.calibration))
    middle = np.median(case.test.members_of_y[:, 1], axis=1)
    return Result(calibrator.predict_interval(middle, *ends(case.test)))


def quantiles_and_ones(rows: Fitted) -> tuple[np.ndarray, ...]:
    """Return widths by the quantiles of y around their own median."""
    lower, middle, upper = rows.members_of_y[:, :, 0].T
    widths = np.stack([middle - lower, upper - middle], axis=1)
    return middle, widths, np.ones_like(widths)


def least_factor(widths: Callable[[Fitted], tuple[np.ndarray, ...]]) -> Callable:
    """Scale epistemic widths by the least factor that covers the level, without n + 1."""

    def run(case: Case) -> Result:
        y, (center, _, epistemic) = case.calibration.y, widths(case.calibration)
        scores = ratio_scores(np.abs(y - center), on_side_of(y, center, epistemic))
        factor = order_statistic(scores, coverage_rank(len(y), LEVEL))
        center, _, epistemic = widths(case.test)
        return Result(make_interval(center, factor * epistemic), math.inf, 0.0)

    return run


def quantiles_as_they_are(case: Case) -> Result:
    lower, middle, upper = case.test.members_of_y[:, :, 0].T
    return Result(np.stack([lower, upper], axis=1), center=middle)


def moved_quantiles(case: Case) -> Result:
    found = by(AdditiveCalibrator(LEVEL), quantiles_and_ones)(case)
    return found._replace(center=quantiles_and_ones(case.test)[0])


PCS, ALEATORIC_R = ("pcs", "pcs and residuals"), ("pcs", "residuals", "pcs and residuals")
OF_Y, ABC = ("quantiles of y",), ("a", "b", "c")
ENSEMBLE, NETWORK_QUANTILES, DEEP = ("ensemble",), ("quantile networks",), ("deep",)
NETWORKS = ENSEMBLE + NETWORK_QUANTILES

clear = by(ClearCalibrator(LEVEL), both)
clear_quantiles = by(ClearCalibrator(LEVEL), with_quantiles)
pcs = by(FixedRatioCalibrator(LEVEL, ratio=math.inf), both)
quantiles_conformal = by(FixedRatioCalibrator(LEVEL, ratio=math.inf), with_quantiles)
aleatoric_r = by(AdditiveCalibrator(LEVEL), residuals_and_ones)
uacqr_s = by(AdditiveCalibrator(LEVEL), spread)

METHODS: dict[str, dict[str, Method]] = {
    "standard": {
        "CLEAR": Method(clear, ALEATORIC_R + NETWORKS, ABC + DEEP),
        "ALEATORIC": Method(by(AdditiveCalibrator(LEVEL), of_y_and_ones), PCS + OF_Y, ABC),
        "ALEATORIC-R": Method(aleatoric_r, ALEATORIC_R),
        "PCS-EPISTEMIC": Method(pcs, PCS),
        "Naive": Method(by(FixedRatioCalibrator(LEVEL, ratio=0), ones_and_epistemic), PCS),
        "gamma1=1": Method(by(FixedAleatoricCalibrator(LEVEL), both), ALEATORIC_R),
        "lambda=1": Method(by(FixedRatioCalibrator(LEVEL, ratio=1), both), ALEATORIC_R),
        "UACQR-S": Method(uacqr_s, OF_Y, ("c",)),
        "UACQR-P": Method(uacqr_p, OF_Y, ("c",)),
        "DE": Method(least_factor(both), ENSEMBLE, DEEP),
        "SQR": Method(quantiles_as_they_are, NETWORK_QUANTILES, DEEP),
        "DE-conformal": Method(pcs, ENSEMBLE, DEEP),
        "SQR-conformal": Method(moved_quantiles, NETWORK_QUANTILES, DEEP),
        "CLEAR-quantiles": Method(clear_quantiles, NETWORKS, DEEP),
        "DE-quantiles": Method(least_factor(with_quantiles), ENSEMBLE, DEEP),
        "DE-quantiles-conformal": Method(quantiles_conformal, ENSEMBLE, DEEP),
    },
    "conformalized": {
        "CLEAR-c": Method(clear, ALEATORIC_R),
        "PCS-EPISTEMIC-c": Method(pcs, PCS),
        "ALEATORIC-R-c": Method(aleatoric_r, ALEATORIC_R),
        "CLEAR": Method(clear, ALEATORIC_R, setting="standard"),
        "UACQR-S": Method(uacqr_s, OF_Y, ("c",)),
        "UACQR-P": Method(uacqr_p, OF_Y, ("c",)),
    },
}
"""The methods by setting and name; `-c` and the repeated CLEAR are as in the paper's tables."""

METHODS["standard"] |= peers.installed()


def of(variant: str, setting: str) -> dict[str, Method]:
    """Return the methods that run in a variant and a setting."""
    listed = METHODS[setting] | (default.METHODS[setting] if variant == "default" else {})
    return {n: m for n, m in listed.items() if variant in m.variants}


def load_file(path: str | Path) -> None:
    """Run a file that adds methods to METHODS."""
    runpy.run_path(str(path))
