"""Calibration rows: a row of weight 3 counts as three rows everywhere."""

import math

import numpy as np
import pytest

from clearbands.calibration.calibration_rows import CalibrationRows, TwoSidedRows
from tests.toys import calibration_set


def weighted_and_repeated(kind):
    data = calibration_set(n=40)
    weight = np.arange(40) % 4
    repeated = [np.repeat(array, weight, axis=0) for array in data]
    return kind.from_widths(*data, weight.astype(float)), kind.from_widths(*repeated)


@pytest.mark.parametrize("kind", [CalibrationRows, TwoSidedRows])
def test_whole_weights_are_repeated_rows(kind):
    weighted, repeated = weighted_and_repeated(kind)
    assert weighted.size == repeated.size == 60
    for level in (0.5, 0.9, 0.99):
        assert math.ceil(weighted.rank(level)) == repeated.rank(level)
        assert math.ceil(weighted.capped_rank(level)) == min(repeated.rank(level), 60)
    for factors in ((0.5, 1.0), (2.0, 0.0), (0.0, 3.0)):
        loss = repeated.quantile_loss(*factors, 0.1)
        assert weighted.quantile_loss(*factors, 0.1) == pytest.approx(loss, rel=1e-12)


def test_a_row_counts_the_width_on_its_own_side():
    """y is 2 above its center in the first row and 3 below in the second."""
    widths = np.array([[1.0, 4.0], [6.0, 5.0]])
    rows = TwoSidedRows.from_widths(np.array([2.0, -3.0]), np.zeros(2), widths, 10 * widths)
    assert rows.distance.tolist() == [2, 3]
    assert (rows.aleatoric.tolist(), rows.other_aleatoric.tolist()) == ([4, 6], [1, 5])
    assert (rows.epistemic.tolist(), rows.other_epistemic.tolist()) == ([40, 60], [10, 50])


def test_the_loss_by_hand():
    """A row lies 5 above its center. The width of 2 + 3 costs 4 %, and the bound misses y by 2."""
    widths = np.array([[2.0, 3.0]])
    rows = CalibrationRows.from_widths(np.array([5.0]), np.zeros(1), widths, 0 * widths)
    assert rows.quantile_loss(1.0, 0.0, 0.08) == pytest.approx((0.04 * 5 + 2) / 2)
    assert rows.quantile_loss(math.inf, 0.0, 0.08) == math.inf


def test_gamma2_beside_gamma1_reaches_each_row_exactly():
    rows = CalibrationRows.from_widths(*calibration_set(n=50))
    for gamma1 in (0.0, 0.7, 100.0):
        gamma2 = rows.scores_beside(gamma1)
        reach = gamma1 * rows.aleatoric + gamma2 * rows.epistemic
        assert np.all(reach >= rows.distance * (1 - 1e-12))
        np.testing.assert_allclose(reach[gamma2 > 0], rows.distance[gamma2 > 0])
