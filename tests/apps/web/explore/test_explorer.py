"""The server of the page: whom it answers, and what it refuses."""

from __future__ import annotations

import gzip
import json
import math
import random
import re
from pathlib import Path

import polars as pl
import pytest
from fastapi.testclient import TestClient

import clearbands
from clearbands.apps.web.explore import create_page
from clearbands.apps.web.explore.explorer import LIMITS
from tests.apps.web.explored import predicted
from tests.served import COLUMNS, ROW


@pytest.fixture(scope="module")
def page_client(scene):
    with TestClient(create_page(scene), base_url="http://127.0.0.1:8000") as client:
        yield client


def test_the_page_answers_only_to_this_machine(page_client):
    assert page_client.get("/").status_code == 200
    for headers in (
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example:8000"},
        {"host": "[oops"},
        {"host": "evil.example@localhost"},
        {"host": "evil.example@127.0.0.1:8000"},
        {"host": "localhost/evil.example"},
        {"host": "localhost:8000@evil.example"},
        {"host": "127.0.0.1:8000", "origin": "http://evil.example"},
        {"host": "127.0.0.1:8000", "origin": "null"},
    ):
        assert page_client.get("/start", headers=headers).status_code == 403
    for headers in (
        {"host": "localhost:8000"},
        {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"},
    ):
        assert page_client.get("/start", headers=headers).status_code == 200


def test_the_page_may_load_nothing_from_elsewhere(page_client):
    policy = page_client.get("/").headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    folder = Path(clearbands.__file__).parent / "apps" / "web" / "explore" / "page"
    for path in folder.iterdir():
        addresses = re.findall(r"https?://[\w./]+", path.read_text())
        assert set(addresses) <= {"http://www.w3.org/2000/svg"}  # a namespace, which nothing loads
        assert page_client.get(f"/{path.name}").status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/along", b"", "The body is empty"),
        ("/along", b"[1]", "The body must be"),
        ("/along", b'{"row": {"x": 1}}', "exactly the columns of the page"),
        ("/why", b'{"row": 3}', "The body must be"),
    ],
)
def test_questions_that_make_no_sense_are_422(page_client, path, body, said):
    answer = page_client.post(path, content=body)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


def test_wrong_values_and_columns_are_422(page_client):
    wrong = page_client.post("/along", json={"row": ROW | {"x": "far"}, "column": "x"})
    assert wrong.status_code == 422
    assert "row 0 (counted from 0), column 'x': expected a finite number" in wrong.json()["detail"]
    assert page_client.post("/along", json={"row": ROW, "column": "y"}).status_code == 422
    beyond = page_client.post("/along", json={"row": ROW, "column": "x", "above": "high"})
    assert beyond.json()["detail"] == 'above must be a finite number, got "high".'


@pytest.mark.parametrize(
    ("column", "value"),
    [("age", 10**30), ("age", 10**400), ("x", 10**30), ("sold", 1.7e308), ("sold", 10**30)],
)
def test_values_beyond_all_bounds_are_no_error_of_the_server(page_client, column, value):
    answer = page_client.post("/along", json={"row": ROW | {column: value}, "column": column})
    assert answer.status_code in (200, 422)


def test_fuzzed_questions_are_no_error_of_the_server(page_client):
    rng = random.Random(0)
    odd = [
        None, True, 0, -1e308, 1.7e308, 10**30, 10**400, 5e-324, math.nan, math.inf, "", "red",
        "\ud800", "1" * 9999, "2020-01-01", "0001-01-01T00:00+12:00", "9999-12-31", [], {}, [1],
    ]  # fmt: skip
    for _ in range(200):
        row = ROW | {rng.choice(COLUMNS): rng.choice(odd) for _ in range(rng.randint(0, 3))}
        asked = {"row": row, "column": rng.choice([*COLUMNS, *odd]), "above": rng.choice(odd)}
        if rng.random() < 0.1:
            asked = rng.choice([{"row": rng.choice([*odd, COLUMNS]), "column": "x"}, [asked], 3])
        body = json.dumps(asked)
        if rng.random() < 0.1:
            cut = rng.randrange(len(body))
            body = body[:cut] + rng.choice(["\0", "}", '"', "[" * 5000]) + body[cut + 1 :]
        path = rng.choice(["/along", "/along", "/why"])
        assert page_client.post(path, content=body.encode()).status_code in (200, 422), body


def test_a_scored_file_is_what_the_command_writes(page_client, explore_files):
    content = (explore_files / "rows.csv").read_bytes()
    assert page_client.post("/score/0", content=content).content == predicted(explore_files)
    assert page_client.post("/score/1", content=content).content == predicted(
        explore_files, "other.cb"
    )
    assert page_client.post("/score/2", content=content).status_code == 404


def test_a_scored_file_may_be_as_messy_as_one_of_the_command(page_client, explore_files, tmp_path):
    rows, expected = pl.read_csv(explore_files / "rows.csv"), predicted(explore_files)
    european = rows.write_csv(separator=";", decimal_comma=True).encode("utf-16")
    headers = {"x-file-name": "rows.csv"}
    assert page_client.post("/score/0", content=european, headers=headers).content == expected
    rows.write_parquet(tmp_path / "rows.parquet")  # dates are text in it
    content = (tmp_path / "rows.parquet").read_bytes()
    headers = {"x-file-name": "rows.parquet"}
    assert page_client.post("/score/0", content=content, headers=headers).content == expected
    stray = rows.with_columns(pl.col("age").cast(pl.String)).to_dicts()
    stray[3]["age"] = "?"
    content = pl.DataFrame(stray).write_csv().encode()
    answer = page_client.post("/score/0", content=content)
    assert answer.status_code == 200
    assert json.loads(answer.headers["x-mended"]) == [
        "Column 'age': 1 cell read as missing, such as '?' in row 4 (counted from 1)."
    ]


def test_a_file_that_cannot_be_scored_says_why(page_client):
    headers = {"x-file-name": "caf%C3%A9.csv"}
    for content, said in (
        (b"", "café.csv is empty"),
        (b"x\n1\n", "café.csv lacks 4 columns the model was fitted on"),
        (
            b"x,age,heated,sold,colour\nfar,1,,,\n",
            "Column 'x' must hold numbers, but row 1 (counted from 1) holds 'far'",
        ),
    ):
        answer = page_client.post("/score/0", content=content, headers=headers)
        assert answer.status_code == 422
        assert said in answer.json()["detail"]


def test_a_small_file_that_holds_too_much_is_refused(page_client):
    content = gzip.compress(b"x\n" + b"0\n" * (LIMITS.bytes // 2 + 1), compresslevel=1)
    answer = page_client.post("/score/0", content=content, headers={"x-file-name": "rows.csv.gz"})
    assert answer.status_code == 413
    assert "rows.csv.gz unpacks to more than the 200,000,000 bytes" in answer.json()["detail"]
