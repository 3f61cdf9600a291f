import numpy as np
import pytest

from clearbands.rows.bands import (
    covered,
    curve_widths,
    make_interval,
    nest,
    normal_widths,
    on_side_of,
)
from clearbands.rows.checks import check_vector, check_widths


def test_interval_of_several_levels():
    interval = make_interval(np.array([1.0, 2.0]), np.ones((2, 2, 3)))
    assert interval.shape == (2, 2, 3)
    np.testing.assert_allclose(interval[0, :, 1], [0, 2], atol=1e-14)


def test_zero_widths_stay_zero():
    assert make_interval(np.array([0.3]), np.zeros((1, 2))).tolist() == [[0.3, 0.3]]


def test_bounds_are_rounded_outwards():
    """A row at the far end of a huge distance is covered, although y - center was rounded."""
    rng = np.random.default_rng(0)
    y, center = rng.normal(size=1000), 1e6 * rng.normal(size=1000)
    distance = np.abs(y - center)
    for gamma in (1 / 3, 0.1, 7.0):
        widths = np.stack([gamma * (distance / gamma)] * 2, axis=1)
        assert covered(y, make_interval(center, widths)).all()


def test_a_higher_level_that_reaches_less_far_takes_over_the_lower_one():
    one, other = np.array([[[4.0, 1.0, 2.0]]]), np.array([[[1.0, 2.0, 9.0]]])
    nest([0.5, 0.9, 0.8], one, other)  # the bounds reach 5, 3 and 11
    assert (one + other).tolist() == [[[5.0, 11.0, 11.0]]]
    assert one.tolist() == [[[4.0, 2.0, 2.0]]]


def test_curves_to_widths():
    curves = np.array([[-3.0, -1.0, 0.0, 2.0, 1.0]])  # at levels 0.05, 0.25, 0.5, 0.75 and 0.95
    assert curve_widths(curves, [0.9, 0.5]).tolist() == [[[3.0, 1.0], [1.0, 2.0]]]
    crossing = np.array([[0.5, 0.0, 1.0]])
    assert curve_widths(crossing, [0.9]).tolist() == [[[0.0], [1.0]]]


def test_normal_widths_enclose_the_level():
    widths = normal_widths(np.array([1.0, 2.0]), [0.9, 0.5])
    assert widths.shape == (2, 2, 2)
    np.testing.assert_allclose(widths[1, 0], [2 * 1.644854, 2 * 0.674490], rtol=1e-6)


def test_the_side_on_which_y_lies():
    widths = np.array([[1.0, 2.0]] * 3)
    assert on_side_of(np.array([-1.0, 0.0, 1.0]), np.zeros(3), widths).tolist() == [1, 2, 2]


def test_errors_name_the_array_and_the_row():
    with pytest.raises(ValueError, match=r"y contains NaN or infinity, first in row 1 \(counted"):
        check_vector([0, np.nan], "y")
    with pytest.raises(ValueError, match="y is empty"):
        check_vector([], "y")
    with pytest.raises(ValueError, match="y must have one dimension"):
        check_vector([[1.0]], "y")
    with pytest.raises(ValueError, match="y must be numbers"):
        check_vector(["a"], "y")
    with pytest.raises(ValueError, match="center has 2 rows"):
        check_vector([1, 2], "center", 3)
    with pytest.raises(ValueError, match="epistemic must not be negative, got -1 in row 1"):
        check_widths([[0, 0], [0, -1]], "epistemic", 2)
    with pytest.raises(ValueError, match=r"aleatoric must have shape \(n, 2\)"):
        check_widths([[0, 0, 0]], "aleatoric", 1)
