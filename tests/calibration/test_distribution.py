"""The distribution of a target: probabilities, quantiles, density, mean and samples."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import trapezoid

from clearbands import metrics
from clearbands.calibration.distribution import signed_knots
from clearbands.rows.targets import Support, Targets
from tests.calibration.bands import calibrated, normal_rows, skewed_rows
from tests.toys import calibration_set


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
    # A quantile is the bound of an interval that covers whole rows: at most one more than p asks.
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
    distances[:, :, 1] = distances[:, :, 2] = distances[:, :, 0]  # as nesting may make them
    distribution = bands.distribution(data[1], distances)
    asked = np.array([0.03, 0.05, 0.07, 0.1, 0.2, 0.5, 0.8, 0.9, 0.93, 0.95, 0.99])
    points = distribution.ppf(asked)
    for j, p in enumerate(asked):
        np.testing.assert_allclose(distribution.cdf(points[:, j]), p, atol=1e-6)
    bounds = bands.quantiles(data[1], distances, asked)
    np.testing.assert_allclose(points, bounds, rtol=1e-4, atol=1e-2)


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
    assert np.isposinf(positive.logpdf(0.0)).all()  # 0 itself has a positive probability
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
