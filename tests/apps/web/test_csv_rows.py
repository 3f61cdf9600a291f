"""Rows of csv bodies: numbers and dates as people write them, and what could mean two things."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from fastapi.testclient import TestClient

from clearbands.apps.reading.features import Feature
from clearbands.apps.web.csv_rows import rows_from_csv
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import Refusal
from clearbands.apps.web.service import create_app
from tests.apps.web.asking import post_csv, post_rows
from tests.served import COLUMNS, houses, linear_model


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
