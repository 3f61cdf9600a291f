"""Calibration sets: what is kept of them, so that other levels can be asked."""

import numpy as np

from clearbands import FixedRatioCalibrator
from clearbands.calibration.calibration_set import CalibrationSet, fit_calibrator, keep_levels
from clearbands.rows.bands import Components


def skewed(rng, n):
    ones = np.ones((n, 2, 1))
    return CalibrationSet(rng.exponential(size=n) ** 1.5, Components(np.ones(n), ones, ones))


def test_levels_that_were_not_fitted_cover_as_much_where_other_rows_choose():
    rng = np.random.default_rng(0)
    levels, fitted = np.array([0.3, 0.5, 0.8, 0.86]), np.array([0.9])
    coverage = []
    for _ in range(1000):
        chooser, held_out = skewed(rng, 199), skewed(rng, 199)
        calibrator = fit_calibrator(FixedRatioCalibrator([0.9], ratio=0), held_out, chooser)
        bands = keep_levels(calibrator, held_out, fitted, chooser=chooser)
        distances = np.add(*calibrator.scale(np.ones((1, 2, 1)), np.ones((1, 2, 1))))
        lower, upper = bands.intervals(np.ones(1), distances, levels)[0]
        below_upper, below_lower = (
            1 - np.exp(-(np.maximum(b, 0) ** (2 / 3))) for b in (upper, lower)
        )
        coverage.append(below_upper - below_lower)
    error = np.std(coverage, axis=0) / np.sqrt(len(coverage))
    assert np.all(np.mean(coverage, axis=0) > levels - 3 * error)
