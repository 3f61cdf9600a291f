"""Rows of a request as a table."""

from __future__ import annotations

import datetime as dt
import json

import narwhals.stable.v1 as nw
import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient

from clearbands.apps.reading.features import Feature
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import Refusal
from clearbands.apps.web.request_rows import frame_of, rows_from_csv
from clearbands.apps.web.service import create_app
from clearbands.tables.kinds import KINDS, kind_of
from tests.apps.web.asking import post_csv, post_rows
from tests.served import COLUMNS, ROW, houses, linear_model


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


def features(decimal="", order=""):
    size, sold = Feature("size", "number", written=decimal), Feature("sold", "date", written=order)
    return [size, sold]


@pytest.mark.parametrize(
    ("body", "decimal", "order", "size"),
    [
        ('size,sold\n"$1,710",2008-07-05\n', "", "", 1710),
        ("size;sold\n1.710,50 €;05.07.2008\n", "", "", 1710.5),
        ("size;sold\n1.710;07/05/2008\n", ",", "mdy", 1710),
        ("size;sold\n1.710;05/07/2008\n", ".", "dmy", 1.71),
    ],
)
def test_cells_are_read_as_in_a_file(body, decimal, order, size):
    frame = rows_from_csv(body.encode(), features(decimal, order), Limits())
    assert frame.row(0) == (size, dt.datetime(2008, 7, 5))


@pytest.mark.parametrize("row", ["1.710;2008-07-05", "5;07/05/2008", "?;2008-07-05"])
def test_what_could_mean_two_things_is_refused(row):
    with pytest.raises(Refusal, match=r"row 0 \(counted from 0\), column"):
        rows_from_csv(f"size;sold\n{row}\n".encode(), features(), Limits())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "The body is empty."),
        (b"x,age,heated,sold,colour\n", "has column names but no rows"),
        (b"x,age,heated,sold\n1,2,true,2020-01-01\n", "column 'colour': the column is missing"),
        (b"x,x,age,heated,sold,colour\n1,1,2,,,\n", "column 'x': the column is there twice"),
        (b"id,x,age,heated,sold,colour\n1,1,2,,,\n", "'id': the model knows no such column"),
        (b"x,age,heated,sold,colour\n1,2,,,r\xe9d\n", "not UTF-8: byte 0xe9 in line 2"),
        (
            b"x,age,heated,sold,colour\n1,2,,,\nfar,2,,,\n",
            "row 1 (counted from 0), column 'x': expected a finite",
        ),
        (
            b"x,age,heated,sold,colour\ninf,2,,,\n",
            "row 0 (counted from 0), column 'x': expected a finite",
        ),
        (
            b"x,age,heated,sold,colour\n2020-01-01,2,,,\n",
            "row 0 (counted from 0), column 'x': expected a finite",
        ),
        (
            b"x,age,heated,sold,colour\n1,2,,May,\n",
            "row 0 (counted from 0), column 'sold': expected a date",
        ),
        (
            b"x,age,heated,sold,colour\n1,2,yes,,\n",
            "row 0 (counted from 0), column 'heated': expected true",
        ),
        (
            b"x,age,heated,sold,colour\n1,2,,,,,\n",
            "row 0 (counted from 0): expected 5 values, one for each",
        ),
        (
            b"x,age,heated,sold,colour\n1,2,,,\n1,2\n",
            "row 1 (counted from 0): expected 5 values, one for each",
        ),
        (
            b"x,age,heated,sold,colour\n1,2,,,\n\n1,2,,,\n",
            "row 1 (counted from 0): expected 5 values, one for",
        ),
        (
            b"x,age,heated,sold,colour\ntrue,2,,,\n",
            "row 0 (counted from 0), column 'x': expected a finite",
        ),
        (
            b"x,age,heated,sold,colour\n1,2,1,,\n",
            "row 0 (counted from 0), column 'heated': expected true",
        ),
        (
            b"x,age,heated,sold,colour\n1,2,,5,\n",
            "row 0 (counted from 0), column 'sold': expected a date",
        ),
        (
            b"x,age,heated,sold,colour\n1,2,,10:30:00,\n",
            "row 0 (counted from 0), column 'sold': expected a date",
        ),
        (
            b"x,age,heated,sold,colour\n1_0,2,,,\n",
            "row 0 (counted from 0), column 'x': expected a finite",
        ),
        (b'"x"a,age,heated,sold,colour\n1,2,,,\n', "column 'x': the column is missing"),
    ],
)
def test_bad_csv_is_refused(client, content, said):
    answer = post_csv(client, content)
    assert answer.status_code == 422, answer.text
    assert said in answer.json()["detail"]


def test_empty_lines_at_the_end_are_no_rows(client):
    body = "x,age,heated,sold,colour\n1,2,,,\n"
    assert post_csv(client, body.replace("\n", "\r")).content == post_csv(client, body).content
    assert post_csv(client, f"{body}\n\n").content == post_csv(client, body).content


def test_moments_of_a_model_with_a_time_zone_count_in_utc_without_a_warning():
    moments = [dt.datetime(2024, 1, 1, hour % 24, tzinfo=dt.UTC) for hour in range(60)]
    model = linear_model(pl.DataFrame({"t": moments}), np.arange(60) % 24 + houses(60)["x"])
    with TestClient(create_app(model)) as client:
        forms = ("2024-01-01T12:00:00", "2024-01-01T12:00:00Z", "2024-01-01T14:00:00+02:00")
        answers = post_rows(client, *({"t": form} for form in forms)).json()["predictions"]
    assert answers[0] == answers[1] == answers[2]


def test_in_a_single_column_an_empty_line_is_a_missing_value():
    frame = houses(60)
    model = linear_model(frame.select("x"), frame["price"].to_numpy())
    with TestClient(create_app(model)) as client:
        answer = post_csv(client, "x\n1\n\n2\n").json()["predictions"]
        assert answer == post_rows(client, {"x": 1}, {"x": None}, {"x": 2}).json()["predictions"]


def test_random_bytes_are_never_an_error_of_the_server(client):
    rng = np.random.default_rng(0)
    alphabet = np.frombuffer(b'xage,,,\n\n\r"";129-.e:TZ \xff\x00\xc3\xa9{}[]', np.uint8)
    header = ",".join(COLUMNS).encode() + b"\n"
    for _ in range(60):
        content = rng.choice(alphabet, rng.integers(1, 60)).tobytes()
        for body in (content, header + content):
            assert post_csv(client, body).status_code in (200, 422)
