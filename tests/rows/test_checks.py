import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from clearbands.rows.checks import (
    check_count,
    check_group_labels,
    check_share,
    check_target,
    check_vector,
)


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


def test_targets_without_a_value_are_found_among_objects():
    with pytest.raises(ValueError, match=r"y contains NaN or infinity, first in row 1 \(counted"):
        check_target(np.array([1.0, None, 2.0], object))


@pytest.mark.parametrize("values", [["1", "2"], np.array(["2020-01-01"], "M8[D]")])
def test_text_and_dates_are_no_numbers_in_any_argument(values):
    with pytest.raises(ValueError, match="sample_weight must be numbers, but it holds"):
        check_vector(values, "sample_weight")


def test_groups_may_be_masked_or_missing():
    masked = np.ma.masked_array(["a", "b", "c"], mask=[False, True, False])
    assert check_group_labels(masked, 3).tolist() == ["a", "missing", "c"]
    missing = pd.array(["a", None, "b"], dtype="string")
    assert check_group_labels(missing, 3).tolist() == ["a", "missing", "b"]


def test_rows_and_targets_of_one_index_stand_in_one_order():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=["x", "y", "z"])
    y = pd.Series([1.0, 2.0, 3.0], index=["x", "y", "z"])
    for other in (y, y.to_numpy(), y.reset_index(drop=True), y.set_axis(["x", "x", "z"])):
        np.testing.assert_array_equal(check_target(other, X), [1, 2, 3])
    with pytest.raises(ValueError, match=r"same index in another order.*y\.loc"):
        check_target(y[::-1], X)
