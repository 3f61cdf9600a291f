"""Quantiles over members, and over rows of different weights."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clearbands.engine.quantiles import (
    quantiles_of_places,
    sorted_quantiles,
    weighted_median,
    weighted_quantiles,
)


@given(
    st.lists(st.lists(st.floats(-1e3, 1e3), min_size=7, max_size=7), min_size=1, max_size=9),
    st.lists(st.floats(0, 1), min_size=1, max_size=4),
)
def test_sorted_quantiles_are_those_of_numpy(rows, levels):
    values = np.array(rows)
    expected = np.moveaxis(np.quantile(values, levels, axis=1), 0, -1)
    np.testing.assert_allclose(sorted_quantiles(values, levels), expected, rtol=1e-9, atol=1e-9)


def test_weighted_quantiles_are_those_of_copies():
    rng = np.random.default_rng(0)
    for _ in range(50):
        values, weight = rng.normal(size=30), rng.integers(0, 4, 30)
        copies, levels = np.repeat(values, weight), rng.uniform(size=5)
        found = weighted_quantiles(values, levels, weight.astype(float))
        np.testing.assert_array_equal(found, np.quantile(copies, levels))
        assert weighted_median(values, weight.astype(float)) == np.median(copies)


def test_quantiles_of_places_are_those_of_the_values_there():
    rng = np.random.default_rng(0)
    values, levels = np.unique(rng.normal(size=40)), np.array([0.0, 0.05, 0.5, 0.93, 1.0])
    places = rng.integers(0, len(values), (6, 3, 25)).astype(np.int32)
    expected = sorted_quantiles(values[places], levels)
    np.testing.assert_array_equal(quantiles_of_places(places, values, levels), expected)
