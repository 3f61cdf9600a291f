"""A model in the order of time, and rows that come later."""

import datetime as dt

import numpy as np
import polars as pl
from fastapi.testclient import TestClient

from clearbands.apps.web.service import create_app
from clearbands.persistence.origin import record_origin
from tests.served import linear_model

TOKEN = {"authorization": "Bearer secret"}
FIRST = dt.datetime(2026, 1, 1)


def hours(n, first=0):
    """A table in the order of time, with its target."""
    rng = np.random.default_rng(first)
    x = rng.normal(size=n)
    times = [FIRST + dt.timedelta(hours=first + i) for i in range(n)]
    return pl.DataFrame({"x": x, "when": times, "demand": 2 * x + rng.normal(size=n)})


def in_time(**options):
    table = hours(120)
    X, y = table.select("x"), table["demand"].to_numpy()
    model = linear_model(X, y, split="time", time=table["when"], **options)
    model.origin_ = record_origin(X, y, target="demand", time="when")
    return model


def client_of(model, **options):
    return TestClient(create_app(model, token="secret", allow_updates=True, **options))


def post(client, table, **headers):
    rows = [
        {name: str(value) if name == "when" else value for name, value in row.items()}
        for row in table.to_dicts()
    ]
    return client.post("/update", json={"rows": rows}, headers=TOKEN | headers)
