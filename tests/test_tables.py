import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator

from clearbands.tables import check_any, check_count, check_share, check_target, is_frame


def test_what_is_a_frame():
    assert is_frame(pd.DataFrame({"a": [1]}))
    assert is_frame(pl.DataFrame({"a": [1]}))
    assert not is_frame(np.zeros((2, 2)))
    assert not is_frame([[1, 2]])


def test_arrays_may_have_gaps_but_no_infinity():
    estimator = BaseEstimator()
    assert np.isnan(check_any(estimator, [[1.0, np.nan]], reset=True)[0, 1])
    with pytest.raises(ValueError, match="infinity"):
        check_any(estimator, [[1.0, np.inf]], reset=True)


def test_an_empty_frame_says_so():
    with pytest.raises(ValueError, match="no rows"):
        check_any(BaseEstimator(), pl.DataFrame({"a": []}), reset=True)


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
