"""UACQR by hand on six rows, and its warning when no finite interval is valid."""

import numpy as np
import pytest

from clearbands import UACQRP, UACQRS, AdditiveCalibrator, LinearQuantiles
from clearbands.baselines.uacqr import interquartile_range, spread_components
from clearbands.calibration.member_rank import MemberRankCalibrator
from tests.baselines.six_rows import LOWER, MEMBERS, UPPER, Y
from tests.toys import noisy_line


def test_spread_of_the_members():
    center, aleatoric, epistemic = spread_components(MEMBERS, [0.5])
    np.testing.assert_array_equal(center, 0)
    np.testing.assert_array_equal(aleatoric[0, :, 0], [2, 2])
    np.testing.assert_array_equal(epistemic[0, :, 0], [1, 2])
    _, _, deviations = spread_components(MEMBERS, [0.5], "std")
    np.testing.assert_allclose(deviations[0, :, 0], [np.std(LOWER), np.std(UPPER)])
    assert interquartile_range(np.array([1.0, 2, 3, 4, 5])) == 2


def test_s_on_six_rows():
    # The scores are max((lower - y) / 1, (y - upper) / 2):
    #   0: max(-2, -1) = -1;  1.5: max(-3.5, -0.25) = -0.25;  -2.5: max(0.5, -2.25) = 0.5;
    #   4: max(-6, 1) = 1;  -1: max(-1, -1.5) = -1;  6: max(-8, 2) = 2.
    # At 50 % the rank of 6 rows is ceil(3.5) = 4, and the fourth smallest score is 0.5.
    calibrator = AdditiveCalibrator(0.5).fit(Y, *spread_components(MEMBERS, [0.5]))
    assert calibrator.gamma2_ == 0.5
    interval = calibrator.predict_interval(*spread_components(MEMBERS[:1], [0.5]))
    np.testing.assert_allclose(interval, [[-2.5, 3]])


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
