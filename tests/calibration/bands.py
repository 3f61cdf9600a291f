"""Calibrated rows of several kinds of noise."""

import numpy as np
from scipy import stats

from clearbands import ClearCalibrator
from clearbands.calibration.any_level import AnyLevel


def calibrated(levels, data, **weights):
    calibrator = ClearCalibrator(levels).fit(*data, **weights)
    distances = np.add(*calibrator.scale(*data[2:]))
    return calibrator, distances, AnyLevel.of(levels, data[0], data[1], distances, **weights)


def coverage_of_normal(bounds):
    return stats.norm.cdf(bounds[:, 1]) - stats.norm.cdf(bounds[:, 0])


def normal_rows(rng, n):
    """Draw normal noise, with the right center and widths in proportion to its scale."""
    center, scale = rng.normal(size=n), rng.lognormal(size=n)
    widths = 1.645 * scale[:, None] * np.ones((n, 2))
    return center + scale * rng.normal(size=n), center, widths, 1e-3 * widths


def skewed_rows(rng, n):
    """Draw exponential noise around its mean: five of eight targets lie below the center."""
    center, ones = rng.normal(size=n), np.ones((n, 2))
    return center + rng.exponential(size=n) - 1, center, ones * [0.95, 2.0], 1e-3 * ones


def peaked_rows(rng, n):
    """Draw targets that lie close to the center or far off above it, and anywhere below it."""
    center, ones = rng.normal(size=n), np.ones((n, 2))
    above = np.where(rng.random(n) < 0.75, 0.05, 2.0) * rng.random(n)
    noise = np.where(rng.random(n) < 0.5, above, -rng.random(n))
    return center + noise, center, ones, 1e-3 * ones
