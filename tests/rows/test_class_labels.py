"""Classes: checks, numbers, and the way from logits to the likeliest class."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from clearbands.rows.class_labels import (
    check_counts,
    check_labels,
    is_missing,
    likeliest,
    positions,
)

LOGITS = arrays(float, (3, 4), elements=st.floats(-300, 300))


def test_classes_are_numbered_in_their_order():
    classes, label = positions(["dog", "cat", "dog", "bird"])
    assert classes.tolist() == ["bird", "cat", "dog"]
    assert label.tolist() == [2, 1, 2, 0]


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="y holds one class only, 1 \\(n_samples=3\\)"):
        positions([1, 1, 1])


@pytest.mark.parametrize("value", [None, float("nan"), np.nan, pd.NA, pd.NaT])
def test_missing(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, "", "nan", False, float("inf")])
def test_not_missing(value):
    assert not is_missing(value)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (["a", "b"], "X has 3 rows and y has 2 values"),
        (np.array(["a", None, "b"], object), "y has rows without a class"),
        ([0.0, 1.0, np.nan], "y contains NaN or infinity, which is no class"),
        (np.ma.array([0, 1, 1], mask=[True, False, False]), "y is masked in some rows"),
        ([0.1, 0.2, 0.3], "continuous"),
    ],
)
def test_bad_labels(y, words):
    with pytest.raises(ValueError, match=words):
        check_labels(y, 3)


def test_each_class_needs_two_rows():
    check_counts(np.array(["a", "b"]), np.array([2, 2]))
    with pytest.raises(ValueError, match="The class b has one row only"):
        check_counts(np.array(["a", "b"]), np.array([5, 1]))


def test_of_equals_the_first_is_the_likeliest():
    shares = np.array([[0.4, 0.4, 0.2], [0.1, 0.2, 0.7]])
    assert likeliest(shares, np.array(["x", "y", "z"])).tolist() == ["x", "z"]
