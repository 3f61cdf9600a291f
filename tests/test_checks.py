import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator

from clearbands.checks import (
    check_count,
    check_share,
    check_table,
    check_target,
    check_vector,
    is_frame,
)


def test_what_is_a_frame():
    assert is_frame(pd.DataFrame({"a": [1]}))
    assert is_frame(pl.DataFrame({"a": [1]}))
    assert not is_frame(np.zeros((2, 2)))
    assert not is_frame([[1, 2]])


def test_arrays_may_have_gaps_but_no_infinity():
    estimator = BaseEstimator()
    assert np.isnan(check_table(estimator, [[1.0, np.nan]], reset=True)[0, 1])
    with pytest.raises(ValueError, match="infinity"):
        check_table(estimator, [[1.0, np.inf]], reset=True)


def test_an_empty_frame_says_so():
    with pytest.raises(ValueError, match="no rows"):
        check_table(BaseEstimator(), pl.DataFrame({"a": []}), reset=True)


def test_tables_that_are_none_say_so():
    for X, error, said in (
        (pl.LazyFrame({"a": [1]}), TypeError, r"X is a LazyFrame, .* X.collect\(\)"),
        (pl.DataFrame({}), ValueError, "X has no columns"),
        (pd.DataFrame(index=[1, 2]), ValueError, "X has no columns"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "several columns named 'a'"),
        (np.zeros(3), ValueError, r"two dimensions, rows and columns, but has the shape \(3,\)"),
        (pl.Series([1.0]), ValueError, "two dimensions"),
        (np.zeros((2, 1), complex), ValueError, "X must hold real numbers"),
    ):
        with pytest.raises(error, match=said) as caught:
            check_table(BaseEstimator(), X, reset=True)
        assert "\n" not in str(caught.value)


def test_masked_values_are_missing():
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    with pytest.raises(ValueError, match=r"y contains NaN or infinity \(first in row 1\)"):
        check_target(masked)
    with pytest.raises(ValueError, match=r"center contains NaN or infinity \(first in row 1\)"):
        check_vector(masked, "center")
    assert np.isnan(check_table(BaseEstimator(), masked[:, None], reset=True)[1, 0])


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
def test_targets_of_any_kind(kind):
    np.testing.assert_array_equal(check_target(kind([1, 2, 3])), [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y is None"),
        (["a", "b"], "text such as 'a'"),
        ([1.0, np.nan], "NaN"),
        ([1.0, np.inf], "infinity"),
        ([[1.0, 2.0]], "1d array"),
        ([1j, 2.0], "real numbers"),
        (pd.date_range("2024", periods=2), "dates or times such as '2024-01-01"),
        (pd.Series(pd.date_range("2024", periods=2, tz="UTC")), "dates or times"),
        (pl.Series([dt.timedelta(1)]), "dates or times"),
        ([dt.date(2024, 1, 1)], "dates or times such as '2024-01-01'"),
    ],
)
def test_bad_targets(y, message):
    with pytest.raises(ValueError, match=message):
        check_target(y)


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "3", None])
def test_bad_counts(bad):
    with pytest.raises(ValueError, match="trees must be a whole number of at least 1"):
        check_count(bad, "trees")


@pytest.mark.parametrize("bad", [0, 1, -0.1, 2])
def test_bad_shares(bad):
    with pytest.raises(ValueError, match="size must lie strictly between 0 and 1"):
        check_share(bad, "size")
