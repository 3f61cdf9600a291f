"""The service as its clients meet it: the numbers of `clearbands predict`, and clear refusals."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import logging
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient
from polars.testing import assert_frame_equal
from sklearn.preprocessing import StandardScaler
from starlette.requests import ClientDisconnect
from typer.testing import CliRunner

import clearbands
from clearbands.apps.cli.commands import app as command
from clearbands.apps.web import logs, server
from clearbands.apps.web.bodies import Bodies
from clearbands.apps.web.refusals import Refusal
from clearbands.apps.web.service import Limits, create_app, read_token
from clearbands.apps.web.service.contract import question_model
from clearbands.apps.web.service.description import guarantee_of
from clearbands.apps.web.service.line import WaitingLine
from clearbands.calibration.guarantee import Guarantee
from clearbands.tables.encoder import TableEncoder
from tests.served import COLUMNS, ROW, documented_houses, houses, linear_model, small_model

SCRIPT = str(Path(sysconfig.get_path("scripts")) / "clearbands")


def client_of(**options):
    return TestClient(create_app(small_model(), **options))


@pytest.fixture(scope="module")
def client():
    with client_of(name="houses.clear", limits=Limits(rows=100, bytes=20_000)) as client:
        yield client


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    clearbands.save(small_model(), folder / "model.cb")
    houses(60, seed=1).select(COLUMNS).write_csv(folder / "rows.csv")
    return folder


def post_rows(client, *rows, **options):
    return client.post("/predict", json={"rows": list(rows)}, **options)


def post_csv(client, content, **headers):
    return client.post("/predict", content=content, headers={"content-type": "text/csv", **headers})


def test_the_numbers_are_those_of_the_command_to_the_last_bit(client, folder):
    out = folder / "out.csv"
    done = CliRunner().invoke(
        command, ["predict", f"{folder / 'model.cb'}", f"{folder / 'rows.csv'}", "--out", f"{out}"]
    )
    assert done.exit_code == 0, done.stderr
    content = (folder / "rows.csv").read_bytes()
    assert post_csv(client, content, accept="text/csv").content == out.read_bytes()

    table = pl.read_csv(out)
    rows = [
        row | {"sold": row["sold"].isoformat()}
        for row in houses(60, seed=1).select(COLUMNS).iter_rows(named=True)
    ]
    for answer in (post_csv(client, content), post_rows(client, *rows)):
        assert answer.status_code == 200
        predictions = answer.json()["predictions"]
        found = pl.DataFrame(predictions)
        assert found.columns == table.columns
        for name in ("prediction", "lower_90", "upper_50", "epistemic", "dominant", "unfamiliar"):
            assert found[name].to_list() == table[name].to_list()


def test_health_and_model_say_what_there_is(client):
    assert client.get("/health").json() == {"status": "ok"}
    info = client.get("/model").json()
    model = small_model()
    assert info["name"] == "houses.clear"
    assert info["best_model"] == "boosting"
    assert [(f["name"], f["kind"]) for f in info["features"]] == list(
        zip(COLUMNS, ["number", "number", "boolean", "date", "text"], strict=True)
    )
    assert info["features"][-1]["categories"] == ["green", "red"]
    assert [level["lambda"] for level in info["levels"]] == model.lambda_.tolist()
    assert info["trained_on"] == {
        "training_rows": 120, "choosing_rows": 40, "calibration_rows": 40,
    }  # fmt: skip
    assert info["guarantee"] == "asymptotic coverage"
    assert "few" in info["guarantee_in_words"]
    assert info["limits"] == {"rows": 100, "bytes": 20_000, "seconds": 30}


@pytest.mark.parametrize("guarantee", Guarantee)
def test_every_guarantee_has_words(guarantee):
    """None is explained by another: where nothing is promised, no words promise anything."""
    told = guarantee_of(SimpleNamespace(guarantee_=guarantee.value, calibration_="conformal"))
    in_words = told["guarantee_in_words"]
    assert ("at least the probability" in " ".join(in_words.split())) == guarantee.is_finite_sample
    assert ("Nothing is promised:" in in_words) == guarantee.value.startswith("no guarantee")


def test_the_examples_of_the_description_work(client):
    said = client.get("/openapi.json").json()["paths"]["/predict"]["post"]
    for media_type, content in said["requestBody"]["content"].items():
        example = content["example"]
        body = example if isinstance(example, str) else json.dumps(example)
        answer = client.post("/predict", content=body, headers={"content-type": media_type})
        assert answer.json() == said["responses"]["200"]["content"]["application/json"]["example"]


def test_missing_values_and_unknown_categories_are_answered(client):
    gaps = dict.fromkeys(COLUMNS)
    assert post_rows(client, gaps, ROW | {"colour": "violet"}).status_code == 200
    assert post_csv(client, ",".join(COLUMNS) + "\n,,,,\n").status_code == 200


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
    body = json.dumps({"rows": [ROW, ROW | changed]})  # the client would refuse half characters
    answer = client.post("/predict", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert (error["row"], error["column"]) == (1, next(iter(changed)))
    assert error["message"].startswith(said)
    assert "row 1 (counted from 0), column" in answer.json()["detail"]


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


def test_what_json_refuses_csv_refuses(client):
    """The same values in both forms: either both are answered, and alike, or both are refused."""
    values = {
        "x": ["1.5", "1e3", "-0", "true", '"far"', "1e999", "null", '"2020-01-01"'],
        "age": ["40", "true", '"10:30"'],
        "heated": ["true", "false", "1", "0", '"yes"', "null"],
        "sold": ['"2020-01-02"', "5", "true", '"2020-01-02T10:30:00Z"', '"10:30:00"', '"May"'],
        "colour": ['"red"', "null"],
    }
    for column, spelled in values.items():
        for value in spelled:
            row = {name: json.dumps(given) for name, given in ROW.items()} | {column: value}
            body = ",".join(f"{json.dumps(name)}: {cell}" for name, cell in row.items())
            in_json = client.post(
                "/predict",
                content=f'{{"rows": [{{{body}}}]}}',
                headers={"content-type": "application/json"},
            )
            cells = ["" if cell == "null" else cell for cell in row.values()]
            in_csv = post_csv(client, f"{','.join(row)}\n{','.join(cells)}\n")
            assert in_csv.status_code == in_json.status_code, (column, value, in_csv.text)
            if in_json.status_code == 200:
                assert in_csv.content == in_json.content


def test_several_kinds_of_bad_rows_are_all_reported(client):
    short = {"x": 1.0, "age": 2}
    rows = [*[ROW | {"x": "far"}] * 30, short, 7, ROW]
    answer = post_rows(client, *rows)
    detail, errors = answer.json()["detail"], answer.json()["errors"]
    assert "row 0 (counted from 0), column 'x': expected a finite number" in detail
    assert "row 30 (counted from 0), column 'heated': the column is missing" in detail
    assert "row 31 (counted from 0): expected an object" in detail
    assert "(and 31 more)" in detail  # 30 numbers, 3 columns, 1 row; three are told
    assert len(errors) == 20
    assert {30, 31} < {error["row"] for error in errors}

    lines = ["x,age,heated,sold,colour", *["far,2,,,"] * 30, "1,2", "1,2,,,,,", "1,2,,May,"]
    detail = post_csv(client, "\n".join(lines)).json()["detail"]
    assert "row 0 (counted from 0), column 'x': expected a finite number" in detail
    assert "row 30 (counted from 0): expected 5 values, one for each column, got 2" in detail
    assert "row 32 (counted from 0), column 'sold': expected a date" in detail


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


def test_durations_are_seconds_in_both_forms():
    frame = houses(60).select(wait=pl.duration(seconds=pl.col("age")), price="price")
    model = linear_model(frame.select("wait"), frame["price"].to_numpy())
    with TestClient(create_app(model)) as client:
        seconds = post_rows(client, {"wait": 40.5}).json()
        assert post_csv(client, "wait\n40.5\n").json() == seconds
        point = model.predict(pl.DataFrame({"wait": [dt.timedelta(seconds=40.5)]}))[0]
        assert seconds["predictions"][0]["prediction"] == point
        for wrong in ("far", 1e300):
            assert post_rows(client, {"wait": wrong}).status_code == 422
            assert post_csv(client, f"wait\n{wrong}\n").status_code == 422


def test_random_bytes_are_never_an_error_of_the_server(client):
    rng = np.random.default_rng(0)
    alphabet = np.frombuffer(b'xage,,,\n\n\r"";129-.e:TZ \xff\x00\xc3\xa9{}[]', np.uint8)
    header = ",".join(COLUMNS).encode() + b"\n"
    for _ in range(60):
        content = rng.choice(alphabet, rng.integers(1, 60)).tobytes()
        for body in (content, header + content):
            assert post_csv(client, body).status_code in (200, 422)


def test_dates_of_several_forms_are_read_cell_by_cell(client):
    rows = [f"1,2,,{sold}," for sold in ("2020-01-02", "2020-01-02T00:00:00", "2020-01-02T00:00Z")]
    answer = post_csv(client, "x,age,heated,sold,colour\n" + "\n".join(rows))
    first, *others = answer.json()["predictions"]
    assert others == [first, first]


def test_too_many_rows_and_bytes_are_413(client):
    assert post_rows(client, *[ROW] * 100).status_code == 200
    too_many = post_rows(client, *[ROW] * 101)
    assert too_many.status_code == 413
    assert "101 rows where 100 are allowed" in too_many.json()["detail"]
    rows = ",".join(COLUMNS) + "\n" + "1,2,,,\n" * 101
    assert post_csv(client, rows).status_code == 413

    def chunks():  # without a length in the header
        yield from [b"x" * 1000] * 50

    assert post_csv(client, chunks()).status_code == 413


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "text/plain"},
        {"content-type": "application/json; charset=latin-1"},
        {"content-type": "application/json", "content-encoding": "gzip"},
    ],
)
def test_other_types_are_415(client, headers):
    answer = client.post("/predict", content=json.dumps({"rows": [ROW]}), headers=headers)
    assert answer.status_code == 415
    assert "Send application/json or text/csv" in answer.json()["detail"]


def test_other_paths_and_methods_are_refused_alike(client):
    assert client.get("/nope").json() == {"detail": "Not Found", "errors": []}
    wrong = client.get("/predict")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")


def test_with_a_token_whatever_tells_of_the_model_asks_for_it():
    with client_of(token="s3cret") as client:
        for path in ("/health", "/ready", "/docs", "/docs/page.js", "/docs/page.css"):
            assert client.get(path).status_code == 200
        for path in ("/model", "/metrics", "/openapi.json", "/nope"):
            answer = client.get(path)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
        for wrong in (
            "Bearer s3cre",
            "Bearer s3crett",
            "Basic s3cret",
            "s3cret",
            "Bearer s3cr\xe9t",
        ):
            headers = {"authorization": wrong.encode("latin-1")}
            assert post_rows(client, ROW, headers=headers).status_code == 401
        headers = {"authorization": "bearer s3cret"}
        assert post_rows(client, ROW, headers=headers).status_code == 200
        paths = client.get("/openapi.json", headers=headers).json()["paths"]
        assert "security" in paths["/predict"]["post"]
        assert "401" in paths["/model"]["get"]["responses"]


def test_inside_another_app_health_is_open_as_well():
    from starlette.applications import Starlette

    outer = Starlette()
    outer.mount("/houses", create_app(small_model(), token="s3cret"))
    with TestClient(outer) as client:
        assert client.get("/houses/health").status_code == 200
        assert client.get("/houses/model").status_code == 401


def test_the_token_comes_from_the_environment_or_a_file(monkeypatch, tmp_path):
    monkeypatch.setenv("SECRET", "abc")
    (tmp_path / "token").write_text("def\n")
    assert read_token("SECRET", None) == "abc"
    assert read_token(None, tmp_path / "token") == "def"
    assert read_token(None, None) is None
    (tmp_path / "empty").write_text(" \n")
    for variable, path, said in (
        ("SECRET", tmp_path / "token", "exclude each other"),
        ("NOT_THERE", None, "There is no environment variable NOT_THERE"),
        (None, tmp_path / "nope", "nope cannot be read"),
        (None, tmp_path / "empty", "empty holds no token"),
    ):
        with pytest.raises(ValueError, match=said):
            read_token(variable, path)


def test_values_too_large_for_a_linear_model_are_named():
    frame = houses(60)
    model = linear_model(frame.select("x", "age"), frame["price"].to_numpy())
    with TestClient(create_app(model)) as client:
        answer = post_rows(client, {"x": 1, "age": 2}, {"x": 1.7e308, "age": -1.7e308})
    assert answer.status_code == 422
    assert "row 1" in answer.json()["detail"]


@pytest.mark.filterwarnings("ignore:.*calibration")
def test_infinite_bounds_are_null():
    frame = houses(24)
    model = linear_model(
        frame.select("x", "age"),
        frame["price"].to_numpy(),
        calibration="conformal",
        confidence_level=0.99,
    )
    with TestClient(create_app(model)) as client:
        (prediction,) = post_rows(client, {"x": 1, "age": 2}).json()["predictions"]
        assert np.isfinite(prediction["prediction"])
        assert prediction["lower_99"] is None
        (level,) = client.get("/model").json()["levels"]
        assert None in (level["gamma1"], level["gamma2"])


def test_an_encoder_that_does_not_tell_its_columns_is_served():
    frame = houses(60)
    model = linear_model(frame.select("x", "age"), frame["price"].to_numpy(), encoder=None)
    with TestClient(create_app(model)) as client:
        assert client.get("/model").json()["features"][0]["kind"] == "any"
        assert post_rows(client, {"x": 1, "age": 2}).status_code == 200
        for x in ("far", None, False):
            answer = post_rows(client, {"x": 1, "age": 2}, {"x": x, "age": 2})
            assert answer.status_code == 422, x


def test_a_model_without_a_typical_row_is_served():
    frame = houses(60)
    encoder = TableEncoder(numeric=StandardScaler())
    model = linear_model(frame.select("x"), frame["price"].to_numpy(), encoder=encoder)
    with TestClient(create_app(model)) as client:
        assert post_rows(client, {"x": 1}).status_code == 200
        assert post_rows(client, {"x": None}).status_code == 422
        assert client.get("/openapi.json").status_code == 200


def test_a_client_that_leaves_is_no_error():
    class Gone:
        headers: ClassVar = {}

        async def stream(self):
            yield b"{"
            raise ClientDisconnect

    async def read():
        return await Bodies(Limits()).read(Gone(), asyncio.get_running_loop().time() + 5)

    with pytest.raises(Refusal, match="went away"):
        asyncio.run(read())


def test_a_body_that_does_not_come_is_408():
    class Slow:
        headers: ClassVar = {}

        async def stream(self):
            yield b"{"
            await asyncio.sleep(60)

    async def read():
        return await Bodies(Limits()).read(Slow(), asyncio.get_running_loop().time() + 0.05)

    with pytest.raises(Refusal, match="did not arrive") as refused:
        asyncio.run(read())
    assert refused.value.status == 408


class Slow:
    """The small model, after a pause."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __getattr__(self, name):
        return getattr(small_model(), name)

    def answers(self, X, calibration_groups=None):
        time.sleep(self.seconds)
        return small_model().answers(X)


def test_a_prediction_that_takes_too_long_is_504():
    with TestClient(create_app(Slow(0.4), limits=Limits(seconds=0.1))) as client:
        answer = post_rows(client, ROW)
        assert answer.status_code == 504
        assert "longer than the 0.1 s allowed" in answer.json()["detail"]
        assert client.get("/health").status_code == 200


def test_without_a_free_thread_or_place_it_is_503():
    line = WaitingLine(Limits(seconds=0.1, requests=1))
    busy = threading.Event()
    for _ in range(line.threads._max_workers):
        line.threads.submit(busy.wait)

    async def ask():
        return await line.run(lambda: 1, asyncio.get_running_loop().time() + 0.05)

    with pytest.raises(Refusal, match="No core was free") as refused:
        asyncio.run(ask())
    assert refused.value.status == 503
    busy.set()
    with (
        line.place(),
        pytest.raises(Refusal, match="Too many requests") as refused,
        line.place(),
    ):
        pass
    assert refused.value.status == 503
    with line.place():  # free again
        assert asyncio.run(ask()) == 1
    line.close()


def test_what_nobody_foresaw_is_logged_without_the_data(caplog):
    class Broken(Slow):
        def answers(self, X, calibration_groups=None):
            if self.seconds:
                raise RuntimeError(f"cannot do {X['colour'][0]}")
            return super().answers(X)

    model = Broken(0)
    app = create_app(model)
    model.seconds = 1
    with TestClient(app) as client, caplog.at_level(logging.INFO, "clearbands"):
        answer = post_rows(client, ROW | {"colour": "secretly red"})
    assert answer.status_code == 500
    (record,) = caplog.records
    line = logs.JsonLines().format(record)
    said = json.loads(line)
    assert "secretly" not in line
    assert (said["level"], said["error"], said["status"]) == ("error", "RuntimeError", 500)
    assert "test_service.py" in said["where"]
    assert said["request_id"] == answer.headers["x-request-id"]
    assert said["request_id"] in answer.json()["detail"]


def test_every_request_leaves_one_line_without_the_data(client, caplog):
    with caplog.at_level(logging.INFO, "clearbands"):
        post_rows(client, ROW | {"colour": "secretly red"})
        post_rows(client, ROW | {"x": "secret"})
        client.get("/secret?of=mine")
    lines = [logs.JsonLines().format(record) for record in caplog.records]
    assert not any("secret" in line for line in lines)
    first, second, third = map(json.loads, lines)
    assert {
        "event": "request",
        "path": "/predict",
        "status": 200,
        "rows": 1,
    }.items() <= first.items()
    assert (second["status"], third["status"], third["path"]) == (422, 404, None)
    assert first["seconds"] > 0


@pytest.mark.slow
def test_fuzzed_from_its_own_description_nothing_breaks():
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    app = create_app(small_model())
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    seen = set()
    for mode in schemathesis.GenerationMode:

        @given(case=schema["/predict"]["POST"].as_strategy(generation_mode=mode))
        @settings(
            max_examples=25,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            derandomize=True,
        )
        def ask(case):
            response = case.call()
            seen.add((case.media_type, response.status_code))
            # To the description csv and tails are just text, and most text is neither.
            is_text = case.media_type == "text/csv" or "tails" in (case.query or {})
            case.validate_response(
                response, excluded_checks=[positive_data_acceptance] if is_text else []
            )

        ask()
    assert {("application/json", 200), ("application/json", 422), ("text/csv", 422)} <= seen


@pytest.mark.parametrize("highest", [0.8, 40 / 41, 0.9999])
def test_the_tails_of_the_description_are_ones_that_can_be_answered(highest):
    tails = question_model(SimpleNamespace(highest_level=highest)).model_fields["tails"]
    shares = re.search(r"such as ([\d.]+):([\d.]+)\. ", tails.description)
    assert all(float(share) >= 1 - highest for share in shares.groups())


def test_bad_settings_are_refused_before_the_service_starts(folder):
    model = folder / "model.cb"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for options, said in (
            (["--port", port], f"Port {port} on 127.0.0.1 cannot be opened: it is in use"),
            (["--host", "no such host"], "'no such host' is no address of this machine"),
            (["--timeout", 0], "The timeout must be a positive number, got 0.0"),
            (["--token-env", "NOT_THERE"], "There is no environment variable NOT_THERE"),
        ):
            result = CliRunner().invoke(command, ["serve", str(model), *map(str, options)])
            assert result.exit_code == 2
            assert result.stderr.startswith(f"Error: {said}")


def test_connections_do_not_wait_to_fill_packets():
    with server.listen("127.0.0.1", 0) as listener:
        with socket.create_connection(listener.getsockname()):
            connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_without_the_extra_one_sentence_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = CliRunner().invoke(command, ["serve", str(folder / "model.cb")])
    assert result.exit_code == 2
    said = (
        'Error: This command needs the extra "serve": pip install fastapi uvicorn prometheus-client'
    )
    assert result.stderr == f"{said} typer rich polars jinja2 matplotlib.\n"


@contextmanager
def running(folder):
    """The service of the documented houses, as users start it: the process and its port."""
    clearbands.save(linear_model(*documented_houses()), folder / "houses.clear")
    process = subprocess.Popen(
        [SCRIPT, "serve", "houses.clear", "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        said = process.stdout.readline()
        while "Application startup complete" not in process.stderr.readline():
            assert process.poll() is None
        yield process, int(re.search(r"http://127\.0\.0\.1:(\d+)", said)[1])
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_the_service_works_as_documented_and_finishes_what_is_under_way(tmp_path):
    documented_houses()[0].head(3).write_csv(tmp_path / "new.csv")
    with running(tmp_path) as (process, port):
        check_documented_answers(tmp_path, port)
        check_a_request_at_the_end(process, port)


def check_documented_answers(folder, port):
    """What docs/serving.md shows is what its commands give."""
    if shutil.which("curl") is None:
        return
    text = (Path(__file__).parents[3] / "docs" / "serving.md").read_text()
    pairs = re.findall(r"```sh\n(curl [^`]*)```\n\n```(json|csv)\n([^`]*)```", text)
    assert len(pairs) == 4
    for asked, kind, shown in pairs:
        given = subprocess.run(
            ["bash", "-c", asked.replace(":8000", f":{port}")],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        answer, expected = given.stdout, shown
        if kind == "json":
            assert round_numbers(json.loads(answer)) == json.loads(expected)
        else:
            assert_frame_equal(
                pl.read_csv(answer.encode()), pl.read_csv(expected.encode()), rel_tol=1e-3
            )


def round_numbers(value):
    """As the page shows them, to four digits."""
    if isinstance(value, dict):
        return {key: round_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [round_numbers(item) for item in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def check_a_request_at_the_end(process, port):
    """SIGTERM comes in the middle of it: it is answered, and the service ends well."""
    body = json.dumps({"rows": [{"area": 100, "rooms": 3, "town": "Bern"}]}).encode()
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest("POST", "/predict")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body[:10])
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    while "Shutting down" not in process.stderr.readline():
        assert process.poll() is None
    connection.send(body[10:])
    answer = connection.getresponse()
    assert answer.status == 200
    assert len(json.loads(answer.read())["predictions"]) == 1
    connection.close()
    _, logged = process.communicate(timeout=60)
    assert process.returncode == 0
    lines = [json.loads(line) for line in logged.splitlines()]
    assert {"path": "/predict", "status": 200}.items() <= lines[0].items()
