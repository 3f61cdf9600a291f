"""Limits and types of requests."""

from __future__ import annotations

import json
import threading

import pytest
from fastapi.testclient import TestClient

from clearbands.apps.web.limits import Limits
from clearbands.apps.web.service import create_app
from tests.apps.web.asking import Slow, post_csv, post_rows
from tests.apps.web.changed import Changed
from tests.served import COLUMNS, ROW, small_model


def test_too_many_rows_and_bytes_are_413(client):
    assert post_rows(client, *[ROW] * 100).status_code == 200
    too_many = post_rows(client, *[ROW] * 101)
    assert too_many.status_code == 413
    assert "101 rows where 100 are allowed" in too_many.json()["detail"]
    rows = ",".join(COLUMNS) + "\n" + "1,2,,,\n" * 101
    assert post_csv(client, rows).status_code == 413

    def chunks():  # such a request has no length in its header
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


def test_a_prediction_that_takes_too_long_is_504():
    with TestClient(create_app(Slow(0.4), limits=Limits(seconds=0.1))) as client:
        answer = post_rows(client, ROW)
        assert answer.status_code == 504
        assert "longer than the 0.1 s allowed" in answer.json()["detail"]
        assert client.get("/health").status_code == 200


def test_ready_means_that_it_can_predict_now():
    limits = Limits(seconds=0.3)
    app = create_app(small_model(), limits=limits, n_threads=1)
    with TestClient(app) as client:
        assert client.get("/ready").json() == {"status": "ready"}

    class Blocking(Changed):
        free = threading.Event()

        def answers(self, X, calibration_groups=None):
            self.free.wait()
            return small_model().answers(X)

    model = Blocking()
    model.free.set()
    app = create_app(model, limits=limits, n_threads=1)
    with TestClient(app) as client:
        model.free.clear()
        answer = client.get("/ready")
        assert answer.status_code == 503
        assert client.get("/health").status_code == 200
        model.free.set()
        assert client.get("/ready").status_code == 200
