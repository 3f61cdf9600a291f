"""A small model with a column of every kind that csv can hold, for the tests of web apps."""

from __future__ import annotations

import datetime as dt
from functools import cache

import numpy as np
import polars as pl

from clearbands import (
    BoostedQuantiles,
    ClearRegressor,
    LinearQuantiles,
    PCSEnsemble,
    ResidualQuantiles,
)

COLUMNS = ["x", "age", "heated", "sold", "colour"]
ROW = {"x": 0.5, "age": 40, "heated": True, "sold": "2020-05-01", "colour": "red"}


def houses(n_rows: int, seed: int = 0) -> pl.DataFrame:
    """The columns and the target, `price`."""
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
        random_state=seed,
    )
    frame = houses(160, seed)
    return model.fit(frame.select(COLUMNS), frame["price"].to_numpy())


def linear_model(frame: pl.DataFrame, y: np.ndarray, **options) -> ClearRegressor:
    """One that is fitted in no time."""
    linear = LinearQuantiles()
    parts = PCSEnsemble({"linear": linear}, n_bootstraps=3), ResidualQuantiles(linear, 3)
    return ClearRegressor(*parts, random_state=0, **options).fit(frame, y)


def documented_houses() -> tuple[pl.DataFrame, np.ndarray]:
    """The houses of docs/serving.md: their columns and prices."""
    rng = np.random.default_rng(0)
    area, town = rng.uniform(40, 200, 200), rng.choice(["Basel", "Bern"], 200)
    noise = rng.normal(size=200) * area / 4
    frame = pl.DataFrame({"area": area, "rooms": rng.integers(1, 7, 200), "town": town})
    return frame, 100 + 3 * area + 80 * (town == "Basel") + noise
