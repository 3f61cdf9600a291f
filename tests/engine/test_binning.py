"""Bins: how many there are, where they are cut, and that only the order of a column matters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from clearbands.engine.binning import MAX_BINS, Bins

finite = st.floats(-1e300, 1e300, allow_subnormal=False)
columns = arrays(np.float64, st.integers(1, 60), elements=finite)


def binned(column, max_bins=MAX_BINS):
    X = column[:, None]
    return Bins.from_data(X, max_bins).apply(X)[:, 0]


@given(columns)
def test_few_distinct_values_get_a_bin_each(column):
    _, rank = np.unique(column, return_inverse=True)
    np.testing.assert_array_equal(binned(column), rank)


@given(columns, st.integers(2, 8))
def test_bins_keep_the_order(column, max_bins):
    bins = binned(column, max_bins)
    assert bins.max() < max_bins
    assert np.all(np.diff(bins[np.argsort(column)].astype(int)) >= 0)


def test_neighbouring_floats_are_told_apart():
    column = np.array([1.0, np.nextafter(1.0, 2.0)])
    np.testing.assert_array_equal(binned(column), [0, 1])


def test_the_largest_floats_do_not_overflow():
    column = np.array([1.6e308, 1.7e308])
    np.testing.assert_array_equal(binned(column), [0, 1])


@pytest.mark.parametrize("n_values", [256, 257, 1000, 10_000])
def test_many_distinct_values_share_the_rows_evenly(n_values):
    rows_per_bin = np.bincount(binned(np.random.RandomState(0).permutation(n_values) * 1.0))
    assert len(rows_per_bin) == min(n_values, MAX_BINS)
    assert rows_per_bin.max() - rows_per_bin.min() <= 2


def test_a_value_that_fills_most_of_a_column_takes_one_bin():
    column = np.r_[np.zeros(10_000), np.arange(1.0, 1001)]
    bins = binned(column, 16)
    assert np.all(bins[:10_000] == bins[0])
    assert len(np.unique(bins)) >= 2


def test_a_constant_column_has_no_cuts():
    bins = Bins.from_data(np.ones((5, 1)))
    assert len(bins.cuts) == 0
    np.testing.assert_array_equal(bins.offsets, [0, 1])
    np.testing.assert_array_equal(bins.apply(np.array([[-9.0], [1.0], [9.0]])), np.zeros((3, 1)))


def test_new_values_fall_in_the_bins_they_lie_between():
    bins = Bins.from_data(np.array([[0.0], [1.0], [3.0]]))
    new = np.array([[-5.0], [0.4], [0.6], [1.9], [2.1], [99.0]])
    np.testing.assert_array_equal(bins.apply(new)[:, 0], [0, 0, 1, 1, 2, 2])


def test_offsets_count_one_bin_more_than_cuts_in_every_column():
    X = np.column_stack([np.arange(6) % 2, np.zeros(6), np.arange(6)]).astype(float)
    np.testing.assert_array_equal(Bins.from_data(X).offsets, [0, 2, 3, 9])
