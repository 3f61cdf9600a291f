"""Likely mistakes in a table are told, and nothing else."""

import numpy as np
import polars as pl
import pytest

from clearbands.apps.reading.inspection import inspect_table, warnings_about, warnings_about_target
from clearbands.apps.reading.reading import read_table

ROWS = 40


@pytest.fixture
def inspected(tmp_path):
    def of(**columns):
        path = tmp_path / "data.csv"
        rows = [columns, *zip(*columns.values(), strict=True)]
        path.write_text("\n".join(",".join(map(str, row)) for row in rows))
        reading = read_table(path)
        return reading, {column.name: column for column in inspect_table(reading)}

    return of


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("row", range(100, 100 + ROWS), "looks like an id"),
        ("house_id", range(0, 7 * ROWS, 7), "looks like an id"),
        ("houseId", range(0, 7 * ROWS, 7), "looks like an id"),
        ("order", [i for i in range(2 * ROWS) if i % 5 < 3][:ROWS], "looks like an id"),  # gaps
        ("PID", range(0, 7 * ROWS, 7), "looks like an id"),
        ("ticket", [f"T{i}" for i in range(ROWS)], "looks like an id"),
        ("country", ["CH"] * ROWS, "the same value in every row"),
        ("constant", [3] * ROWS, "the same value in every row"),
        (
            "size",
            ["?", *range(1, ROWS)],
            "1 cell read as missing, such as '?' in row 1 (counted from 1)",
        ),
        ("zip", ["01067", "8001"] * (ROWS // 2), "text, because some begin with 0"),
    ],
)
def test_what_looks_wrong_is_told_with_what_to_do(inspected, name, values, said):
    reading, columns = inspected(**{name: values, "x": np.linspace(0, 1, ROWS)})
    assert said in columns[name].remark
    assert columns["x"].remark == ""
    (words,) = warnings_about(reading, tuple(columns.values()), [name, "x"])
    assert f"Column {name!r}: " in words
    assert "--drop" in words or "--columns-as" in words
    assert warnings_about(reading, tuple(columns.values()), ["x"]) == []


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("percent", [99, 99, *range(ROWS - 2)]),
        ("once", [999, *range(ROWS - 1)]),
        ("valid", range(0, 7 * ROWS, 7)),  # the name ends in id, too
        ("price", [i * i for i in range(ROWS)]),
        ("town", ["a", "b"] * (ROWS // 2)),
        ("weight", np.linspace(0, 1, ROWS)),
    ],
)
def test_what_looks_right_is_not_told(inspected, name, values):
    _, columns = inspected(**{name: values, "other": [1, 2] * (ROWS // 2)})
    assert columns[name].remark == ""


@pytest.mark.parametrize("cell", [-999, 99, 9999.0])
def test_nines_that_stand_for_gaps_are_told(inspected, cell):
    values = [cell, *np.linspace(0, 1, ROWS - 2), cell]
    reading, columns = inspected(rain=values, x=np.linspace(0, 1, ROWS))
    (words,) = warnings_about(reading, tuple(columns.values()), ["rain", "x"])
    assert f"'rain': 2 cells hold {cell:.0f}, far from all others: empty them if they" in words


@pytest.mark.parametrize(
    ("name", "values", "advice"),
    [
        ("House Id", range(0, 7 * ROWS, 7), "--id 'House Id' keeps it for the output"),
        ("lot area", ["?", *range(1, ROWS)], "--columns-as 'lot area=text'"),
        ("zip code", ["01067", "8001"] * (ROWS // 2), "--columns-as 'zip code=number'"),
        ("the land", ["CH"] * ROWS, "--drop 'the land'"),
    ],
)
def test_advice_can_be_typed_as_it_stands(inspected, name, values, advice):
    reading, columns = inspected(**{name: values, "x": np.linspace(0, 1, ROWS)})
    (words,) = warnings_about(reading, tuple(columns.values()), [name])
    assert advice in words


def test_nearly_unique_columns_look_like_ids(inspected):
    _, columns = inspected(
        listing=[f"no. {i % 95}" for i in range(100)], town=[f"t{i % 80}" for i in range(100)]
    )
    assert columns["listing"].remark == "95 different texts in 100 rows: looks like an id"
    assert columns["town"].remark == ""


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("Store No", [17, 204, 3], "may be codes by their name"),
        ("zip", [10115, 80331, 20095], "may be codes by their name"),
        ("area", [10115, 80331, 20095], "of 5 digits that repeat"),
        ("rooms", [1, 2, 3], "3 whole numbers, amounts or categories"),
        ("year", list(range(1950, 1966)), ""),
        ("price", [100.5, 20.25, 3.5], ""),
    ],
)
def test_codes_are_named_but_not_warned_of(inspected, name, values, said):
    repeated = [list(values)[i % len(values)] for i in range(48)]
    reading, columns = inspected(**{name: repeated, "x": np.linspace(0, 1, 48)})
    if said:
        assert said in columns[name].hint
        assert f"--columns-as {name}=text" in columns[name].hint.replace("'", "")
        assert warnings_about(reading, tuple(columns.values()), [name]) == []
    else:
        assert columns[name].hint == ""


def test_the_same_of_many_columns_is_said_once(inspected):
    ids = {f"c{j}": [f"t{i}" for i in range(ROWS)] for j in range(300)}
    reading, columns = inspected(**ids)
    said = warnings_about(reading, tuple(columns.values()), list(ids))
    assert len(said) == 5
    assert said[-1] == "296 more columns like it; `clearbands inspect` shows them all."


def test_lists_are_shown_and_can_be_dropped(tmp_path):
    path = tmp_path / "data.parquet"
    pl.DataFrame({"tags": [[1, 2]] * 3, "made": [{"a": 1}] * 3, "x": [1, 2, 3]}).write_parquet(path)
    remarks = [column.remark for column in inspect_table(read_table(path))]
    assert remarks[:2] == [
        "holds lists, from which no model can learn",
        "holds dicts, from which no model can learn",
    ]


def test_columns_in_a_few_words(inspected):
    _, columns = inspected(
        size=[1.5, "", 3, 3], town=["b", "a", "", "b"], sold=["2024-01-31", "2024-02-01", "", ""],
        heated=["true", "false", "true", "true"], blank=["", "", "", ""],
    )  # fmt: skip
    shown = {name: (c.kind, c.n_missing, c.n_distinct, c.values) for name, c in columns.items()}
    assert shown == {
        "size": ("number", 1, 2, "1.5 to 3"),
        "town": ("text", 1, 2, "b, a"),
        "sold": ("date", 2, 2, "2024-01-31 to 2024-02-01"),
        "heated": ("boolean", 0, 2, "75% yes"),
        "blank": ("-", 4, 0, ""),
    }


def test_targets_of_which_intervals_say_little():
    assert "nothing to learn" in warnings_about_target("y", np.ones(30))[0]
    assert "two values, 0 and 1" in warnings_about_target("y", np.arange(30) % 2)[0]
    assert warnings_about_target("y", np.arange(30) % 3) == []
