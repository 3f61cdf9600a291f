"""Coordinates of a plot: 1,000 units, ticks at round numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearbands.apps.report.plot import SIZE, Scale, bar, line


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_round_numbers_inside_the_axis_that_rise_in_equal_steps(low, span):
    scale = Scale(low, low + span)
    for ticks, most in ((scale.ticks, 6), (scale.heights, 7)):
        assert 2 <= len(ticks) <= most
        places = [tick.percent for tick in ticks]
        assert -1e-6 <= places[0] < places[-1] <= 100 + 1e-6
        np.testing.assert_allclose(np.diff(places), np.diff(places)[0], atol=0.01)


def test_labels_are_the_numbers_at_their_ticks():
    ticks = Scale(0, 10).ticks
    assert [(tick.percent, tick.label) for tick in ticks] == [
        (20 * i, label) for i, label in enumerate(["0", "2", "4", "6", "8", "10"])
    ]
    assert [tick.label for tick in Scale(0, 15).heights] == [
        "0",
        "2.5",
        "5",
        "7.5",
        "10",
        "12.5",
        "15",
    ]


def test_a_scale_holds_all_values_with_some_room():
    scale = Scale.around(np.array([2.0, 4.0]), np.array([12.0]), margin=0.1)
    assert (scale.low, scale.high) == (1.0, 13.0)
    assert (scale(1.0), scale(13.0), scale.down(13.0), scale.down(1.0)) == (0, SIZE, 0, SIZE)


@pytest.mark.parametrize(("value", "ends"), [(5.0, (0.0, 10.0)), (0.0, (-1.0, 1.0))])
def test_one_value_alone_has_an_axis_as_well(value, ends):
    scale = Scale.around(np.array([value, value]))
    assert (scale.low, scale.high) == ends


def test_marks_are_paths_of_svg():
    assert bar(100, 20, 30, 400) == "M90.0 30h20V400h-20z"
    assert line([(0, 1), (2, 3)]) == "M0 1L2 3"
