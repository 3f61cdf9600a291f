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


def test_rows_of_one_label_are_on_one_side():
    visits = np.repeat(np.arange(10), 7)
    rows = Rows(visits[:, None], np.arange(70.0), visits)
    for seed in range(5):
        stays, leaves = hold_out(rows, 0.25, np.random.RandomState(seed))
        assert (len(stays), len(leaves)) == (49, 21)  # 18 rows, rounded up to whole labels
        assert not set(stays.groups) & set(leaves.groups)
    with pytest.raises(ValueError, match="All rows have one label in groups"):
        hold_out(Rows(rows.X, rows.y, np.zeros(70)), 0.25, np.random.RandomState(0))


def test_one_label_with_nearly_all_rows_leaves_some_on_both_sides():
    labels = np.array([0] * 8 + [1, 2])
    for seed in range(10):
        sides = hold_out(Rows(labels[:, None], labels, labels), 0.5, np.random.RandomState(seed))
        assert all(len(side) for side in sides)
