import numpy as np
import pandas as pd
import polars as pl
import pytest

from clearbands.rows.split import Rows, divide_rows, hold_out, hold_out_last


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
        assert (len(stays), len(leaves)) == (49, 21)  # 18 rows, rounded up to whole groups
        assert not set(stays.groups) & set(leaves.groups)
    with pytest.raises(ValueError, match="All rows have one label in groups"):
        hold_out(Rows(rows.X, rows.y, np.zeros(70)), 0.25, np.random.RandomState(0))


def test_one_label_with_nearly_all_rows_leaves_some_on_both_sides():
    labels = np.array([0] * 8 + [1, 2])
    for seed in range(10):
        sides = hold_out(Rows(labels[:, None], labels, labels), 0.5, np.random.RandomState(seed))
        assert all(len(side) for side in sides)


def rows(n, first=0):
    y = np.arange(first, first + n, dtype=float)
    return Rows(y[:, None], y)


def shared(calibration, given=None, gap=None):
    rng = np.random.RandomState(0)
    return divide_rows(rows(40), given, calibration, size=0.25, gap=gap, rng=rng)


@pytest.mark.parametrize(
    ("calibration", "sizes"), [("cross", []), ("joint", [10]), ("conformal", [5, 5])]
)
def test_every_row_has_one_task(calibration, sizes):
    train, *held_out = shared(calibration)
    assert [len(share) for share in held_out] == sizes
    assert len(train) == 40 - sum(sizes)
    assert sorted(np.concatenate([train.y, *(share.y for share in held_out)])) == list(range(40))


def test_with_a_calibration_set_all_rows_train():
    train, *held_out = shared("conformal", given=rows(8, first=100))
    assert len(train) == 40
    assert sorted(np.concatenate([share.y for share in held_out])) == list(range(100, 108))


def test_in_the_order_of_time_the_last_rows_calibrate_and_those_before_them_choose():
    train, choosing, calibrating = shared("conformal", gap=2)
    assert calibrating.y.tolist() == [35, 36, 37, 38, 39]
    assert choosing.y.tolist() == [30, 31, 32, 33, 34]
    assert train.y.tolist() == list(range(28))  # two moments are not known yet


def test_the_last_rows_are_held_out_behind_the_gap():
    rows = Rows(np.arange(40.0)[:, None], np.arange(40.0))
    train, held_out = hold_out_last(rows, 0.25, np.arange(40), gap=5)
    assert train.y.tolist() == list(range(25))
    assert held_out.y.tolist() == list(range(30, 40))
    with pytest.raises(ValueError, match="no earlier rows are left"):
        hold_out_last(rows, 0.25, np.arange(40), gap=30)
