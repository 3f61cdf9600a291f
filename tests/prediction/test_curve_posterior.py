"""The course of a learning curve beyond the rows."""

import numpy as np
import pytest

from clearbands.prediction.curve_posterior import (
    PRIOR,
    CurveMeans,
    excess_of,
    extrapolate,
    log_weights,
)

SIZES = np.array([1000.0, 2000, 4000, 8000])


def posterior(errors, *, error=None, rows=10_000, precision=0.01, excess=0.0, **more):
    errors = np.asarray(errors, float)
    error = errors[-1] if error is None else error
    covariance = np.diag((precision * errors) ** 2)
    means = CurveMeans(SIZES, errors, covariance, **more)
    return extrapolate(means, rows=rows, error=error, excess=excess)


def curve(floor, steep, rate, rows=SIZES):
    return np.sqrt(floor + steep * np.asarray(rows, float) ** -rate)


def test_a_flat_curve_is_noise_and_a_straight_one_is_not():
    flat, straight = posterior(np.ones(4)), posterior(curve(0, 1, 0.6), error=10_000**-0.3)
    assert flat.shares().middle < 0.1
    assert flat.factors(10).middle > 0.93
    assert straight.shares().high > 0.7
    assert straight.factors(10).low < 0.55
    assert straight.factors(10).middle < 0.7


def test_what_is_simulated_lies_in_the_range():
    errors, error = curve(1, 200, 0.7), curve(1, 200, 0.7, rows=10_000)
    found = posterior(errors, error=error)
    true = 1 - 1 / error
    assert found.shares().low < true < found.shares().high
    assert found.shares().middle == pytest.approx(true, abs=0.05)
    came = curve(1, 200, 0.7, rows=100_000) / error
    assert found.factors(10).middle == pytest.approx(came, abs=0.03)


def test_units_do_not_matter():
    small, large = posterior(curve(1, 200, 0.7)), posterior(1e6 * curve(1, 200, 0.7))
    assert small.shares() == pytest.approx(large.shares())
    assert small.factors(4) == pytest.approx(large.factors(4))


def test_more_rows_never_widen_and_no_end_of_them_leaves_noise():
    found = posterior(curve(1, 200, 0.7))
    middles = [found.factors(times).middle for times in (1, 2, 4, 10, 1e9, np.inf)]
    assert middles[0] == pytest.approx(1)
    assert all(np.diff(middles) <= 0)
    assert found.factors(np.inf).middle == pytest.approx(1 - found.shares().middle)
    low, high = found.factors(np.inf).low, found.factors(np.inf).high
    assert (1 - high, 1 - low) == pytest.approx((found.shares().low, found.shares().high))


def test_a_model_that_is_better_than_the_search_knows_that_there_is_less_noise():
    errors = curve(1, 200, 0.7)
    as_good, better = posterior(errors), posterior(errors, error=0.9 * errors[-1])
    assert 0.9 * better.factors(np.inf).middle < as_good.factors(np.inf).middle


def test_errors_are_measured_so_one_below_the_noise_of_a_flat_curve_says_little():
    flat = posterior(np.ones(4), error=0.98).shares()
    assert flat.middle < 0.1
    less = posterior(np.ones(4), error=0.8).shares()
    assert less.middle > 20 * flat.middle  # chance does not explain such a difference


def test_a_range_reaches_no_ignorance_where_so_few_rows_make_the_width():
    found = posterior(np.ones(4), rows=200)
    assert found.shares().low == 0
    assert found.factors(np.inf).high > 1 > found.factors(np.inf).middle
    assert found.factors(np.inf).high > posterior(np.ones(4)).factors(np.inf).high


def test_fewer_rows_know_less():
    sure, unsure = (posterior(np.ones(4), precision=each) for each in (0.002, 0.2))
    spans = [found.shares().high - found.shares().low for found in (sure, unsure)]
    assert spans[0] < spans[1]


def test_what_two_fits_differ_by_is_ignorance():
    errors = curve(1, 200, 0.7)
    known = {"difference_covariance": 1e-6 * np.eye(3)}
    shares = [
        posterior(errors, differences=part * errors[:3], **known).shares().middle
        for part in (0.05, 0.5, 1.0, 1.1)
    ]
    assert shares[1] < shares[2] < shares[3]
    assert shares[0] == pytest.approx(shares[1], abs=0.01)  # both fits may be wrong in common


def test_chance_is_no_more_than_ignorance():
    flat = np.ones(4)
    differences = np.full(3, 1.2)  # half of its square is 0.72 of the squared error
    found = posterior(flat, differences=differences, difference_covariance=1e-6 * np.eye(3))
    assert found.factors(np.inf).high < 0.75  # the root of what is left is 0.53


def test_a_width_that_is_too_long_for_its_errors_falls_faster_than_they_do():
    errors = curve(1, 200, 0.7)
    as_it_should, long = posterior(errors), posterior(errors, excess=0.2)
    ratios = [long.factors(k).middle / as_it_should.factors(k).middle for k in (1, 2, 10, np.inf)]
    assert ratios == pytest.approx(np.exp([0, -0.1, -0.18, -0.2]))
    assert long.shares().middle > as_it_should.shares().middle


def test_an_excess_is_what_tails_do_not_explain_and_many_rows_make_it_less_likely():
    assert excess_of(4.2, 1.0, 0.9, rows=100) == 0  # normal noise has 4.1
    assert excess_of(5.5, 1.0, 0.9, rows=100) == pytest.approx(np.log(5.5 / 4.264) / 1.1, abs=1e-3)
    assert excess_of(5.5, 1.0, 0.9, rows=9_000) < 0.03
    assert excess_of(5.5, 1.0, 0.95, rows=100) == 0
    assert excess_of(0.0, 0.0, 0.9, rows=100) == 0


def test_where_rows_with_the_same_x_differ_as_much_as_errors_all_is_noise():
    errors = curve(0, 1, 0.3)
    unknown = posterior(errors).shares()
    for noise in (0.6, 0.95):
        known = posterior(errors, noise=(np.log(noise), 0.02**2)).shares()
        assert known.middle == pytest.approx(1 - noise, abs=0.05)
        assert known.high - known.low < 0.7 * (unknown.high - unknown.low)


def test_several_curves_at_once_are_the_same_as_one_after_another():
    flat, steep = curve(1, 20, 0.7), curve(1, 2000, 0.7)
    covariance = 1e-4 * np.eye(4)
    ones = [CurveMeans(SIZES, errors, covariance) for errors in (flat, steep)]
    both = CurveMeans(np.stack([SIZES] * 2), np.stack([flat, steep]), np.stack([covariance] * 2))
    found = log_weights(both, PRIOR)
    for weights, means in zip(found, ones, strict=True):
        assert weights == pytest.approx(log_weights(means, PRIOR))
