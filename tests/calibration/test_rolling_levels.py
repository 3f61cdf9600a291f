"""Bounds, quantiles and distribution from the window of rows: they agree."""

import numpy as np
import pytest
from hypothesis import given, settings

from clearbands.calibration.any_level import AnyLevel
from clearbands.calibration.conformal import CalibrationWarning
from clearbands.calibration.rolling import Pace, Rolling
from tests.calibration.windows import PACES, POSITIONS, ROWS, begin


def test_the_window_alone_is_conformal_on_each_side_of_the_last_rows():
    rng = np.random.default_rng(0)
    rows = rng.exponential(size=300) - 0.5
    rolling = begin(Pace(window=99, rate=0)).updated_by(rows)
    fitted = AnyLevel(np.array([0.9]), np.array([0]), POSITIONS)
    ones = np.ones((1, 2, 1))
    reach = np.sort(rows[-99:])[[4, 94]] / 1.6448536  # relative to the band at 0.9
    bounds = rolling.bands(fitted).intervals(np.zeros(1), ones, 0.9)
    np.testing.assert_allclose(bounds[0, :, 0], reach)
    one_sided = rolling.bands(fitted).intervals(np.zeros(1), ones, 0.95, side="upper")
    np.testing.assert_allclose(one_sided[0, 1, 0], reach[1])
    quantiles = rolling.bands(fitted).quantiles(np.zeros(1), ones, [0.05, 0.5, 0.95])
    np.testing.assert_allclose(quantiles[0, [0, 2]], reach)
    np.testing.assert_allclose(quantiles[0, 1], np.median(rows[-99:]) / 1.6448536)


@pytest.mark.parametrize("sign", [-1, 1])
def test_errors_on_one_side_move_both_bounds_and_the_median_and_not_the_center(sign):
    rng = np.random.default_rng(0)
    rolling = begin(Pace(window=500)).updated_by(rng.normal(size=800) + sign * 4)
    bands = rolling.bands(AnyLevel(np.array([0.9]), np.array([0]), POSITIONS))
    unit = np.full((1, 2, 1), 1.6448536)
    found = bands.quantiles(np.zeros(1), unit, [0.05, 0.5, 0.95])[0]
    np.testing.assert_allclose(found, sign * 4 + 1.6448536 * np.array([-1, 0, 1]), atol=0.4)
    lower, upper = bands.intervals(np.zeros(1), unit, 0.9)[0, :, 0]  # up to the center
    assert (lower, upper) == ((0, found[2]) if sign > 0 else (found[0], 0))
    both = bands.parts(unit / 2, unit / 2, 0.9)
    np.testing.assert_allclose(np.add(*both)[0], [-lower, upper])
    distribution = bands.distribution(np.zeros(1), unit)
    np.testing.assert_allclose(distribution.ppf([0.05, 0.5, 0.95])[0], found, atol=0.05)
    np.testing.assert_allclose(distribution.median, found[1], atol=0.05)


def test_the_farther_side_speaks_for_both_where_the_window_is_small():
    rolling = Rolling.begin([0.9], np.arange(-3.0, 9.0), Pace(window=12))
    bands = rolling.bands(AnyLevel(np.array([0.9]), np.array([0]), POSITIONS))
    bounds = bands.intervals(np.zeros(1), np.full((1, 2, 1), 1.6448536), 0.9)
    np.testing.assert_allclose(bounds[0, :, 0], [-8, 8])


@given(ROWS, PACES)
@settings(deadline=None)
@pytest.mark.filterwarnings("ignore::clearbands.CalibrationWarning")
def test_intervals_of_all_levels_stay_nested(rows, pace):
    rolling = begin(pace, (0.8, 0.5, 0.9)).updated_by(rows)
    fitted = AnyLevel(np.array([0.5, 0.8, 0.9]), np.arange(3), POSITIONS)
    distances = np.tile([0.7, 1.3, 1.6], (1, 2, 1))
    asked = [0.05, 0.3, 0.5, 0.6, 0.8, 0.85, 0.9, 0.97]
    lower, upper = rolling.bands(fitted).intervals(np.zeros(1), distances, asked)[0]
    assert np.all(upper[1:] >= upper[:-1])
    assert np.all(lower[1:] <= lower[:-1])
    assert lower[0] <= 0 <= upper[0]


def test_bounds_that_no_window_supports_are_infinite_and_said():
    rolling = begin(Pace(window=100, rate=0.2)).updated_by(np.array([5.0, 9.0, -9.0]))
    assert rolling.levels_now[0] > 1
    fitted = AnyLevel(np.array([0.9]), np.array([0]), POSITIONS)
    with pytest.warns(CalibrationWarning, match="bounds are infinite"):
        bounds = rolling.bands(fitted).intervals(np.zeros(1), np.ones((1, 2, 1)), 0.9)
    assert np.isinf(bounds).all()


def test_intervals_shrink_to_their_center_where_all_rows_are_inside():
    rolling = begin(Pace(window=100, rate=0.55)).updated_by(np.zeros(40))
    assert rolling.levels_now[0] <= 0
    fitted = AnyLevel(np.array([0.9]), np.array([0]), POSITIONS)
    bounds = rolling.bands(fitted).intervals(np.ones(1), np.ones((1, 2, 1)), 0.9)
    np.testing.assert_allclose(bounds[0, :, 0], 1)


def test_the_distribution_has_the_adapted_intervals_as_quantiles():
    rng = np.random.default_rng(0)
    rolling = begin(Pace(window=2000, rate=0.01)).updated_by(3 * rng.normal(size=3000))
    bands = rolling.bands(AnyLevel(np.array([0.9]), np.array([0]), POSITIONS))
    ones = np.ones((1, 2, 1))
    inside = bands.intervals(np.zeros(1), ones, [0.5, 0.9])[0]
    distribution = bands.distribution(np.zeros(1), ones)
    ends = distribution.ppf([0.25, 0.75, 0.05, 0.95])[0]
    np.testing.assert_allclose(ends, inside.T.ravel(), rtol=0.01)
    shares = np.array([1e-4, 0.01, 0.3, 0.5, 0.8, 0.9999])
    back = [distribution.cdf(float(t))[0] for t in distribution.ppf(shares)[0]]
    np.testing.assert_allclose(back, shares, rtol=1e-6)


@pytest.mark.parametrize("far", [-1e140, -1e6, -50.0, 50.0, 1e6, 1e140])
@pytest.mark.parametrize("n_far", [1, 200])  # 200 rows fill the window
def test_far_rows_leave_chances_and_samples_finite(far, n_far):
    rolling = begin(Pace(window=200)).updated_by(np.full(n_far, far))
    bands = rolling.bands(AnyLevel(np.array([0.9]), np.array([0]), POSITIONS))
    distribution = bands.distribution(np.zeros(1), np.ones((1, 2, 1)))
    thresholds = np.sort([-1e200, -2 * abs(far), far / 2, -1.0, 0.0, 1.0, 2 * abs(far), 1e200])
    chances = np.array([distribution.cdf(t)[0] for t in thresholds])
    assert np.all((chances >= 0) & (chances <= 1))
    assert np.all(np.diff(chances) >= 0)
    assert chances[0] == 0
    assert chances[-1] == 1
    assert np.isfinite(distribution.sample(2000, random_state=0)).all()
