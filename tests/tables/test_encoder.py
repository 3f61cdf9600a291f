import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands.tables.encoder import TableEncoder

COLUMNS = {
    "size": [1.0, None, 3.0, 5.0],
    "rooms": [1, 2, 3, 4],
    "heated": [True, False, True, True],
    "town": ["a", None, "b", "a"],
    "sold": [dt.date(2020, 1, 1), dt.date(2020, 1, 2), None, dt.date(2020, 1, 4)],
}
FRAMES = [pd.DataFrame, pl.DataFrame]


@pytest.mark.parametrize("frame", FRAMES)
def test_mixed_columns_become_numbers(frame):
    X = frame(COLUMNS)
    if frame is pd.DataFrame:
        X["sold"] = pd.to_datetime(X["sold"])
    encoder = TableEncoder().fit(X)
    assert list(encoder.kinds_.values())[:4] == ["number", "number", "boolean", "text"]
    assert encoder.kinds_["sold"] == ("datetime" if frame is pd.DataFrame else "date")
    names = list(encoder.get_feature_names_out())
    Z = dict(zip(names, encoder.transform(X).T, strict=True))
    assert Z["size"].tolist() == [1, 3, 3, 5]  # the median of 1, 3, 5 fills the gap
    assert Z["missingindicator_size"].tolist() == [0, 1, 0, 0]
    assert Z["heated"].tolist() == [1, 0, 1, 1]
    assert Z["town_a"].tolist() == [1, 0, 0, 1]
    assert Z["town_None"].tolist() == [0, 1, 0, 0]
    assert Z["sold"][1] - Z["sold"][0] == 24 * 60 * 60


def test_times_of_day_and_durations_are_seconds():
    X = pl.DataFrame(
        {
            "opens": [dt.time(0, 1), None, dt.time(12)],
            "takes": [dt.timedelta(hours=1), dt.timedelta(0), None],
        }
    )
    encoder = TableEncoder(numeric=FunctionTransformer()).fit(X)
    assert encoder.kinds_ == {"opens": "time", "takes": "duration"}
    Z = encoder.transform(X)
    np.testing.assert_array_equal(Z, [[60, 3600], [np.nan, 0], [12 * 3600, np.nan]])


@pytest.mark.parametrize("frame", FRAMES)
def test_an_unseen_category_is_none_of_the_known(frame):
    encoder = TableEncoder().fit(frame({"town": ["a", "b"]}))
    assert encoder.transform(frame({"town": ["c"]})).tolist() == [[0, 0]]


def test_pandas_categories_are_text():
    X = pd.DataFrame({"grade": pd.Categorical(["low", "high", None])})
    assert TableEncoder().fit(X).transform(X).shape == (3, 3)


def test_rare_categories_are_pooled():
    X = pl.DataFrame({"id": [f"row {i}" for i in range(500)]})
    assert TableEncoder().fit(X).transform(X).shape == (500, 40)


def test_gaps_that_only_appear_later_are_filled():
    encoder = TableEncoder().fit(np.array([[1.0], [3.0]]))
    assert encoder.transform(np.array([[np.nan]])).tolist() == [[2.0]]


def test_both_steps_can_be_replaced():
    encoder = TableEncoder(numeric=StandardScaler(), categorical=OrdinalEncoder())
    X = pl.DataFrame({"size": [0.0, 2.0], "town": ["a", "b"]})
    assert encoder.fit(X).transform(X).tolist() == [[-1, 0], [1, 1]]


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_are_found_by_name(frame):
    X = frame({"a": [1.0, 2.0], "b": ["x", "y"]})
    encoder = TableEncoder().fit(X)
    np.testing.assert_array_equal(encoder.transform(X[["b", "a"]]), encoder.transform(X))


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_that_differ_are_named(frame):
    encoder = TableEncoder().fit(frame({"a": [1.0, 2.0], "b": [1.0, 2.0]}))
    with pytest.raises(ValueError, match=r"missing: b; not seen in fit: c"):
        encoder.transform(frame({"a": [1.0], "c": [1.0]}))


@pytest.mark.parametrize("blank", [[None, None], [np.nan, np.nan]])
@pytest.mark.parametrize("frame", FRAMES)
def test_columns_without_any_value_are_left_out_with_a_warning(frame, blank):
    X = frame({"size": [1.0, 2.0], "blank": blank, "town": ["a", "b"]})
    with pytest.warns(UserWarning, match="Column 'blank' has no value in any training row"):
        encoder = TableEncoder().fit(X)
    assert encoder.get_feature_names_out().tolist() == ["size", "town_a", "town_b"]
    late = frame({"size": [1.0], "blank": ["here"], "town": ["a"]})
    assert encoder.transform(late).tolist() == [[1, 1, 0]]


@pytest.mark.parametrize(
    "column",
    [
        [f"{i / 7}" for i in range(60)],  # all numbers were read as text
        [i / 7 for i in range(58)] + ["?", "n/a"],  # an object column of pandas, with some text
        [*range(58), "?", None],
    ],
)
def test_numbers_that_are_text_are_told_of(column):
    with pytest.warns(UserWarning, match="Column 'size' holds text, though nearly all of it are"):
        encoder = TableEncoder().fit(pd.DataFrame({"size": pd.Series(column, dtype=object)}))
    assert encoder.kinds_["size"] == "text"


@pytest.mark.parametrize(
    "column",
    [
        [f"{8000 + i}" for i in range(60)],  # postal codes
        ["1.5", "2.5", "4.0"] * 20,
        [f"{i}.5" for i in range(30)] + ["none"] * 30,
        [dt.date(2020, 1, 1 + i % 28) for i in range(60)],
    ],
)
def test_text_that_may_be_text_is_not(column):
    TableEncoder().fit(pd.DataFrame({"size": pd.Series(column, dtype=object)}))


def test_columns_without_any_value_in_arrays_too():
    X = np.array([[1.0, np.nan, 3.0], [2.0, np.nan, 4.0]])
    with pytest.warns(UserWarning, match="Column 1 has no value"):
        encoder = TableEncoder().fit(X)
    assert encoder.transform(X).tolist() == [[1, 3], [2, 4]]
    with pytest.raises(ValueError, match="No column has a value in any training row"):
        TableEncoder().fit(X[:, [1]])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_what_scikit_learn_is_set_to_give_changes_no_number(library):
    X = pl.DataFrame({"size": [1.0, None, 3.0], "town": ["a", "b", "a"]})
    plain = TableEncoder().fit_transform(X)
    with sklearn.config_context(transform_output=library):
        framed = TableEncoder().fit_transform(X)
    assert type(framed).__module__.startswith(library)
    np.testing.assert_array_equal(framed.to_numpy(), plain)


def test_masked_values_are_missing():
    X = np.ma.masked_array([[1.0, 2.0], [3.0, 99.0], [5.0, 6.0]])
    X[1, 1] = np.ma.masked
    assert TableEncoder().fit_transform(X)[:, 1].tolist() == [2, 4, 6]
    integers = np.ma.masked_array([[1], [99], [3]], [[False], [True], [False]])
    assert TableEncoder().fit_transform(integers)[:, 0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_after_an_array_goes_by_place(frame):
    encoder = TableEncoder().fit(np.array([[1.0, 10.0], [2.0, 20.0]]))
    with pytest.warns(UserWarning, match="X has feature names"):
        assert encoder.transform(frame({"b": [1.0], "a": [10.0]})).tolist() == [[1, 10]]
    with (
        pytest.warns(UserWarning, match="X has feature names"),
        pytest.raises(ValueError, match="Column 1 held numbers in fit, but now holds text"),
    ):
        encoder.transform(frame({"b": [1.0], "a": ["x"]}))


@pytest.mark.parametrize("frame", FRAMES)
def test_an_array_after_a_frame_goes_by_place_if_all_were_numbers(frame):
    encoder = TableEncoder().fit(frame({"a": [1.0, 2.0], "b": [10, 20]}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert encoder.transform([[1, 10]]).tolist() == [[1, 10]]
    encoder = TableEncoder().fit(frame({"a": [1.0, 2.0], "town": ["x", "y"]}))
    with (
        pytest.warns(UserWarning, match="does not have valid feature names"),
        pytest.raises(ValueError, match="X is an array, but column 'town' held text in fit"),
    ):
        encoder.transform([[1, 10]])


def test_columns_named_by_numbers_are_found_by_them():
    X = pd.DataFrame([[1.0, 10.0], [2.0, 20.0]])
    encoder = TableEncoder().fit(X)
    np.testing.assert_array_equal(encoder.transform(X[[1, 0]]), encoder.transform(X))


def test_values_that_cannot_be_numbers_are_named():
    encoder = TableEncoder().fit(pl.DataFrame({"size": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="Column 'size' held numbers in fit"):
        encoder.transform(pl.DataFrame({"size": ["large"]}))
    with pytest.raises(ValueError, match="Column 'size' contains infinity"):
        encoder.transform(pl.DataFrame({"size": [np.inf]}))
    with pytest.raises(TypeError, match="Column 'tags' has the type List"):
        TableEncoder().fit(pl.DataFrame({"tags": [["a"], ["b"]]}))


@parametrize_with_checks(
    [TableEncoder()],
    expected_failed_checks=lambda _: {
        "check_dataframe_column_names_consistency": "reordered columns are put right by name",
    },
)
def test_estimator_checks(estimator, check):
    check(estimator)


def test_a_value_that_is_dropped_is_encoded_as_a_gap():
    days = pl.Series([dt.date(2024, 1, 1), dt.date(2024, 6, 5), dt.date(2023, 11, 9)])
    X = pl.DataFrame({"size": [1.0, 2.0, 4.0], "day": days, "some": [1.0, None, 2.0]})
    encoder = TableEncoder().fit(X)
    assert encoder.complete_columns().tolist() == [True, True, False]
    encoded = encoder.transform(X)
    for column, name in enumerate(("size", "day")):
        gaps = X.with_columns(pl.lit(None, X[name].dtype).alias(name))
        np.testing.assert_array_equal(encoder.drop_value(encoded, column), encoder.transform(gaps))
        expected = [[other == name for other in ("size", "day", "some")]] * 3
        assert encoder.new_gaps(gaps).tolist() == expected
    assert not encoder.new_gaps(X).any()


def test_more_columns_of_text_than_a_fit_can_learn_from_are_refused():
    X = pl.DataFrame({f"t{j}": ["a", "b"] for j in range(2_001)})
    with pytest.raises(ValueError, match=r"X has 2,001 columns of text; at most 2,000 can be"):
        TableEncoder().fit(X)
