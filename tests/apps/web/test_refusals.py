"""Refusals name row and column."""

from __future__ import annotations

import json

import pytest

from tests.apps.web.asking import post_csv, post_rows
from tests.served import ROW


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"x": "far"}, 'expected a finite number or null, got "far"'),
        ({"x": True}, "expected a finite number or null, got true"),
        ({"x": [1]}, "expected a finite number or null, got a list of 1"),
        ({"x": 10**400}, "expected a finite number or null, got 1000"),
        ({"heated": 1}, "expected true, false or null, got 1"),
        ({"sold": "May"}, 'expected a date such as "2024-01-31" or null, got "May"'),
        ({"sold": "0001-01-01T00:00+12:00"}, "expected a date such as"),
        ({"sold": 5}, "expected a date such as"),
        ({"colour": 7}, "expected text or null, got 7"),
        ({"colour": "\ud800"}, "expected text or null, got"),
        ({"colur": "red"}, "the model knows no such column"),
        ({"\ud800": "red"}, "the model knows no such column"),
    ],
)
def test_a_wrong_value_is_named_by_row_and_column(client, changed, said):
    body = json.dumps({"rows": [ROW, ROW | changed]})  # the client cannot send half characters
    answer = client.post("/predict", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert (error["row"], error["column"]) == (1, next(iter(changed)))
    assert error["message"].startswith(said)
    assert "row 1 (counted from 0), column" in answer.json()["detail"]


def test_several_kinds_of_bad_rows_are_all_reported(client):
    short = {"x": 1.0, "age": 2}
    rows = [*[ROW | {"x": "far"}] * 30, short, 7, ROW]
    answer = post_rows(client, *rows)
    detail, errors = answer.json()["detail"], answer.json()["errors"]
    assert "row 0 (counted from 0), column 'x': expected a finite number" in detail
    assert "row 30 (counted from 0), column 'heated': the column is missing" in detail
    assert "row 31 (counted from 0): expected an object" in detail
    assert "(and 31 more)" in detail  # of 30 numbers, 3 columns and 1 row
    assert len(errors) == 20
    assert {30, 31} < {error["row"] for error in errors}

    lines = ["x,age,heated,sold,colour", *["far,2,,,"] * 30, "1,2", "1,2,,,,,", "1,2,,May,"]
    detail = post_csv(client, "\n".join(lines)).json()["detail"]
    assert "row 0 (counted from 0), column 'x': expected a finite number" in detail
    assert "row 30 (counted from 0): expected 5 values, one for each column, got 2" in detail
    assert "row 32 (counted from 0), column 'sold': expected a date" in detail
