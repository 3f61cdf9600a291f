"""Bounds at a rank of the members, by hand on six rows."""

import numpy as np
import pytest

from clearbands import CalibrationWarning
from clearbands.calibration.member_rank import MemberRankCalibrator
from tests.baselines.six_rows import MEMBERS, Y


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
