"""The service from start to end: its token, and requests under way when it stops."""

from __future__ import annotations

import json
import logging
import re
import shutil
import signal
import subprocess
import sysconfig
import time
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import polars as pl
import pytest
from fastapi.testclient import TestClient
from polars.testing import assert_frame_equal

import clearbands
from clearbands.apps.reading import files
from clearbands.apps.web.service import create_app, read_token, serving
from clearbands.apps.web.service.serving import _ModelWriter
from tests.apps.web.asking import Slow, post_rows
from tests.apps.web.updating import client_of, hours, in_time, post
from tests.served import ROW, documented_houses, linear_model

SCRIPT = str(Path(sysconfig.get_path("scripts")) / "clearbands")


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


@contextmanager
def running(service_files):
    """Start the service of the documented houses as users do; yield the process and its port."""
    clearbands.save(linear_model(*documented_houses()), service_files / "houses.clear")
    process = subprocess.Popen(
        [SCRIPT, "serve", "houses.clear", "--port", "0"],
        cwd=service_files,
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


def check_documented_answers(service_files, port):
    """Check that the commands of docs/serving.md give the answers shown there."""
    if shutil.which("curl") is None:
        return
    text = (Path(__file__).parents[4] / "docs" / "serving.md").read_text()
    pairs = re.findall(r"```sh\n(curl [^`]*)```\n\n```(json|csv)\n([^`]*)```", text)
    assert len(pairs) == 4
    for asked, kind, shown in pairs:
        given = subprocess.run(
            ["bash", "-c", asked.replace(":8000", f":{port}")],
            cwd=service_files,
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
    """Round to four digits, as the page shows numbers."""
    if isinstance(value, dict):
        return {key: round_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [round_numbers(item) for item in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def check_a_request_at_the_end(process, port):
    """Check that a request is answered that SIGTERM interrupts, and that the service ends well."""
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


def test_the_model_is_written_at_once_and_at_the_end(tmp_path):
    path = tmp_path / "model.clear"
    model = in_time()
    clearbands.save(model, path)
    save = _ModelWriter(path, files.fingerprint(path).rpartition(" ")[2])
    with client_of(model, save=save) as client:
        post(client, hours(5, first=120))
        assert clearbands.load(path).rolling_.n_rows == 5
        post(client, hours(5, first=125))
        assert clearbands.load(path).rolling_.n_rows == 5  # the last writing was a moment ago
    assert clearbands.load(path).rolling_.n_rows == 10


def test_a_model_that_took_its_place_is_not_overwritten(tmp_path, caplog):
    path = tmp_path / "model.clear"
    clearbands.save(in_time(), path)
    save = _ModelWriter(path, files.fingerprint(path).rpartition(" ")[2])
    clearbands.save(in_time(confidence_level=0.5), path)  # another model takes its place
    with caplog.at_level(logging.WARNING):
        save(in_time())
    assert clearbands.load(path).confidence_level == 0.5
    assert "model file was replaced" in caplog.text


def test_the_same_fit_with_other_updates_is_overwritten(tmp_path):
    path = tmp_path / "model.clear"
    clearbands.save(in_time(), path)
    save = _ModelWriter(path, files.fingerprint(path).rpartition(" ")[2])
    table = hours(5, first=120)
    arguments = table.select("x"), table["demand"].to_numpy()
    clearbands.save(in_time().update(*arguments, time=table["when"]), path)
    save(in_time())
    assert not hasattr(clearbands.load(path), "rolling_")


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
    line = serving.JsonLines().format(record)
    said = json.loads(line)
    assert "secretly" not in line
    assert (said["level"], said["error"], said["status"]) == ("error", "RuntimeError", 500)
    assert Path(__file__).name in said["where"]
    assert said["request_id"] == answer.headers["x-request-id"]
    assert said["request_id"] in answer.json()["detail"]
