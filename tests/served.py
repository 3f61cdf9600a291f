"""A small model with a column of every kind that csv can hold, for the tests of web apps."""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.client import HTTPConnection

import numpy as np
import polars as pl
import uvicorn

from clearbands import (
    BoostedQuantiles,
    ClearRegressor,
    LinearQuantiles,
    PCSEnsemble,
    ResidualQuantiles,
)
from clearbands.apps.web import server
from clearbands.apps.web.connections import limited_protocol
from clearbands.apps.web.limits import Patience

COLUMNS = ["x", "age", "heated", "sold", "colour"]
ROW = {"x": 0.5, "age": 40, "heated": True, "sold": "2020-05-01", "colour": "red"}


def houses(n_rows: int, seed: int = 0) -> pl.DataFrame:
    """Return a frame with the columns and the target, `price`."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n_rows)
    colour = rng.choice(["red", "green", None], n_rows)
    days = rng.integers(0, 1000, n_rows).tolist()
    return pl.DataFrame(
        {
            "x": x,
            "age": rng.integers(20, 80, n_rows),
            "heated": rng.random(n_rows) < 0.5,
            "sold": [dt.date(2020, 1, 1) + dt.timedelta(days=day) for day in days],
            "colour": colour.tolist(),
            "price": 3 * x + (colour == "red") + rng.normal(size=n_rows) * (1 + np.abs(x)),
        }
    )


@cache
def small_model(seed: int = 0) -> ClearRegressor:
    trees = BoostedQuantiles(n_trees=20, max_depth=3)
    model = ClearRegressor(
        PCSEnsemble({"boosting": trees}, n_bootstraps=5),
        ResidualQuantiles(trees, n_bootstraps=5),
        confidence_level=[0.9, 0.5],
        calibration="joint",
        random_state=seed,
    )
    frame = houses(160, seed)
    return model.fit(frame.select(COLUMNS), frame["price"].to_numpy())


def linear_model(
    frame: pl.DataFrame, y: np.ndarray, calibration_groups=None, time=None, **options
) -> ClearRegressor:
    """Fit a model of lines, which takes no time."""
    linear = LinearQuantiles()
    parts = PCSEnsemble({"linear": linear}, n_bootstraps=3), ResidualQuantiles(linear, 3)
    options = {"calibration": "joint", "random_state": 0} | options
    return ClearRegressor(*parts, **options).fit(
        frame, y, calibration_groups=calibration_groups, time=time
    )


def far_houses() -> tuple[pl.DataFrame, np.ndarray]:
    """Return the houses of docs/serving.md, but with an absurd price for every tenth."""
    frame, prices = documented_houses()
    return frame, np.where(np.arange(len(prices)) % 10 == 0, 1e6, prices)


def documented_houses() -> tuple[pl.DataFrame, np.ndarray]:
    """Return the houses of docs/serving.md: their columns and prices."""
    rng = np.random.default_rng(0)
    area, town = rng.uniform(40, 200, 200), rng.choice(["Basel", "Bern"], 200)
    noise = rng.normal(size=200) * area / 4
    frame = pl.DataFrame({"area": area, "rooms": rng.integers(1, 7, 200), "town": town})
    return frame, 100 + 3 * area + 80 * (town == "Basel") + noise


@contextmanager
def serving(app, patience: Patience | None = None) -> Iterator[int]:
    """Serve an app by a thread of this process, and yield its port."""
    with server.listen("127.0.0.1", 0) as listener:
        protocol = limited_protocol(patience or Patience())
        running = uvicorn.Server(server.configure(app, 5, protocol))
        thread = threading.Thread(target=running.run, args=([listener],))
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            running.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


def post_rows_to(port: int, rows: list[dict], timeout: float = 30) -> tuple[int, dict]:
    """Return status and answer of a prediction, over a connection of its own."""
    connection = HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        body = json.dumps({"rows": rows})
        connection.request("POST", "/predict", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()
