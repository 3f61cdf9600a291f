"""UACQR by hand on six rows, and what it says when no finite interval is valid."""

import numpy as np
import pytest

from clearbands import UACQRP, UACQRS, AdditiveCalibrator, CalibrationWarning, LinearQuantiles
from clearbands.baselines.uacqr import interquartile_range, spread_components
from clearbands.calibration.member_rank import MemberRankCalibrator
from tests.toys import noisy_line

# Six rows, three members. Every row has the same lower estimates -3, -2, -1, upper estimates
# 1, 2, 5 and medians -0.5, 0, 0.5: the bounds are -2 and 2, their interquartile ranges 1 and 2.
LOWER, MIDDLE, UPPER = [-3.0, -2.0, -1.0], [-0.5, 0.0, 0.5], [1.0, 2.0, 5.0]
MEMBERS = np.tile([LOWER, MIDDLE, UPPER], (6, 1, 1))
Y = np.array([0.0, 1.5, -2.5, 4.0, -1.0, 6.0])


def test_spread_of_the_members():
    center, aleatoric, epistemic = spread_components(MEMBERS, [0.5])
    np.testing.assert_array_equal(center, 0)
    np.testing.assert_array_equal(aleatoric[0, :, 0], [2, 2])
    np.testing.assert_array_equal(epistemic[0, :, 0], [1, 2])
    _, _, deviations = spread_components(MEMBERS, [0.5], "std")
    np.testing.assert_allclose(deviations[0, :, 0], [np.std(LOWER), np.std(UPPER)])
    assert interquartile_range(np.array([1.0, 2, 3, 4, 5])) == 2


def test_s_on_six_rows():
    # max((lower - y) / 1, (y - upper) / 2):
    #   0: max(-2, -1) = -1;  1.5: max(-3.5, -0.25) = -0.25;  -2.5: max(0.5, -2.25) = 0.5;
    #   4: max(-6, 1) = 1;  -1: max(-1, -1.5) = -1;  6: max(-8, 2) = 2.
    # At 50 % the rank of 6 rows is ceil(3.5) = 4: the fourth of -1, -1, -0.25, 0.5, 1, 2.
    calibrator = AdditiveCalibrator(0.5).fit(Y, *spread_components(MEMBERS, [0.5]))
    assert calibrator.gamma2_ == 0.5
    interval = calibrator.predict_interval(*spread_components(MEMBERS[:1], [0.5]))
    np.testing.assert_allclose(interval, [[-2.5, 3]])


def test_p_on_six_rows():
    # 1 + max(lower estimates above y, upper estimates below y):
    #   0: 1;  1.5: one upper below, 2;  -2.5: two lower above, 3;  4: two upper below, 3;
    #   -1: none above, 1;  6: all below, 4, which is infinite.
    # At 50 % the fourth of 1, 1, 2, 3, 3, 4 is 3: the smallest lower and the largest upper.
    calibrator = MemberRankCalibrator(0.5).fit(Y, MEMBERS[:, 0], MEMBERS[:, 2])
    assert calibrator.order_ == 3
    interval = calibrator.predict_interval([0.0], MEMBERS[:1, 0], MEMBERS[:1, 2])
    np.testing.assert_array_equal(interval, [[-3, 5]])


def test_p_beyond_the_extremes_is_infinite_and_says_so():
    # At 80 % the rank is ceil(5.6) = 6, and the sixth row needs more than the extremes.
    with pytest.warns(CalibrationWarning, match="even the extremes of the 3 members"):
        calibrator = MemberRankCalibrator(0.8).fit(Y, MEMBERS[:, 0], MEMBERS[:, 2])
    assert calibrator.order_ == 4
    interval = calibrator.predict_interval([0.0], MEMBERS[:1, 0], MEMBERS[:1, 2])
    np.testing.assert_array_equal(interval, [[-np.inf, np.inf]])


def test_p_with_too_few_rows():
    with pytest.warns(CalibrationWarning, match="6 calibration rows are too few"):
        MemberRankCalibrator(0.9).fit(Y, MEMBERS[:, 0], MEMBERS[:, 2])


def test_p_of_low_order_keeps_the_center_inside():
    lower, upper = MEMBERS[:, 1], MEMBERS[:, 1]  # as if both quantiles were the median
    calibrator = MemberRankCalibrator(0.1).fit(np.zeros(6), lower, upper)
    interval = calibrator.predict_interval([0.0], lower[:1] + 1, upper[:1] - 1)
    np.testing.assert_array_equal(interval, [[0, 0]])


@pytest.mark.filterwarnings("ignore:No finite interval")
def test_p_of_several_levels_is_nested_and_infinite_from_the_level_that_is():
    ends = np.stack([MEMBERS[:, 0]] * 3, axis=1), np.stack([MEMBERS[:, 2]] * 3, axis=1)
    calibrator = MemberRankCalibrator([0.8, 0.2, 0.5]).fit(Y, *ends)
    np.testing.assert_array_equal(calibrator.order_, [4, 1, 3])
    interval = calibrator.predict_interval([0.0], ends[0][:1], ends[1][:1])
    np.testing.assert_array_equal(interval[0], [[-np.inf, -1, -3], [np.inf, 1, 5]])


def test_p_covers_at_least_rank_rows_and_s_exactly():
    X, y = noisy_line(400)
    data = {"X": X[:300], "y": y[:300], "X_cal": X[300:], "y_cal": y[300:]}
    covered = {}
    for kind in (UACQRS, UACQRP):
        model = kind(LinearQuantiles(), 30, confidence_level=0.8, random_state=0).fit(**data)
        _, bounds = model.predict_interval(X[300:])
        covered[kind] = np.sum((bounds[:, 0, 0] <= y[300:]) & (y[300:] <= bounds[:, 1, 0]))
    assert covered[UACQRS] == 81  # ceil(0.8 * 101)
    assert covered[UACQRP] >= 81


def test_wrong_shapes_and_parameters():
    with pytest.raises(ValueError, match=r"lower must hold .* shape \(6, 1, B\)"):
        MemberRankCalibrator(0.5).fit(Y, MEMBERS[:, 0].T, MEMBERS[:, 2])
    with pytest.raises(ValueError, match="upper contains NaN"):
        MemberRankCalibrator(0.5).fit(Y, MEMBERS[:, 0], MEMBERS[:, 2] * np.nan)
    X, y = noisy_line()
    with pytest.raises(ValueError, match='spread must be "iqr" or "std"'):
        UACQRS(spread="mad").fit(X, y)
    with pytest.raises(ValueError, match="n_bootstraps"):
        UACQRP(LinearQuantiles(), 0).fit(X, y)
