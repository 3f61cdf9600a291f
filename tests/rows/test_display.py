"""Numbers as people read them: one value has one number."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearbands.rows.display import GAP, count, number, percent


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"),
        (1234.5678, "1,235"),
        (-0.0123456, "−0.01235"),
        (123456.7, "123,500"),
        (99999, "100,000"),
        (0.5, "0.5"),
        (1.5e20, "1.5e+20"),
        (2e-9, "2e−09"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
    ],
)
def test_numbers_have_four_digits_that_matter(value, said):
    assert number(value) == said


def test_shares_never_round_to_all_or_nothing():
    shown = [percent(share).replace(GAP, " ") for share in (0.5, 1, 0, 0.999, 0.0004)]
    assert shown == ["50 %", "100 %", "0 %", "99.9 %", "0.04 %"]
    assert percent(1e-9).replace(GAP, " ") == "under 0.001 %"
    assert percent(1 - 1e-9).replace(GAP, " ") == "over 99.999 %"
    assert [count(1), count(2), count(1200, "day")] == ["1 row", "2 rows", "1,200 days"]


@given(st.floats(1e-3, 1e9), st.integers(-4, 4))
def test_the_last_digits_of_floating_point_change_no_number(value, steps):
    value = float(f"{value:.5g}")  # also halves of the last digit that is shown
    nearby = value
    for _ in range(abs(steps)):
        nearby = math.nextafter(nearby, math.copysign(math.inf, steps))
    assert number(nearby) == number(value)
