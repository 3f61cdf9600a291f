"""A row of weight 3 is three rows, but one for a guarantee; density ratios shift the coverage."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearbands import (
    AdditiveCalibrator,
    ClearCalibrator,
    FixedAleatoricCalibrator,
    FixedRatioCalibrator,
    MemberRankCalibrator,
)
from clearbands.calibration.conformal import CalibrationWarning, order_statistic, weighted_rank
from clearbands.rows.bands import covered
from tests.toys import calibration_set

CALIBRATORS = [
    ClearCalibrator,
    FixedRatioCalibrator,
    FixedAleatoricCalibrator,
    AdditiveCalibrator,
]
WITHOUT_GUARANTEE = CALIBRATORS[:3]


@given(st.integers(0, 10**6), st.sampled_from([0.5, 0.8, 0.9, 0.95]))
@settings(max_examples=60, deadline=None)
def test_whole_weights_are_repeated_rows_bit_for_bit(seed, level):
    rng = np.random.default_rng(seed)
    data = calibration_set(n=60, seed=seed)
    weight = rng.integers(0, 4, 60)
    weight[0] = 1
    rows = rng.permutation(np.repeat(np.arange(60), weight))
    repeated = [array[rows] for array in data]
    for calibrator in WITHOUT_GUARANTEE:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)
            one = calibrator(level).fit(*data, sample_weight=weight)
            other = calibrator(level).fit(*repeated)
        np.testing.assert_array_equal(one.factors_, other.factors_)
        assert one.loss_ == pytest.approx(other.loss_, rel=1e-12)


def test_weights_of_one_change_nothing():
    data = calibration_set()
    for calibrator in CALIBRATORS:
        one, other = calibrator(0.9).fit(*data), calibrator(0.9)
        other.fit(*data, sample_weight=np.ones(300))
        np.testing.assert_array_equal(one.factors_, other.factors_)


def test_validation_rows_have_weights_too():
    first, second = calibration_set(n=80, seed=1), calibration_set(n=60, seed=2)
    weight = np.arange(60) % 3
    repeated = [np.repeat(array, weight, axis=0) for array in second]
    one = ClearCalibrator(0.9).fit(*first, validation=second, validation_weight=weight)
    other = ClearCalibrator(0.9).fit(*first, validation=repeated)
    np.testing.assert_array_equal(one.factors_, other.factors_)


@pytest.mark.parametrize("seed", range(8))
def test_no_lambda_is_better_with_weights(seed):
    data = calibration_set(n=40, seed=seed)
    weight = np.random.default_rng(seed).gamma(1, size=40)
    best = ClearCalibrator(0.8).fit(*data, sample_weight=weight)
    for ratio in (0, *np.geomspace(1e-3, 1e3, 300), math.inf):
        other = FixedRatioCalibrator(0.8, ratio=ratio).fit(*data, sample_weight=weight)
        assert best.loss_ <= other.loss_ * (1 + 1e-9)


def test_the_weighted_rank_by_hand():
    """Half of the weights 1 + 2 + 4 and a new row's 1 is 4, which the third score reaches."""
    weight, scores = np.array([4.0, 1.0, 2.0]), np.array([3.0, 1.0, 2.0])
    assert weighted_rank(weight, 0.5, 1.0) == pytest.approx(4, rel=1e-12)
    assert order_statistic(scores, 4, weight) == 3
    assert order_statistic(scores, 3, weight) == 2
    assert order_statistic(scores, 7.1, weight) == math.inf


def shifted_rows(rng, n, mean):
    """Draw a normal x, noise that depends on it, and constant widths: coverage depends on x."""
    x = rng.normal(mean, 1, n)
    y = rng.normal(size=n) * (0.5 + np.exp(0.7 * x))
    return x, (y, np.zeros(n), np.ones((n, 2)), np.ones((n, 2)))


@pytest.mark.parametrize("calibrator", [FixedRatioCalibrator, AdditiveCalibrator])
def test_coverage_under_a_known_shift(calibrator):
    """The mean coverage of shifted rows is at least the level; without weights it is too low."""
    rng = np.random.default_rng(0)
    shift, level, shares, unweighted = 0.8, 0.8, [], []
    for _ in range(400):
        x, data = shifted_rows(rng, 60, 0.0)
        x_new, new = shifted_rows(rng, 60, shift)
        ratio, ratio_new = (np.exp(shift * at - shift**2 / 2) for at in (x, x_new))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)
            fitted = calibrator(level).fit(*data, calibration_weight=ratio)
            interval = fitted.predict_interval(*new[1:], weight=ratio_new)
        shares.append(covered(new[0], interval).mean())
        plain = calibrator(level).fit(*data)
        unweighted.append(covered(new[0], plain.predict_interval(*new[1:])).mean())
    error = np.std(shares) / math.sqrt(len(shares))
    assert np.mean(shares) > level - 3 * error
    assert np.mean(shares) < level + 0.06  # the excess is about the largest weight over their sum
    assert np.mean(unweighted) < level - 0.1


def test_a_common_factor_of_the_weights_does_not_matter_and_heavy_rows_get_more():
    data, ratio = calibration_set(n=100), np.random.default_rng(0).gamma(2, size=100)
    new = [array[:5] for array in data[1:]]
    one = ClearCalibrator(0.8).fit(*data, calibration_weight=ratio)
    other = ClearCalibrator(0.8).fit(*data, calibration_weight=8 * ratio)
    at = ratio[:5]
    np.testing.assert_array_equal(
        one.predict_interval(*new, weight=at), other.predict_interval(*new, weight=8 * at)
    )
    light, heavy = (
        np.ptp(one.predict_interval(*new, weight=np.full(5, w)), axis=1) for w in (1e-9, 20)
    )
    assert np.all(heavy > light)
    np.testing.assert_array_equal(
        one.predict_interval(*new), one.predict_interval(*new, weight=np.full(5, ratio.max()))
    )
    assert np.isinf(one.predict_interval(*new, weight=np.full(5, 1e4))).all()


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-np.ones(30), "must not be negative, got -1 in row 0"),
        (np.zeros(30), "is zero in every row"),
        (np.full(30, np.nan), "contains NaN"),
        (np.ones(29), "has 29 rows where 30 are needed"),
    ],
)
@pytest.mark.parametrize("name", ["sample_weight", "calibration_weight"])
def test_bad_weights(name, weight, message):
    for calibrator in CALIBRATORS:
        with pytest.raises(ValueError, match=f"{name} {message}"):
            calibrator(0.9).fit(*calibration_set(n=30), **{name: weight})


def test_a_weight_without_calibration_weights_is_refused():
    fitted = ClearCalibrator(0.8).fit(*calibration_set(n=30))
    with pytest.raises(ValueError, match="fitted with calibration_weight"):
        fitted.predict_interval([0.0], [[1, 1]], [[1, 1]], weight=[1.0])


def test_order_statistics_of_members_with_weights():
    """Rows of weight 0 do not count, and a common factor of the weights does not matter."""
    rng = np.random.default_rng(0)
    y, members = rng.normal(size=50), np.sort(np.abs(rng.normal(size=(50, 30))), axis=1)
    weight = rng.integers(0, 2, 50)
    rows = np.flatnonzero(weight)
    other = MemberRankCalibrator(0.7).fit(y[rows], -members[rows], members[rows])
    for times in (1, 1 / 3, 50):
        one = MemberRankCalibrator(0.7).fit(y, -members, members, sample_weight=times * weight)
        assert one.order_ == other.order_


def guaranteed(calibrator, level, data, **weights):
    """Fit with a guarantee: other rows choose lambda, if the calibrator chooses one."""
    others = {} if calibrator is AdditiveCalibrator else {"validation": calibration_set(n=50)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return calibrator(level).fit(*data, **others, **weights)


@pytest.mark.parametrize("calibrator", CALIBRATORS)
@pytest.mark.parametrize("name", ["sample_weight", "calibration_weight"])
def test_equal_weights_are_as_many_rows_as_without(calibrator, name):
    """A common factor does not matter, whatever the level and the number of rows."""
    for n in (9, 10, 19, 33, 60, 99, 100, 199):
        data = calibration_set(n=n, seed=n)
        for level in (0.5, 0.55, 0.7, 0.8, 0.9, 0.95):
            plain = guaranteed(calibrator, level, data)
            for weight in (0.1, 1 / 3, 3.0, 50.0):
                found = guaranteed(calibrator, level, data, **{name: np.full(n, weight)})
                np.testing.assert_array_equal(found.factors_, plain.factors_)
                if name == "calibration_weight":
                    by_weight = found.scale(*data[2:], weight=np.full(n, weight))
                    np.testing.assert_array_equal(by_weight, plain.scale(*data[2:]))


def test_ten_rows_of_weight_50_are_ten_rows():
    data, new = calibration_set(n=10), [array[:1] for array in calibration_set(n=10)[1:]]
    others = calibration_set(n=80, seed=1)
    with pytest.warns(CalibrationWarning, match="10 calibration rows are too few for level 0.95"):
        fitted = ClearCalibrator(0.95).fit(
            *data, validation=others, sample_weight=np.full(10, 50.0)
        )
    assert np.isinf(fitted.predict_interval(*new)).all()


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("unevenness", [0.3, 1.0, 2.0])
def test_rows_of_unequal_weights_cover_as_a_guarantee_says(level, unevenness):
    """With weights that do not depend on the noise, the mean coverage is at least the level."""
    rng, n, ones = np.random.default_rng(0), 20, np.ones((20, 2))
    coverages = []
    for _ in range(300):
        weight = np.exp(unevenness * rng.normal(size=n))
        y = rng.uniform(-1, 1, n)
        data = (y, np.zeros(n), ones, ones)
        fitted = guaranteed(FixedRatioCalibrator, level, data, sample_weight=weight)
        coverages.append(min(fitted.gamma1_ + fitted.gamma2_, 1.0))
    assert np.mean(coverages) > level - 3 * np.std(coverages) / math.sqrt(len(coverages))


def test_a_new_row_has_the_weight_of_the_heaviest_one_in_both_kinds_of_weights():
    data, rng = calibration_set(n=60), np.random.default_rng(0)
    counts, shift = rng.integers(1, 4, 60), rng.gamma(2, size=60)
    new = [array[:5] for array in data[1:]]
    others = {"validation": calibration_set(n=50), "calibration_weight": shift}
    one = ClearCalibrator(0.8).fit(*data, sample_weight=counts, **others)
    other = ClearCalibrator(0.8).fit(*data, sample_weight=0.1 * counts, **others)
    for weight in (0.3, 1.7, shift.max()):
        at = np.full(5, weight)
        np.testing.assert_allclose(
            one.predict_interval(*new, weight=at), other.predict_interval(*new, weight=at)
        )
    np.testing.assert_allclose(one.predict_interval(*new), one.predict_interval(*new, weight=at))


@pytest.mark.parametrize("make", WITHOUT_GUARANTEE)
def test_one_row_that_outweighs_all_others_is_said_to_be_one(make):
    data = calibration_set(n=60)
    weight = np.append(np.ones(59), 1e9)
    with pytest.warns(CalibrationWarning, match="tell as much as 1 rows of equal weight"):
        make(0.9).fit(*data, sample_weight=weight)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(0.9).fit(*data, sample_weight=np.arange(60) % 5)
        make(0.9).fit(*data, sample_weight=np.full(60, 50.0))
