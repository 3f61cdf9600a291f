"""Conformalized quantile regression: one constant moves both bounds."""

import numpy as np
import pytest

from clearbands import (
    CalibrationWarning,
)
from clearbands.calibration.additive import AdditiveCalibrator
from clearbands.calibration.conformal import rank
from tests.toys import calibration_set


def test_additive_score_is_that_of_cqr():
    y, center, aleatoric, _ = calibration_set(99)
    lower, upper = center - aleatoric[:, 0], center + aleatoric[:, 1]
    for level in (0.5, 0.9):
        scores = np.sort(np.maximum(lower - y, y - upper))
        calibrator = AdditiveCalibrator(level).fit(y, center, aleatoric)
        assert calibrator.gamma2_ == pytest.approx(scores[rank(99, level) - 1])
        assert calibrator.gamma1_ == 1


def test_bounds_that_move_inwards_stop_at_the_center():
    y, center = np.zeros(9), np.zeros(9)
    aleatoric = np.tile([1.0, 3.0], (9, 1))
    calibrator = AdditiveCalibrator(0.9).fit(y, center, aleatoric)
    assert calibrator.gamma2_ == -1  # lower - y is -1, y - upper is -3
    np.testing.assert_allclose(
        calibrator.predict_interval([0.0, 0.0], [[1.0, 3.0], [0.5, 2.0]]), [[0, 2], [0, 1]]
    )
    assert calibrator.loss_ == pytest.approx(0.05 * 2 / 2)
    shrunk, added = calibrator.scale([[1.0, 3.0]])
    np.testing.assert_array_equal(shrunk[:, :, 0], [[0, 2]])
    np.testing.assert_array_equal(added, 0)


def test_zero_spread_needs_no_multiple_or_has_none():
    center, aleatoric = np.zeros(9), np.ones((9, 2))
    still = np.zeros((9, 2))
    covered = AdditiveCalibrator(0.9).fit(np.full(9, 0.5), center, aleatoric, still)
    assert covered.gamma2_ == 0
    with pytest.warns(CalibrationWarning, match="bounds are infinite"):
        missed = AdditiveCalibrator(0.9).fit(np.full(9, 2.0), center, aleatoric, still)
    assert np.isinf(missed.predict_interval([0.0], [[1.0, 1.0]], [[0.0, 0.0]])).all()
