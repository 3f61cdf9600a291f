"""Any level after the fit: calibrated like the fitted ones, nested, and one distribution."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import trapezoid

from clearbands import CalibrationWarning, ClearCalibrator, FixedRatioCalibrator, metrics
from clearbands.calibration.conformal import beta_parameters, rank
from clearbands.calibration.distribution import (
    AnyLevel,
    leans,
    median_share,
    side_paces,
    signed_knots,
)
from clearbands.rows.bands import covered
from clearbands.rows.checks import check_tails
from clearbands.rows.levels import normal_distances
from clearbands.rows.targets import Support, Targets
from tests.toys import calibration_set

FITTED = ([0.9], [0.5, 0.95, 0.8])


def calibrated(levels, data, **weights):
    calibrator = ClearCalibrator(levels).fit(*data, **weights)
    distances = np.add(*calibrator.scale(*data[2:]))
    return calibrator, distances, AnyLevel.of(levels, data[0], data[1], distances, **weights)


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


def coverage_of_normal(bounds):
    return stats.norm.cdf(bounds[:, 1]) - stats.norm.cdf(bounds[:, 0])


@pytest.mark.parametrize("side", ["both", "lower", "upper"])
def test_the_coverage_at_another_level_follows_its_beta_distribution(side):
    """Distances do not depend on the rows, so the position of a row is all there is to calibrate.

    The noise is skewed against the distances: one-sided bounds must find out.
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
    """Skewed noise: with unequal tails each share is met by itself."""
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
    assert np.all(low <= new[1])  # the center is never left out


@pytest.mark.parametrize("tails", [(0.5, 0.5), (-0.1, 0.2), (0, 0), (0.1,), "0.1", 0.1, (0.1, "a")])
def test_tails_that_make_no_sense(tails):
    with pytest.raises(ValueError, match="tails must be the shares of targets below and above"):
        check_tails(tails)


def test_probability_is_inverse_to_quantile():
    data = calibration_set(n=99)
    _, distances, bands = calibrated([0.5, 0.9], data)
    center = data[1]
    distribution = bands.distribution(center, distances)
    asked = np.array([1e-4, 0.01, 0.05, 0.3, 0.5, 0.77, 0.9, 0.999])
    points = distribution.ppf(asked)
    assert np.all(np.diff(points, axis=1) > 0)
    for j, p in enumerate(asked):
        np.testing.assert_allclose(distribution.cdf(points[:, j]), p, rtol=1e-6)
    # A quantile is the bound of an interval, which covers k whole rows: at most one more.
    for p in (0.55, 0.8, 0.95):
        below = distribution.cdf(bands.quantiles(center, distances, [p])[:, 0])
        assert np.all((p - 1e-9 <= below) & (below <= p + 0.5 / 100 + 1e-9))
    np.testing.assert_allclose(distribution.cdf(distribution.median), 0.5)
    assert np.all(distribution.cdf(1e9) > 1 - 1e-9)


@pytest.mark.parametrize("far", [1e2, 1e4, 1e8, 1e60, 1e140])
def test_a_far_outlier_leaves_chances_and_samples_finite(far):
    y, *rest = calibration_set(n=99)
    y[0] = far
    _, distances, bands = calibrated([0.5, 0.9], (y, *rest))
    center = rest[0]
    distribution = bands.distribution(center, distances)
    thresholds = [-1e300, -10 * far, -1.0, 0.0, 1.0, far / 2, far, 1.01 * far, 10 * far, 1e300]
    chances = np.stack([distribution.cdf(t) for t in thresholds])
    assert np.all((chances >= 0) & (chances <= 1))
    assert np.all(np.diff(chances, axis=0) >= 0)
    assert np.isfinite(distribution.sample(500, random_state=0)).all()
    points = distribution.ppf([1e-9, 1e-3, 0.01, 0.3, 0.99, 0.999, 1 - 1e-9])
    assert np.isfinite(points).all()
    assert np.all(np.diff(points, axis=1) >= 0)


def test_a_row_that_no_band_reaches_leaves_samples_finite():
    y, center, aleatoric, epistemic = calibration_set(n=99)
    y[0], aleatoric[0], epistemic[0] = 1e140, 1e-145, 1e-145
    _, distances, bands = calibrated([0.9], (y, center, aleatoric, epistemic))
    assert np.isfinite(bands.distribution(center, distances).sample(500, random_state=0)).all()


def test_a_row_at_the_median_keeps_chances_inverse_to_quantiles():
    data = calibration_set(n=19)
    data[0][0] = data[1][0]
    _, distances, bands = calibrated([0.9], data)
    assert 0 in bands.positions
    distribution = bands.distribution(data[1], distances)
    for p in (0.48, 0.49, 0.51, 0.52):
        np.testing.assert_allclose(distribution.cdf(distribution.ppf(p)[:, 0]), p, atol=1e-6)


def test_levels_with_equal_bounds_keep_chances_inverse_to_quantiles():
    data = calibration_set(n=99)
    _, distances, bands = calibrated([0.5, 0.8, 0.9], data)
    distances[:, :, 1] = distances[:, :, 2] = distances[:, :, 0]  # as where levels are nested
    distribution = bands.distribution(data[1], distances)
    asked = np.array([0.03, 0.05, 0.07, 0.1, 0.2, 0.5, 0.8, 0.9, 0.93, 0.95, 0.99])
    points = distribution.ppf(asked)
    for j, p in enumerate(asked):
        np.testing.assert_allclose(distribution.cdf(points[:, j]), p, atol=1e-6)
    bounds = bands.quantiles(data[1], distances, asked)
    np.testing.assert_allclose(points, bounds, rtol=1e-4, atol=1e-2)


def normal_rows(rng, n):
    """The center, the scale and the shape are right."""
    center, scale = rng.normal(size=n), rng.lognormal(size=n)
    widths = 1.645 * scale[:, None] * np.ones((n, 2))
    return center + scale * rng.normal(size=n), center, widths, 1e-3 * widths


def test_on_simulated_truth_pit_is_uniform_and_crps_that_of_the_truth():
    rng = np.random.default_rng(0)
    cal, new = normal_rows(rng, 2000), normal_rows(rng, 3000)
    calibrator, _, bands = calibrated([0.9], cal)
    distances = np.add(*calibrator.scale(*new[2:]))
    distribution = bands.distribution(new[1], distances)
    assert stats.kstest(distribution.cdf(new[0]), stats.uniform.cdf).pvalue > 0.01
    asked = np.arange(1, 100) / 100
    quantiles = bands.quantiles(new[1], distances, asked)
    assert stats.kstest(metrics.pit(new[0], quantiles, asked), stats.uniform.cdf).pvalue > 0.01
    scale = new[2][:, 0] / 1.645
    z = (new[0] - new[1]) / scale
    truth = scale * (
        z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / math.sqrt(math.pi)
    )
    assert metrics.crps(new[0], quantiles, asked) == pytest.approx(truth.mean(), rel=0.01)


def skewed_rows(rng, n):
    """Exponential noise around its mean: five of eight targets lie below the center."""
    center, ones = rng.normal(size=n), np.ones((n, 2))
    return center + rng.exponential(size=n) - 1, center, ones * [0.95, 2.0], 1e-3 * ones


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
    assert np.all((low <= new[1]) & (new[1] <= high))  # also where the quantiles are both below


def test_where_one_tail_is_longer_every_quantile_counts_its_own_side():
    """Exponential noise between bounds that are equally far: none below, a tenth above."""
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
    for j, share in enumerate(asked):  # ranks are whole numbers
        np.testing.assert_allclose(distribution.cdf(quantiles[:, j]), share, atol=1 / 1000)
        np.testing.assert_allclose(distribution.cdf(distribution.ppf(share)[:, 0]), share)
    assert np.all(np.diff(quantiles, axis=1) > 0)
    # Intervals stay those of the calibrator, and of exactly as many rows at other levels.
    np.testing.assert_array_equal(
        bands.intervals(cal[1], of_cal, [0.9]), calibrator.predict_interval(*cal[1:])
    )
    both_sides = replace(bands, is_skewed=False)
    np.testing.assert_array_equal(
        bands.intervals(cal[1], of_cal, [0.5, 0.95]),
        both_sides.intervals(cal[1], of_cal, [0.5, 0.95]),
    )
    missed = np.mean(new[0] > both_sides.quantiles(new[1], distances, [0.95])[:, 0])
    assert missed > 0.08  # what one tail holds where both are counted together


def test_sides_lean_by_more_than_chance():
    (reach,) = normal_distances([0.9])
    inside, below, above = np.zeros(50), np.full(16, -2 * reach), np.full(4, 2 * reach)
    assert leans(np.concatenate([inside, below, above]), None, np.array([0.9]))
    assert not leans(np.concatenate([inside, below[:12], above]), None, np.array([0.9]))
    one = np.concatenate([inside, [3.0]])  # one row that counts sixteen times is one row
    assert not leans(one, np.append(np.ones(50), 16.0), np.array([0.9]))


def test_a_row_on_the_edge_of_a_band_is_inside_however_it_is_rounded():
    (reach,) = normal_distances([0.9])
    rounded = np.repeat([np.nextafter(reach, 0), reach, np.nextafter(reach, 2)], 16)
    assert not leans(rounded, None, np.array([0.9]))
    assert leans(rounded * (1 + 1e-9), None, np.array([0.9]))


def test_rows_of_one_position_are_two_knots():
    z = np.array([2.0, -1.0, 0.0, 0.0, 0.0, 5.0, 5.0, 1e200])
    knots, shares = signed_knots(z, None)
    np.testing.assert_allclose(knots, [-1, 0, 0, 2, 5, 5], atol=1e-5)
    np.testing.assert_allclose(shares * 9, [1, 2, 4, 5, 6, 7])
    assert np.all(np.diff(knots) > 0)
    weight = np.array([1.0, 1.0, 2.0, 1.0, 0.0, 1.0, 1.0, 1.0])
    repeated = np.repeat(z, weight.astype(int))
    for one, other in zip(signed_knots(z, weight), signed_knots(repeated, None), strict=True):
        np.testing.assert_allclose(one[[0, -1]], other[[0, -1]])
    assert [len(each) for each in signed_knots(np.array([np.inf]), None)] == [1, 1]


def peaked_rows(rng, n):
    """Above the center targets lie close to it or far off, below it anywhere."""
    center, ones = rng.normal(size=n), np.ones((n, 2))
    above = np.where(rng.random(n) < 0.75, 0.05, 2.0) * rng.random(n)
    noise = np.where(rng.random(n) < 0.5, above, -rng.random(n))
    return center + noise, center, ones, 1e-3 * ones


def test_where_the_sides_differ_each_has_its_own_pace():
    rng = np.random.default_rng(0)
    cal, new = peaked_rows(rng, 1000), peaked_rows(rng, 4000)
    calibrator, of_cal, bands = calibrated([0.9], cal)
    assert bands.paces is not None
    distances = np.add(*calibrator.scale(*new[2:]))
    bands = replace(bands, is_skewed=False)  # or each side would count its rows by itself
    even = replace(bands, paces=None)
    even = replace(even, positions=even.positions_of(*cal[:2], of_cal))
    off, far_off = (
        stats.kstest(each.distribution(new[1], distances).cdf(new[0]), "uniform").statistic
        for each in (bands, even)
    )
    assert off < 0.06 < 0.12 < far_off
    for level in (0.3, 0.62, 0.8):  # as many rows as before
        inside = covered(cal[0], bands.intervals(cal[1], of_cal, level)[:, :, 0])
        assert inside.sum() >= rank(1000, level)
    distribution = bands.distribution(new[1][:50], distances[:50])
    for p in (0.001, 0.05, 0.2, 0.51, 0.9, 0.99):
        np.testing.assert_allclose(distribution.cdf(distribution.ppf(p)[:, 0]), p, rtol=1e-9)
    drawn = distribution.sample(2000, random_state=0)
    for share in (0.25, 0.6):
        below = np.mean(drawn <= distribution.ppf(share))
        assert below == pytest.approx(share, abs=0.01)


def test_sides_that_differ_by_chance_alone_have_one_pace():
    rng = np.random.default_rng(0)
    found = [side_paces(rng.normal(size=300), None, 0.9) is not None for _ in range(200)]
    assert np.mean(found) < 0.03
    lopsided = np.concatenate([-rng.random(30), 0.01 * rng.random(300)])
    assert side_paces(lopsided, None, 0.9) is None  # 30 rows tell no pace
    ties = np.concatenate([-rng.random(300), np.zeros(200), rng.random(100)])
    above = side_paces(ties, None, 0.9)[1]
    assert np.all(np.diff(above, axis=1) > 0)
    weight = rng.integers(1, 4, len(ties)).astype(float)
    repeated = side_paces(np.repeat(ties, weight.astype(int)), None, 0.9)
    for one, other in zip(side_paces(ties, weight, 0.9), repeated, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_rows_that_lean_by_chance_alone_leave_the_median_at_the_center():
    assert median_share(np.array([-1.0, -1.0, 1.0]), np.ones((3, 2))) == 0.0
    assert median_share(np.full(9, -0.5), np.ones((9, 2))) == -0.5
    assert median_share(np.full(9, 7.0), np.ones((9, 2))) == 0.9  # inside the bound
    one_sided, ones = np.array([-0.2, -0.4, -0.6]), np.ones((3, 2))
    assert median_share(one_sided, ones, np.array([9.0, 1.0, 1.0])) == 0.0  # one row decides
    assert median_share(np.repeat(one_sided, 3), np.repeat(ones, 3, axis=0)) == -0.4


def test_mean_and_samples_are_those_of_the_distribution():
    cal = normal_rows(np.random.default_rng(1), 500)
    _, distances, bands = calibrated([0.5, 0.9], cal)
    distribution = bands.distribution(cal[1][:3], distances[:3])
    drawn = distribution.sample(4000, random_state=0)
    assert drawn.shape == (3, 4000)
    for row in range(3):
        shares = [np.mean(drawn[row] <= t) for t in distribution.ppf([0.1, 0.5, 0.9])[row]]
        np.testing.assert_allclose(shares, [0.1, 0.5, 0.9], atol=0.03)
    np.testing.assert_allclose(distribution.mean(), cal[1][:3], atol=0.1)
    np.testing.assert_array_equal(drawn, distribution.sample(4000, random_state=0))


@pytest.mark.parametrize("rows", [normal_rows, skewed_rows])
@pytest.mark.parametrize("is_skewed", [False, True])
def test_the_density_has_an_area_of_one_and_is_near_the_truth(rows, is_skewed):
    cal = rows(np.random.default_rng(1), 2000)
    _, distances, bands = calibrated([0.5, 0.9], cal)
    bands = replace(bands, is_skewed=is_skewed)
    same = np.zeros(12_001, int)  # one row, at many targets
    distribution = bands.distribution(cal[1][same], distances[same])
    spread = np.ptp(distribution.ppf([0.25, 0.75])[0])
    t = cal[1][0] + spread * np.linspace(-30, 30, len(same))
    density = np.exp(distribution.logpdf(t))
    assert trapezoid(density, t) == pytest.approx(1, abs=0.01)
    below = trapezoid(np.where(t <= t[6100], density, 0), t)
    assert below == pytest.approx(distribution.cdf(t)[6100], abs=0.03)
    if rows is normal_rows:
        truth = stats.norm.pdf(t, cal[1][0], cal[2][0, 0] / 1.645)
        assert np.abs(density - truth).max() < 0.25 * truth.max()


def test_the_density_far_out_and_where_no_target_is():
    cal = normal_rows(np.random.default_rng(1), 300)
    _, distances, bands = calibrated([0.9], cal)
    distribution = bands.distribution(cal[1], distances)
    far = np.stack([distribution.logpdf(t) for t in (1e3, 1e6, 1e100, 1e200)])
    assert np.all(np.diff(far, axis=0) < 0) or np.isneginf(far[-1]).all()
    assert not np.isnan(far).any()
    positive = replace(distribution, targets=Targets(Support(0.0)))
    assert np.isneginf(positive.logpdf(-1.0)).all()
    assert np.isposinf(positive.logpdf(0.0)).all()  # a chance, not a density
    counts = replace(distribution, targets=Targets(whole=True))
    chances = np.exp([counts.logpdf(float(t)) for t in range(-60, 61)])
    np.testing.assert_allclose(chances.sum(axis=0), 1, atol=0.01)
    assert np.isneginf(counts.logpdf(0.5)).all()


def test_the_density_of_targets_far_from_zero_is_the_same():
    y, center, *widths = normal_rows(np.random.default_rng(1), 300)
    _, distances, bands = calibrated([0.9], (y, center, *widths))
    near = bands.distribution(center, distances).logpdf(y)
    far = bands.distribution(center + 1e9, distances).logpdf(y + 1e9)
    assert np.median(np.abs(far - near)) < 0.001  # a row at a step of the density may change sides


def test_a_row_of_no_width_has_all_density_at_its_center():
    cal = normal_rows(np.random.default_rng(1), 300)
    _, distances, bands = calibrated([0.9], cal)
    distribution = bands.distribution(cal[1][:1], 0 * distances[:1])
    assert np.isposinf(distribution.logpdf(cal[1][:1]))
    assert np.isneginf(distribution.logpdf(cal[1][0] + 1))
    at_zero = bands.distribution(np.zeros(1), 0 * distances[:1])
    assert np.isposinf(at_zero.logpdf(0.0))


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
