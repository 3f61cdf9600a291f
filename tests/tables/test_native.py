"""Tables come back in the library that they came from."""

import importlib

import numpy as np
import pytest

from clearbands.tables.native import FrameKind, kind_of, make_frame

COLUMNS = {"a": np.array([1.5, 2.5]), "b": ["x", "y"]}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_is_of_the_library_of_the_rows(library):
    module = importlib.import_module(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    rows = make({"x": [1, 2]})
    frame = make_frame(COLUMNS, kind_of(rows))
    assert type(frame) is type(rows)
    columns = frame.column_names if library == "pyarrow" else list(frame.columns)
    assert columns == ["a", "b"]
    assert np.asarray(frame["a"]).tolist() == [1.5, 2.5]


def test_the_index_of_pandas_stays():
    pandas = importlib.import_module("pandas")
    rows = pandas.DataFrame({"x": [1, 2]}, index=["first", "second"])
    assert list(make_frame(COLUMNS, kind_of(rows)).index) == ["first", "second"]


def test_an_array_has_no_library_and_gets_one_that_is_installed():
    assert kind_of(np.zeros((2, 1))) == FrameKind(None, None)
    frame = make_frame(COLUMNS, FrameKind())
    assert type(frame).__module__.split(".")[0] == "pandas"
