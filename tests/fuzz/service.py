"""The service under requests of every kind, on a port of this machine."""

from __future__ import annotations

from functools import cache

import numpy as np

from tests.fuzz import requests
from tests.fuzz.campaign import Target
from tests.fuzz.loopback import TOKEN, Server, memory_is_flat

TYPES = ("application/json", "text/csv", "text/plain", "", "application/json; charset=latin-1")
PAGES = ("/", "/model", "/health", "/ready", "/metrics", "/openapi.json", "/docs", "/x", "/..%2f")
QUESTIONS = ("level", "side", "tails", "quantile", "above", "below", "x")
METHODS = ("GET", "POST", "PUT", "HEAD", "OPTIONS")


def attempt(rng: np.random.Generator) -> float | None:
    content, kind = _body(rng)
    headers = {"content-type": kind}
    if rng.random() < 0.95:
        headers["authorization"] = f"Bearer {TOKEN}"
    method, path = "POST", "/predict"
    if rng.random() < 0.1:
        method, path = str(rng.choice(METHODS)), str(rng.choice(PAGES))
    elif rng.random() < 0.1:
        path, content, headers["content-type"] = "/update", _true_values(rng), TYPES[0]
    address = f"{path}?{requests.query(rng, QUESTIONS)}" if rng.random() < 0.5 else path
    answer = _server().ask(method, address, content, headers)
    assert answer.status < 500, (
        f"{answer.status} for {method} {address} {headers} {content[:300]!r}"
    )
    if answer.status >= 400:  # the refusal may quote what was sent
        most = 5000 + 3 * (len(content) + len(address))
        assert len(answer.text) < most, f"a refusal of {len(answer.text)} characters"
    assert "Traceback" not in answer.text, answer.text[:500]
    return _server().memory()


def _body(rng: np.random.Generator) -> tuple[bytes, str]:
    way = rng.integers(4)
    if way == 0:
        rows = [requests.row(rng) for _ in range(rng.integers(4))]
        return requests.as_json({"rows": rows}, rng), TYPES[0]
    if way == 1:
        return requests.csv(rng), TYPES[1]
    if way == 2:
        return requests.as_json(requests.value(rng), rng), str(rng.choice(TYPES))
    return rng.bytes(int(rng.integers(300))), str(rng.choice(TYPES))


def _true_values(rng: np.random.Generator) -> bytes:
    targets = [float(rng.standard_cauchy() * 10.0 ** rng.integers(9)), requests.value(rng)]
    rows = [requests.row(rng) | {"target": targets[int(rng.random() < 0.1)]}]
    return requests.as_json({"rows": rows}, rng)


@cache
def _server() -> Server:
    return Server("service")


TARGET = Target(
    "service",
    "an answer, or a refusal in one sentence; never a status of 500; memory does not grow",
    attempt,
    memory_is_flat,
)
