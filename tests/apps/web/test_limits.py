"""Limits are positive counts and finite times."""

import math

import pytest

from clearbands.apps.web.limits import Limits, Patience


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Limits(bytes=0), "The most bytes of a request must be a whole number of at least"),
        (lambda: Limits(requests=1.5), "The most requests at once must be a whole number"),
        (lambda: Limits(seconds=math.inf), "The timeout must be a positive number, got inf"),
        (lambda: Limits(seconds=math.nan), "The timeout must be a positive number, got nan"),
        (lambda: Patience(header_seconds=0), "The time for a header must be a positive number"),
        (lambda: Patience(connections=0), "The most connections at once must be a whole number"),
    ],
)
def test_limits_that_are_none_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_all_bodies_together_are_as_large_as_those_of_all_requests():
    assert Limits(bytes=1000, requests=3).buffered_bytes == 3000
