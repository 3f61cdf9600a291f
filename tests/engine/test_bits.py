"""Random numbers of kernels, and the lowest bit of a word."""

import numpy as np
import pytest
from numba import njit

from clearbands.engine.bits import lowest_bit, random_below, random_unit


def test_random_numbers_are_splitmix64_and_uniform():
    state = np.array([1234567], np.uint64)
    # The published first output of splitmix64 for this seed is 6457827717110365317.
    assert njit(random_unit.py_func)(state) == (6457827717110365317 >> 11) / 2**53
    below = njit(random_below.py_func)
    drawn = np.bincount([below(state, 7) for _ in range(70_000)], minlength=7)
    assert len(drawn) == 7
    assert np.abs(drawn - 10_000).max() < 500


@pytest.mark.parametrize("place", [0, 1, 31, 63])
def test_lowest_bit(place):
    lowest = njit(lambda word: lowest_bit(word))
    assert lowest(np.uint64(1 << place | 1 << 63)) == place
