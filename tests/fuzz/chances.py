"""Distributions of rows with heavy tails, outliers, weights, and levels with equal bounds."""

from __future__ import annotations

import numpy as np

from clearbands import FixedRatioCalibrator
from clearbands.calibration.any_level import AnyLevel
from clearbands.calibration.distribution import Distribution
from clearbands.calibration.rolling import Pace, Rolling
from tests.fuzz.campaign import Target

LEVELS = ([0.9], [0.5, 0.9], [0.8, 0.95, 0.6])
INVERSE = 1e-4  # the largest error of cdf(ppf(p)) between the calibration rows


def attempt(rng: np.random.Generator) -> None:
    n, levels = int(rng.integers(12, 300)), LEVELS[rng.integers(len(LEVELS))]
    center, noise = np.zeros(n), _noise(rng, n)
    widths = rng.lognormal(0, rng.choice([0, 0.5, 2]), (n, 2, len(levels)))  # levels must be nested
    weight = rng.integers(1, 4, n).astype(float) if rng.random() < 0.3 else None
    calibrator = FixedRatioCalibrator(levels, ratio=0).fit(
        noise, center, widths, widths, sample_weight=weight
    )
    distances = np.add(*calibrator.scale(widths, widths))
    bands = AnyLevel.of(levels, noise, center, distances, sample_weight=weight)
    if weight is None and rng.random() < 0.5:
        new_rows = bands.positions[:1] * 10 ** rng.uniform(0, 8, int(rng.integers(1, 60)))
        bands = Rolling.begin(levels, bands.positions, Pace()).updated_by(new_rows).bands(bands)
    distribution = bands.distribution(center, distances)
    _check_chances(distribution, noise, rng)
    _check_inverse(distribution, rng)


def _noise(rng: np.random.Generator, n: int) -> np.ndarray:
    noise = [
        rng.normal(size=n),
        np.exp(2.5 * rng.normal(size=n)),
        rng.pareto(0.8, n),
        rng.standard_t(1, n),
    ][rng.integers(4)]
    if rng.random() < 0.5:
        noise[0] = rng.choice([-1, 1]) * 10 ** rng.uniform(1, 100)
    return noise


def _check_chances(distribution: Distribution, noise: np.ndarray, rng: np.random.Generator) -> None:
    far = np.abs(noise).max()
    thresholds = np.sort([*rng.choice(noise, 3), *far * rng.normal(size=4), -1e3 * far, 1e3 * far])
    chances = np.stack([distribution.cdf(t) for t in thresholds.tolist()])
    assert np.all((chances >= 0) & (chances <= 1)), "a chance that is none"
    assert np.all(np.diff(chances, axis=0) >= 0), "a chance that falls where the threshold rises"
    drawn = distribution.sample(50, random_state=int(rng.integers(2**31)))
    assert np.isfinite(drawn).all(), "a sample without end"


def _check_inverse(distribution: Distribution, rng: np.random.Generator) -> None:
    """Check that `cdf` inverts `ppf`, up to what one step between floats is far from all rows."""
    beyond = 1 - distribution.shares[-1] + distribution.shares[0]
    shares = np.append(rng.uniform(size=6), distribution.bands.levels / 2 + 0.5)
    points = distribution.ppf(shares)
    for share, point in zip(shares.tolist(), points.T, strict=True):
        inner = min(share, 1 - share) > beyond
        off = np.abs(distribution.cdf(point) - share).max()
        assert off <= (INVERSE if inner else beyond), f"the chance at {share} is off by {off}"


TARGET = Target(
    "chances",
    "chances between 0 and 1 that rise, finite samples, and `cdf(ppf(p))` is p",
    attempt,
)
