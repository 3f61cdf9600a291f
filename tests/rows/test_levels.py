from fractions import Fraction

import numpy as np
import pytest

from clearbands.rows.levels import alpha, check_levels, exact, find_level, tails


def test_a_number_or_a_list_in_the_order_given():
    assert check_levels(0.9) == (0.9,)
    assert check_levels([0.95, 0.5]) == (0.95, 0.5)
    assert check_levels(np.array([0.8])) == (0.8,)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (95, "Did you mean 0.95?"),
        (0, "strictly between 0 and 1"),
        (1, "strictly between 0 and 1"),
        (-0.1, "strictly between 0 and 1"),
        (float("nan"), "strictly between 0 and 1"),
        ([], "empty list"),
        ([0.9, 0.9], "twice"),
    ],
)
def test_levels_that_make_no_sense(bad, message):
    with pytest.raises(ValueError, match=message):
        check_levels(bad)


@pytest.mark.parametrize("bad", ["0.9", None, [None], True])
def test_levels_of_the_wrong_type(bad):
    with pytest.raises(TypeError):
        check_levels(bad)


def test_rounding_does_not_reach_the_order_statistic():
    assert exact(0.95) == exact(1 - 0.05) == Fraction(19, 20)
    assert exact(0.1 + 0.2) == Fraction(3, 10)
    assert alpha(0.95) == 0.05  # 1 - 0.95 is 0.05000000000000004
    assert tails(0.9) == (0.05, 0.95)


def test_a_level_is_found_where_it_was_fitted():
    assert find_level([0.9, 0.5], None) == 0
    assert find_level([0.9, 1 - 0.5], 0.5) == 1
    with pytest.raises(ValueError, match=r"not fitted at level 0\.8; it has 0\.9, 0\.5"):
        find_level([0.9, 0.5], 0.8)
    with pytest.raises(ValueError, match=r"Did you mean 0.9\?"):
        find_level([0.9, 0.5], 90)
