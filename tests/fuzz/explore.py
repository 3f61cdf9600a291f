"""The page to explore under requests of every kind, even from other sites."""

from __future__ import annotations

import gzip
from functools import cache

import numpy as np

from tests.fuzz import requests
from tests.fuzz.campaign import Target
from tests.fuzz.loopback import Server, memory_is_flat
from tests.served import COLUMNS

PATHS = ("/along", "/why", "/score/0", "/score/1", "/score/-1", "/score/x", "/score/99999999999")
STRANGERS = ("evil.com", "evil.com@localhost", "localhost.evil.com", "127.0.0.1.evil.com", "[::2]")
FILES = ("file.csv", "file.csv.gz", "file.parquet", "file", "..%2Ffile.csv", "%00.csv")


def attempt(rng: np.random.Generator) -> float | None:
    path = str(rng.choice(PATHS))
    if path.startswith("/score"):
        body, headers = requests.csv(rng), {"content-type": "text/csv"}
        if rng.random() < 0.3:
            headers["x-file-name"] = str(rng.choice(FILES))
            body = requests.damaged(gzip.compress(body), rng) if rng.random() < 0.5 else body
    else:
        body, headers = _asked(rng), {"content-type": "application/json"}
    stranger = rng.random() < 0.1
    if stranger:
        headers["host"] = str(rng.choice(STRANGERS))
    answer = _server().ask("POST", path, body, headers)
    if stranger:
        assert answer.status in (400, 403), f"{headers['host']} got {answer.status}"
    assert answer.status < 500, f"{answer.status} for {path} {headers} {body[:300]!r}"
    return _server().memory()


def _asked(rng: np.random.Generator) -> bytes:
    if rng.random() < 0.3:
        return requests.as_json(requests.value(rng), rng)
    column = str(rng.choice(COLUMNS)) if rng.random() < 0.8 else requests.key(rng)
    asked = {"row": requests.row(rng), "column": column}
    if rng.random() < 0.5:
        asked["above"] = requests.number(rng)
    if rng.random() < 0.3:
        asked[requests.key(rng)] = requests.value(rng)
    return requests.as_json(asked, rng)


@cache
def _server() -> Server:
    return Server("explore")


TARGET = Target(
    "explore",
    "an answer or a refusal, never a status of 500; strangers get none; memory does not grow",
    attempt,
    memory_is_flat,
)
