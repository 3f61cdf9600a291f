"""Columns that a user names are found, or an error says what to do."""

from __future__ import annotations

import polars as pl
import pytest

from clearbands.apps.reading.choosing import choose_features, take_features, take_target
from clearbands.apps.reading.reading import Fitted, read_table


@pytest.fixture
def read(tmp_path):
    def from_csv(text: str):
        path = tmp_path / "data.csv"
        path.write_text(text)
        return read_table(path)

    return from_csv


@pytest.mark.parametrize(
    ("content", "target", "message"),
    [
        ("Price,x\n1,2\n", "price", "has no column 'price'; did you mean 'Price'"),
        ("price,prize,x\n1,2,3\n", "prise", "did you mean 'prize' or 'price'"),
        ("x,y\n1,2\n", "price", "its columns are 'x', 'y'"),
        ("y,x\ncheap,1\n", "y", "'y' holds text such as 'cheap'; it must be numbers"),
        (
            "y,x\n1,1\n2,2\ncheap,3\n",
            "y",
            "'y' holds 'cheap' in row 3 .counted from 1., which is no number",
        ),
        (
            "y,x\n1,1\n2,2\n?,3\n",
            "y",
            "'y' holds '\\?' in row 3 .counted from 1., which is no number",
        ),
        (
            "y,x\n1,1\n?,2\n-,3\n3,4\n",
            "y",
            r"holds '\?' in row 2 \(counted from 1\) \(1 row more like it\)",
        ),
        ("y,x\n2024-01-31,1\n", "y", "'y' holds values of type Date such as '2024-01-31'"),
        (
            "y,x\n1,2\n,3\nNaN,4\n",
            "y",
            "'y' is missing in 2 rows of 3, first in row 2 .counted.* --drop-missing-target",
        ),
        ("y,x\n1.5,2\n,3\n", "y", "'y' is missing in 1 row of 2"),
        ("y,x\ninf,2\n1.5,3\n", "y", "'y' is infinite in 1 row of 2, first in row 1"),
    ],
)
def test_targets_say_what_is_wrong_with_them(read, content, target, message):
    with pytest.raises(ValueError, match=message):
        take_target(read(content), target)


@pytest.mark.parametrize(
    ("cells", "values"), [("true,false", [1, 0]), ('"1,710",5', [1710, 5]), (" 1,2", [1, 2])]
)
def test_targets_are_numbers(tmp_path, cells, values):
    path = tmp_path / "data.csv"
    first, _, second = cells.rpartition(",")
    path.write_text(f"y,x\n{first},1\n{second},2\n")
    for fitted in (None, Fitted({"x": "number"})):  # before a fit, and for a fitted model
        assert take_target(read_table(path, fitted=fitted), "y").tolist() == values


def test_features_are_all_but_the_target_or_those_asked_for():
    frame = pl.DataFrame({"a": [1], "b": [2], "c": [3], "y": [4]})
    assert choose_features(frame, "y", "t").columns == ["a", "b", "c"]
    assert choose_features(frame, "y", "t", drop=["b", "y"]).columns == ["a", "c"]
    assert choose_features(frame, "y", "t", features=["c", "a"]).columns == ["c", "a"]
    assert choose_features(frame, "y", "t", features=["c", "a"], drop=["a"]).columns == ["c"]
    for options, said in (
        ({"drop": ["bb"]}, "has no column 'bb'; did you mean 'b'"),
        ({"features": ["y"]}, "The target 'y' is among the features"),
        ({"drop": ["a", "b", "c"]}, "no column besides the target 'y'"),
    ):
        with pytest.raises(ValueError, match=said):
            choose_features(frame, "y", "t", **options)


def test_missing_columns_are_named_but_not_hundreds_of_them():
    frame = pl.DataFrame({"x": [1]})
    with pytest.raises(ValueError, match="lacks the column the model was fitted on: 'a'; add"):
        take_features(frame, ["x", "a"], "t")
    with pytest.raises(ValueError, match=r"lacks 300 columns .* 'c7' and 292 more; add"):
        take_features(frame, [f"c{i}" for i in range(300)], "t")


def test_a_column_in_another_spelling_is_suggested():
    frame = pl.DataFrame({"Living Area": [1], "ROOMS": [2]})
    with pytest.raises(ValueError, match="rename 'Living Area' to 'living_area', 'ROOMS' to 'roo"):
        take_features(frame, ["living_area", "rooms"], "t")
