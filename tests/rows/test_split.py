import numpy as np
import pandas as pd
import polars as pl
import pytest

from clearbands.rows.split import Rows, hold_out


@pytest.mark.parametrize("kind", [np.array, pd.DataFrame, pl.DataFrame])
def test_every_row_goes_to_one_side(kind):
    X = kind(np.arange(20.0).reshape(10, 2))
    stays, leaves = hold_out(Rows(X, np.arange(10.0)), 0.25, np.random.RandomState(0))
    assert (len(stays), len(leaves)) == (7, 3)
    assert sorted([*stays.y, *leaves.y]) == list(range(10))
    np.testing.assert_array_equal(np.asarray(stays.X)[:, 0], 2 * stays.y)  # X and y stay together


def test_too_few_rows():
    with pytest.raises(ValueError, match="n_samples=1"):
        hold_out(Rows(np.zeros((1, 1)), np.zeros(1)), 0.25, np.random.RandomState(0))
