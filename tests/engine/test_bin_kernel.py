"""The kernel of bins: the bin of a value is the number of cuts below it."""

import numpy as np
import pytest

from clearbands.engine.binning import Bins


@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 65, 9_000])
def test_a_bin_is_the_number_of_cuts_below(n_rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5_000, 3))
    X[:, 1] = np.round(X[:, 1] * 7)
    X[:, 2] = 1.0
    bins = Bins.from_data(X, 2**12)
    new = np.concatenate([X, rng.normal(size=(5_000, 3)), [[1e300] * 3, [-1e300] * 3]])[-n_rows:]
    new = new if n_rows else new[:0]
    cuts = np.split(bins.cuts, bins.starts[1:-1])
    below = [np.searchsorted(own, column) for own, column in zip(cuts, new.T, strict=True)]
    np.testing.assert_array_equal(bins.columns(new), below)
    np.testing.assert_array_equal(bins.apply(new, np.uint16), np.transpose(below))
