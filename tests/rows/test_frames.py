import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator

from clearbands.rows import frames
from clearbands.rows.checks import (
    check_target,
    check_vector,
)
from clearbands.rows.frames import check_numeric, check_table, is_frame
from tests.selection.test_compete import folded_lines
from tests.toys import linear_clear, noisy_line


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
    with pytest.raises(ValueError, match=r"y contains NaN or infinity, first in row 1 \(counted"):
        check_target(masked)
    with pytest.raises(
        ValueError, match=r"center contains NaN or infinity, first in row 1 \(counted"
    ):
        check_vector(masked, "center")
    assert np.isnan(check_table(BaseEstimator(), masked[:, None], reset=True)[1, 0])


@pytest.mark.parametrize("make", [folded_lines, linear_clear])
@pytest.mark.parametrize(
    "ask", ["predict", "predict_interval", "predict_uncertainty", "unfamiliar"]
)
@pytest.mark.parametrize("table", [lambda X: X, lambda X: pd.DataFrame(X, columns=["a", "b"])])
def test_whatever_is_asked_no_part_validates_the_rows_again(make, ask, table, monkeypatch):
    X, y = noisy_line(100)
    model = make().fit(table(X), y)
    checked, validate = [], frames.validate_data
    monkeypatch.setattr(
        frames, "validate_data", lambda *args, **how: checked.append(args) or validate(*args, **how)
    )
    getattr(model, ask)(table(X))
    assert [estimator for estimator, _ in checked] in ([], [model])


def test_an_array_as_in_fit_comes_back_as_it_is():
    part, X = BaseEstimator(), np.ones((3, 2))
    check_numeric(part, X, reset=True)
    assert check_numeric(part, X, reset=False) is X
    assert check_table(part, X * [np.nan, 1.0], reset=False).shape == (3, 2)
    with pytest.raises(ValueError, match="NaN"):
        check_numeric(part, X * np.nan, reset=False)
    with pytest.raises(ValueError, match="infinity"):
        check_table(part, X * np.inf, reset=False)
    for other in (X[:, :1], np.ones((3, 3))):
        with pytest.raises(ValueError, match="features"):
            check_numeric(part, other, reset=False)


@pytest.mark.parametrize("X", [None, {"a": [1.0]}, b"a.csv", (row for row in [[1.0]])])
def test_what_is_no_table_is_named(X):
    with pytest.raises(TypeError, match=rf"or an array .*, got {type(X).__name__}"):
        check_table(BaseEstimator(), X, reset=True)


@pytest.mark.parametrize("X", [[["a", 1.0]], np.array([["a", 1.0]], object), np.array([["a"]])])
def test_text_in_an_array_wants_a_table(X):
    with pytest.raises(ValueError, match="holds text such as 'a': give a table"):
        check_table(BaseEstimator(), X, reset=True)


@pytest.mark.parametrize("dtype", ["M8[D]", "m8[h]"])
def test_an_array_of_dates_has_no_numbers_of_its_own(dtype):
    with pytest.raises(ValueError, match=r"dates or times .* give a table"):
        check_table(BaseEstimator(), np.zeros((3, 1), dtype), reset=True)


def test_cells_that_hold_several_values_are_named():
    X = np.full((2, 2), 1.0, object)
    X[1, 1] = [1, 2]
    with pytest.raises(TypeError, match=r"with cells of the type list, such as \[1, 2\]; each"):
        check_numeric(linear_clear(), X, reset=True)
