"""Tables in the order of time, with the features that are known when a forecast is made.

`elecdemand` is hourly demand, 24 hours ahead. `chicago` is daily riders, two weeks ahead, because
the riders of other stations come with a lag of 14 days. Weather is that of the hour or day itself,
as if its forecast were right, for all methods.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments import datasets

SERIES = ("elecdemand", "chicago")
TRAIN_SHARE = 0.6


@dataclass(frozen=True)
class Series:
    """Rows in the order of time, of which the first train."""

    X: pd.DataFrame
    y: np.ndarray
    time: np.ndarray
    ahead: int  # a forecast reaches so many rows ahead, and so many are forecast at once
    month: int  # the number of rows in 30 days

    @property
    def n_train(self) -> int:
        return int(TRAIN_SHARE * len(self.y))


def load(name: str) -> Series:
    path = datasets.folder() / "time" / f"{name}.parquet"
    if name not in SERIES or not path.is_file():
        raise datasets.DatasetError(f"There is no series {name!r} in {path.parent}.")
    table = pd.read_parquet(path)
    return elecdemand(table) if name == "elecdemand" else chicago(table)


def elecdemand(table: pd.DataFrame) -> Series:
    """Build the hourly series from half hours."""
    hours = table.set_index("time").resample("1h").mean()
    demand = hours["Demand"]
    X = hours[["Temperature", "WorkDay"]].assign(
        hour=hours.index.hour, weekday=hours.index.day_of_week
    )
    return _series(X, demand, lags=(24, 25, 26, 48, 72, 168), ahead=24, month=24 * 30)


def chicago(table: pd.DataFrame) -> Series:
    days = table.set_index("date")
    riders = days["ridership"]
    X = days.drop(columns="ridership").assign(
        weekday=days.index.day_of_week, day=days.index.dayofyear
    )
    return _series(X, riders, lags=(14, 21, 28, 364), ahead=14, month=30)


def _series(
    X: pd.DataFrame, y: pd.Series, *, lags: tuple[int, ...], ahead: int, month: int
) -> Series:
    """Build a series with lags and the mean of the last known values."""
    X = X.assign(**{f"lag_{lag}": y.shift(lag) for lag in lags})
    X["last_mean"] = y.rolling(7 * ahead // 2 if ahead == 14 else 24).mean().shift(ahead)
    complete = X.notna().all(axis=1)
    return Series(X[complete], y[complete].to_numpy(), y.index[complete].to_numpy(), ahead, month)
