"""The page to explore under requests of every kind, also from elsewhere."""

from __future__ import annotations

from functools import cache

import numpy as np
from fastapi.testclient import TestClient

from clearbands.apps.web.explore import create_page, make_scene
from tests.fuzz import requests
from tests.fuzz.campaign import Target
from tests.served import houses, small_model

PATHS = ("/along", "/why", "/score/0", "/score/1", "/score/-1", "/score/x", "/score/99999999999")
STRANGERS = ("evil.com", "evil.com@localhost", "localhost.evil.com", "127.0.0.1.evil.com", "[::2]")


def attempt(rng: np.random.Generator) -> None:
    path = str(rng.choice(PATHS))
    body = requests.csv(rng) if path.startswith("/score") else _asked(rng)
    headers = {"content-type": "text/csv" if path.startswith("/score") else "application/json"}
    stranger = rng.random() < 0.1
    if stranger:
        headers["host"] = str(rng.choice(STRANGERS))
    answer = _client().post(path, content=body, headers=headers)
    if stranger:
        assert answer.status_code in (400, 403), f"{headers['host']} got {answer.status_code}"
    assert answer.status_code < 500, f"{answer.status_code} for {path} {body[:300]!r}"


def _asked(rng: np.random.Generator) -> bytes:
    if rng.random() < 0.3:
        return requests.as_json(requests.value(rng), rng)
    asked = {"row": requests.row(rng), "column": requests.key(rng)}
    if rng.random() < 0.3:
        asked[requests.key(rng)] = requests.value(rng)
    return requests.as_json(asked, rng)


@cache
def _client() -> TestClient:
    frame = houses(60, seed=1)
    page = create_page(make_scene({"a": small_model()}, frame, frame["price"].to_numpy()))
    return TestClient(page, base_url="http://127.0.0.1:8000", raise_server_exceptions=False)


TARGET = Target(
    "explore", "an answer or a refusal, never a status of 500; strangers get none", attempt
)
