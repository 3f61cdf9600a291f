"""The app: its paths, and what a token protects."""

from __future__ import annotations

from fastapi.testclient import TestClient

from clearbands.apps.web.service import create_app
from tests.apps.web.asking import client_of, post_rows
from tests.served import ROW, small_model


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
