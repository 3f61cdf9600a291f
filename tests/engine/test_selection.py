"""Order statistics of kernels are those of sorted copies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from clearbands.engine import selection

# Python cannot call a function that is for kernels only: a kernel of one line does.
select = njit(lambda *arguments: selection.select(*arguments))
weighted_quantile = njit(lambda *arguments: selection.weighted_quantile(*arguments))

WEIGHTED = st.lists(
    st.tuples(st.integers(-4, 4), st.integers(1, 5)), min_size=1, max_size=3 * selection.FEW_VALUES
)


def arrays_of(weighted):
    values, weights = np.array(weighted).T
    return values.astype(float), weights, len(values), int(weights.sum())


@given(WEIGHTED, st.integers(0, 10**6))
def test_every_rank_is_that_of_sorted_copies(weighted, draw):
    values, weights, size, total = arrays_of(weighted)
    copies, rank = np.sort(np.repeat(values, weights)), draw % total
    assert select(values, weights, size, total, rank) == copies[rank]


@given(WEIGHTED, st.floats(0.01, 0.99))
def test_weights_are_copies(weighted, tau):
    values, weights, size, total = arrays_of(weighted)
    expected = np.quantile(np.repeat(values, weights), tau, method="weibull")
    found = weighted_quantile(values, weights, size, total, tau)
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("rank", [0, 1, 500, 998, 999])
def test_many_distinct_values(rank):
    values = np.random.default_rng(0).permutation(1000).astype(float)
    assert select(values, np.ones(1000, np.int64), 1000, 1000, rank) == rank
    np.testing.assert_array_equal(np.sort(values), np.arange(1000.0))  # none is lost
