"""Where a learning curve goes."""

import numpy as np
import pytest

from clearbands.prediction.curve_posterior import extrapolate

SIZES = np.array([1000.0, 2000, 4000, 8000])


def posterior(errors, *, error=None, rows=10_000, precision=0.01):
    errors = np.asarray(errors, float)
    error = errors[-1] if error is None else error
    covariance = np.diag((precision * errors) ** 2)
    return extrapolate(SIZES, errors, covariance, rows=rows, error=error, n_columns=8)


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


def test_fewer_rows_know_less():
    sure, unsure = (posterior(np.ones(4), precision=each) for each in (0.002, 0.2))
    spans = [found.shares().high - found.shares().low for found in (sure, unsure)]
    assert spans[0] < spans[1]
