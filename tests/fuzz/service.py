"""The service under requests of every kind."""

from __future__ import annotations

from functools import cache

import numpy as np
from fastapi.testclient import TestClient

from clearbands.apps.web.service import Limits, create_app
from tests.fuzz import requests
from tests.fuzz.campaign import Target
from tests.served import small_model

TYPES = ("application/json", "text/csv", "text/plain", "", "application/json; charset=latin-1")


def attempt(rng: np.random.Generator) -> None:
    content, kind = _request(rng)
    answer = _client().post("/predict", content=content, headers={"content-type": kind})
    assert answer.status_code < 500, f"{answer.status_code} for {kind} {content[:300]!r}"
    if answer.status_code >= 400:  # it may name what was sent
        most = 5000 + 3 * len(content)
        assert len(answer.text) < most, f"a refusal of {len(answer.text)} characters"
    assert "Traceback" not in answer.text, answer.text[:500]


def _request(rng: np.random.Generator) -> tuple[bytes, str]:
    way = rng.integers(4)
    if way == 0:
        rows = [requests.row(rng) for _ in range(rng.integers(4))]
        return requests.as_json({"rows": rows}, rng), TYPES[0]
    if way == 1:
        return requests.csv(rng), TYPES[1]
    if way == 2:
        return requests.as_json(requests.value(rng), rng), str(rng.choice(TYPES))
    return rng.bytes(int(rng.integers(300))), str(rng.choice(TYPES))


@cache
def _client() -> TestClient:
    limits = Limits(rows=100, bytes=20_000)
    return TestClient(create_app(small_model(), limits=limits), raise_server_exceptions=False)


TARGET = Target(
    "service", "an answer, or a refusal in one sentence; never a status of 500", attempt
)
