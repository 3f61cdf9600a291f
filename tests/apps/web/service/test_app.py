"""The app: its paths, and what a token protects."""

from __future__ import annotations

import json
import logging

import pytest
from fastapi.testclient import TestClient

from clearbands.apps.web.service import create_app, serving
from clearbands.apps.web.service.serving import own_hosts
from tests.apps.web.asking import client_of, post_rows
from tests.served import ROW, documented_houses, linear_model, small_model


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


def test_every_request_leaves_one_line_without_the_data(client, caplog):
    with caplog.at_level(logging.INFO, "clearbands"):
        post_rows(client, ROW | {"colour": "secretly red"})
        post_rows(client, ROW | {"x": "secret"})
        client.get("/secret?of=mine")
    lines = [serving.JsonLines().format(record) for record in caplog.records]
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


@pytest.mark.parametrize(
    ("given", "is_kept"),
    [
        ("abc-123", True),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", True),
        ("", False),
        ("two words", False),
        ('"quoted"', False),
        ("x" * 129, False),
    ],
)
def test_the_id_that_a_request_brings_is_kept_if_it_is_one(given, is_kept, caplog):
    app = create_app(linear_model(*documented_houses()))
    with TestClient(app) as client, caplog.at_level(logging.INFO, "clearbands"):
        answer = client.get("/health", headers={"x-request-id": given})
    kept = answer.headers["x-request-id"]
    assert (kept == given) is is_kept
    assert len(kept) > 0
    assert caplog.records[-1].fields["request_id"] == kept


def test_without_a_token_a_service_does_not_answer_to_strange_names():
    app = create_app(small_model(), hosts=own_hosts("127.0.0.1", ["houses.example"]))
    with TestClient(app) as client:
        for host, status in (
            ("127.0.0.1:8000", 200),
            ("localhost", 200),
            ("10.1.2.3:8000", 200),
            ("houses.example", 200),
            ("evil.example", 403),
            ("evil.example@localhost", 403),
        ):
            for path in ("/model", "/health"):
                assert client.get(path, headers={"host": host}).status_code == status, host
        refused = client.get("/model", headers={"host": "evil.example"})
        assert "--allow-host" in refused.json()["detail"]
    assert own_hosts("127.0.0.1", ["*"]) is None
