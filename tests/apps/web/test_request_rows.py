"""Rows of a request as a table."""

from __future__ import annotations

import json

import narwhals.stable.v1 as nw
import pytest

from clearbands.apps.reading.features import Feature
from clearbands.apps.web.request_rows import frame_of
from clearbands.tables.kinds import KINDS, kind_of
from tests.served import ROW


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("number", 1),
        ("boolean", True),
        ("date", "2024-01-31"),
        ("datetime", "2024-01-31T13:45:00"),
        ("time", "13:45:00"),
        ("duration", 90),
        ("text", "a"),
    ],
)
def test_values_of_json_arrive_in_their_kind(kind, value):
    table = frame_of([{"c": value}, {"c": None}], [Feature("c", kind)])
    read_kind = kind_of(nw.from_native(table["c"], series_only=True), "c")
    assert kind in (read_kind, *KINDS[read_kind].alike)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_json_numbers_must_be_finite(client, number):
    body = json.dumps({"rows": [ROW]}).replace("0.5", number)
    answer = client.post("/predict", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert (answer.json()["errors"][0]["row"], answer.json()["errors"][0]["column"]) == (0, "x")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "The body is empty."),
        (b"{", "The body is not JSON: Expecting property name"),
        (b'{"rows": [\xff]}', "not UTF-8: byte 0xff in line 1"),
        (b"[]", "got a list of 0"),
        (b"3", "got 3"),
        (b'{"row": []}', "got an object of 1"),
        (b'{"rows": []}', "at least one row, got none"),
        (b'{"rows": [], "rows": []}', "got an object of 1"),
        (b'{"rows": [1]}', "row 0 (counted from 0): expected an object, got 1"),
        (
            b'{"rows": [{}]}',
            "row 0 (counted from 0), column 'x': the column is missing (and 4 more)",
        ),
        (
            b'{"rows": [{"x": 1, "x": 2}]}',
            "row 0 (counted from 0), column 'x': the column is there twice",
        ),
        (b"[" * 100_000, "longer than the 20,000 bytes allowed"),
        (b"[" * 19_000, "too large or too deep"),
        (b'{"rows": ' + b"9" * 5000 + b"}", "too large or too deep"),
    ],
)
def test_bodies_that_are_no_rows_are_refused(client, body, said):
    answer = client.post("/predict", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == (413 if "allowed" in said else 422)
    assert said in answer.json()["detail"]
