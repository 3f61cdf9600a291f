"""Clients of the service, and models that are slow."""

from __future__ import annotations

import time

from fastapi.testclient import TestClient

from clearbands.apps.web.service import create_app
from tests.served import small_model


def client_of(**options):
    return TestClient(create_app(small_model(), **options))


def post_rows(client, *rows, **options):
    return client.post("/predict", json={"rows": list(rows)}, **options)


def post_csv(client, content, **headers):
    return client.post("/predict", content=content, headers={"content-type": "text/csv", **headers})


class Slow:
    """The small model, which answers after a pause."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __getattr__(self, name):
        return getattr(small_model(), name)

    def answers(self, X, calibration_groups=None):
        time.sleep(self.seconds)
        return small_model().answers(X)
