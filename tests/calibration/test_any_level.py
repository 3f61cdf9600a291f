"""Any level after the fit: calibrated like the fitted ones, and nested."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from clearbands import CalibrationWarning, FixedRatioCalibrator, metrics
from clearbands.calibration.any_level import AnyLevel
from clearbands.calibration.conformal import beta_parameters, rank
from clearbands.rows.bands import covered
from clearbands.rows.levels import check_tails
from tests.calibration.bands import calibrated, coverage_of_normal, peaked_rows, skewed_rows
from tests.toys import calibration_set

FITTED = ([0.9], [0.5, 0.95, 0.8])


@pytest.mark.parametrize("levels", FITTED)
def test_fitted_levels_are_the_calibrators_and_others_cover_as_many_rows_as_they_need(levels):
    y, center, aleatoric, epistemic = data = calibration_set(n=199)
    calibrator, distances, bands = calibrated(levels, data)
    np.testing.assert_array_equal(
        bands.intervals(center, distances, levels),
        calibrator.predict_interval(center, aleatoric, epistemic),
    )
    for level in (0.1, 0.3, 0.62, 0.85, 0.93, 0.99):
        inside = covered(y, bands.intervals(center, distances, level)[:, :, 0])
        assert rank(199, level) <= inside.sum() <= rank(199, level) + 1


@given(st.integers(0, 10**6), st.sampled_from(FITTED))
@settings(max_examples=30, deadline=None)
def test_quantiles_rise_with_the_level_and_are_the_bounds(seed, levels):
    data = calibration_set(n=120, seed=seed)
    _, distances, bands = calibrated(levels, data)
    center = data[1]
    asked = np.arange(1, 100) / 100
    quantiles = bands.quantiles(center, distances, asked)
    assert np.all(np.diff(quantiles, axis=1) >= 0)
    if bands.median == 0 and not bands.is_skewed:
        np.testing.assert_array_equal(quantiles[:, 49], center)
    alike = replace(bands, is_skewed=False)
    of_intervals = alike.quantiles(center, distances, asked)
    for level, low, high in ((0.9, 4, 94), (0.62, 18, 80), (0.5, 24, 74)):
        bounds = bands.intervals(center, distances, level)[:, :, 0]
        np.testing.assert_array_equal(of_intervals[:, [low, high]], bounds)
    if not bands.is_skewed:
        np.testing.assert_array_equal(quantiles, of_intervals)


def test_the_order_in_which_levels_were_fitted_does_not_matter():
    data = calibration_set(n=150)
    one, other = (calibrated(levels, data) for levels in ([0.5, 0.8, 0.95], [0.95, 0.5, 0.8]))
    np.testing.assert_array_equal(
        one[2].intervals(data[1], one[1], [0.3, 0.7, 0.97]),
        other[2].intervals(data[1], other[1], [0.3, 0.7, 0.97]),
    )


@pytest.mark.parametrize("side", ["both", "lower", "upper"])
def test_the_coverage_at_another_level_follows_its_beta_distribution(side):
    """Distances do not depend on the rows, so the position of a row is all there is to calibrate.

    The noise is even and the distances are not: one-sided bounds must correct for that.
    """
    rng = np.random.default_rng(0)
    skewed, coverages = np.array([[3.0, 1.0]]).repeat(49, axis=0), []
    for _ in range(300):
        data = (rng.normal(size=49), np.zeros(49), skewed, skewed)
        _, distances, bands = calibrated([0.9], data)
        bounds = bands.intervals(np.zeros(1), distances[:1], 0.8, side=side)[:, :, 0]
        assert np.isinf(bounds[0]).tolist() == [side == "upper", side == "lower"]
        coverages.append(coverage_of_normal(bounds)[0])
    law = stats.beta(*beta_parameters(49, 0.8))
    assert stats.kstest(coverages, law.cdf).pvalue > 0.01


def test_tails_are_two_bounds_at_levels_of_their_own():
    """In skewed noise, unequal shares of targets below and above are both met."""
    rng = np.random.default_rng(0)
    cal, new = skewed_rows(rng, 1500), skewed_rows(rng, 20_000)
    calibrator, _, bands = calibrated([0.9], cal)
    distances = np.add(*calibrator.scale(*new[2:]))
    found = bands.between(new[1], distances, (0.02, 0.08))[:, :, 0]
    assert np.mean(new[0] < found[:, 0]) == pytest.approx(0.02, abs=0.01)
    assert np.mean(new[0] > found[:, 1]) == pytest.approx(0.08, abs=0.02)
    for j, (level, side) in enumerate(((0.98, "lower"), (0.92, "upper"))):
        alone = bands.intervals(new[1], distances, level, side=side)[:, j, 0]
        np.testing.assert_array_equal(found[:, j], alone)
    one_sided = bands.between(new[1], distances, (0.0, 0.1))[:, :, 0]
    assert np.isinf(one_sided).all(axis=0).tolist() == [True, False]
    low = bands.intervals(new[1], distances, 0.2, side="lower")[:, 0, 0]
    assert np.all(low <= new[1])  # the interval contains the center


@pytest.mark.parametrize("tails", [(0.5, 0.5), (-0.1, 0.2), (0, 0), (0.1,), "0.1", 0.1, (0.1, "a")])
def test_tails_that_make_no_sense(tails):
    with pytest.raises(ValueError, match="tails must be the shares of targets below and above"):
        check_tails(tails)


def test_where_noise_is_skewed_the_median_is_not_the_center():
    rng = np.random.default_rng(0)
    cal, new = skewed_rows(rng, 1000), skewed_rows(rng, 3000)
    calibrator, _, bands = calibrated([0.9], cal)
    distances = np.add(*calibrator.scale(*new[2:]))
    distribution = bands.distribution(new[1], distances)
    np.testing.assert_allclose(distribution.median - new[1], np.log(2) - 1, atol=0.1)
    assert np.mean(new[0] <= distribution.median) == pytest.approx(0.5, abs=0.04)
    plain = AnyLevel(np.array([0.9]), np.array([0]), np.zeros(0))
    centered = AnyLevel.of([0.9], *cal[:2], np.add(*calibrator.scale(*cal[2:])), shape=plain)
    off, far_off = (
        stats.kstest(each.distribution(new[1], distances).cdf(new[0]), "uniform").statistic
        for each in (bands, centered)
    )
    assert off < 0.06 < 0.12 < far_off
    low, high = bands.intervals(new[1], distances, 0.02)[:, :, 0].T
    assert np.all((low <= new[1]) & (new[1] <= high))  # even where both quantiles are below it


def test_where_one_tail_is_longer_every_quantile_counts_its_own_side():
    """With equal distances no exponential noise lies below the interval, a tenth above it."""
    rng = np.random.default_rng(0)

    def rows(n):
        center, ones = rng.normal(size=n), np.ones((n, 2))
        return center + rng.exponential(size=n) - np.log(2), center, ones, 1e-3 * ones

    cal, new = rows(1000), rows(20_000)
    calibrator, of_cal, bands = calibrated([0.9], cal)
    distances = np.add(*calibrator.scale(*new[2:]))
    assert bands.is_skewed
    asked = np.array([0.01, 0.05, 0.3, 0.5, 0.7, 0.95, 0.99])
    quantiles = bands.quantiles(new[1], distances, asked)
    distribution = bands.distribution(new[1], distances)
    for points in (quantiles, distribution.ppf(asked)):
        came = np.mean(new[0][:, None] <= points, axis=0)
        assert np.all(np.abs(came - asked) < 4 * np.sqrt(asked * (1 - asked) / 1000))
    for j, share in enumerate(asked):  # quantiles stand for whole ranks, hence the tolerance
        np.testing.assert_allclose(distribution.cdf(quantiles[:, j]), share, atol=1 / 1000)
        np.testing.assert_allclose(distribution.cdf(distribution.ppf(share)[:, 0]), share)
    assert np.all(np.diff(quantiles, axis=1) > 0)
    # Intervals stay those of the calibrator; at other levels they contain as many rows as before.
    np.testing.assert_array_equal(
        bands.intervals(cal[1], of_cal, [0.9]), calibrator.predict_interval(*cal[1:])
    )
    both_sides = replace(bands, is_skewed=False)
    np.testing.assert_array_equal(
        bands.intervals(cal[1], of_cal, [0.5, 0.95]),
        both_sides.intervals(cal[1], of_cal, [0.5, 0.95]),
    )
    missed = np.mean(new[0] > both_sides.quantiles(new[1], distances, [0.95])[:, 0])
    assert missed > 0.08  # counted together, all misses lie above


def test_where_the_sides_differ_each_has_its_own_pace():
    rng = np.random.default_rng(0)
    cal, new = peaked_rows(rng, 1000), peaked_rows(rng, 4000)
    calibrator, of_cal, bands = calibrated([0.9], cal)
    assert bands.paces is not None
    distances = np.add(*calibrator.scale(*new[2:]))
    bands = replace(bands, is_skewed=False)  # else each side would count its own rows
    even = replace(bands, paces=None)
    even = replace(even, positions=even.positions_of(*cal[:2], of_cal))
    off, far_off = (
        stats.kstest(each.distribution(new[1], distances).cdf(new[0]), "uniform").statistic
        for each in (bands, even)
    )
    assert off < 0.06 < 0.12 < far_off
    for level in (0.3, 0.62, 0.8):  # the paces cost no rows
        inside = covered(cal[0], bands.intervals(cal[1], of_cal, level)[:, :, 0])
        assert inside.sum() >= rank(1000, level)
    distribution = bands.distribution(new[1][:50], distances[:50])
    for p in (0.001, 0.05, 0.2, 0.51, 0.9, 0.99):
        np.testing.assert_allclose(distribution.cdf(distribution.ppf(p)[:, 0]), p, rtol=1e-9)
    drawn = distribution.sample(2000, random_state=0)
    for share in (0.25, 0.6):
        below = np.mean(drawn <= distribution.ppf(share))
        assert below == pytest.approx(share, abs=0.01)


def test_whole_weights_are_repeated_rows():
    data, weight = calibration_set(n=100), np.arange(100) % 3
    repeated = [np.repeat(array, weight, axis=0) for array in data]
    _, distances, one = calibrated([0.9], data, sample_weight=weight)
    _, _, other = calibrated([0.9], repeated)
    new = data[1][:4], distances[:4]
    np.testing.assert_array_equal(
        one.intervals(*new, [0.3, 0.7]), other.intervals(*new, [0.3, 0.7])
    )
    np.testing.assert_allclose(
        one.distribution(*new).cdf(0.3), other.distribution(*new).cdf(0.3), rtol=1e-12
    )


def test_levels_that_need_more_rows_say_so():
    data = calibration_set(n=30)
    calibrator = FixedRatioCalibrator([0.9]).fit(*data)
    distances = np.add(*calibrator.scale(*data[2:]))
    short = AnyLevel.of([0.9], data[0], data[1], distances)
    apart = AnyLevel.of([0.9], data[0], data[1], distances, may_fall_short=False)
    with pytest.warns(CalibrationWarning, match="at least 99 are needed.*outermost"):
        bounds = short.intervals(data[1], distances, 0.99)[:, :, 0]
    assert covered(data[0], bounds).all()
    with pytest.warns(CalibrationWarning, match="infinite"):
        assert np.isinf(apart.intervals(data[1], distances, 0.99)).all()
    with pytest.raises(ValueError, match="No fitted level has finite bounds"):
        AnyLevel.of([0.9], data[0], data[1], np.full((30, 2, 1), np.inf))


def test_parts_add_up_at_any_level():
    data = calibration_set(n=99)
    calibrator, distances, bands = calibrated([0.5, 0.9], data)
    parts = bands.parts(*calibrator.scale(*data[2:]), 0.7)
    width = np.ptp(bands.intervals(data[1], distances, 0.7)[:, :, 0], axis=1)
    np.testing.assert_allclose((parts[0] + parts[1]).sum(axis=1), width)


def test_bad_input():
    data = calibration_set(n=50)
    _, distances, bands = calibrated([0.9], data)
    distribution = bands.distribution(data[1], distances)
    with pytest.raises(ValueError, match="side must be"):
        bands.intervals(data[1], distances, 0.5, side="left")
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        bands.intervals(data[1], distances, 1.5)
    with pytest.raises(ValueError, match="rise and lie strictly"):
        bands.quantiles(data[1], distances, [0.9, 0.1])
    with pytest.raises(ValueError, match="t contains NaN"):
        distribution.cdf(math.nan)
    with pytest.raises(ValueError, match="t has 3 rows where 50 are needed"):
        distribution.cdf([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="p must lie"):
        distribution.ppf(0.0)
    with pytest.raises(ValueError, match="quantiles must have shape"):
        metrics.crps([1.0], [[1.0]], [0.1, 0.2])
    with pytest.raises(ValueError, match="rise, or stay"):
        metrics.pit([1.0], [[2.0, 1.0]], [0.1, 0.2])
