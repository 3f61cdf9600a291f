"""The origin of a model: its target, its data, and the rows that it has seen."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.tables.fingerprints import hash_rows, hash_table

if TYPE_CHECKING:
    import polars as pl

MANY = 0.05  # a smaller share of equal rows may occur by chance
MOST_ROWS = 20_000  # the most rows that are remembered one by one, so that the record stays small


@dataclass(frozen=True)
class Origin:
    """A record that is kept with a model, as `model.origin_`, and in its file."""

    target: str  # the name of what is predicted
    unit: str = ""
    id: str = ""  # the column that names the rows, if there is one
    data: str = ""  # the name of the file
    time: str = ""  # the column of times, if the rows were fitted in their order
    calibration_groups: str | list[str] = ""  # the columns of the groups in which the level holds
    decimal: str = ""  # the sign before decimals in a text file
    date_orders: dict[str, str] = field(default_factory=dict)  # "dmy" or "mdy", by column
    fitted: str = ""  # the time of the fit in UTC, such as 2026-01-31T13:45:00Z
    n_rows: int = 0
    fingerprint: str = ""  # a hash of all rows, whatever their order
    rows: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64), repr=False)
    """The smallest hashes of the rows in rising order, at most `MOST_ROWS`."""

    def count_seen(self, X: pl.DataFrame, y: np.ndarray) -> int:
        """Return how many of these rows the model has seen, estimated if it saw very many rows.

        The smallest hashes are a random part of all. New rows are looked up in the same part.
        """
        if len(self.rows) == 0:
            return 0
        hashes = hash_rows(X, y)
        is_seen = np.isin(hashes, self.rows)
        if self.n_rows == len(self.rows):
            return int(is_seen.sum())
        n_looked_for = int((hashes <= self.rows[-1]).sum())
        return round(is_seen.sum() / n_looked_for * len(hashes)) if n_looked_for else 0

    def find_seen(self, X: pl.DataFrame, y: np.ndarray) -> np.ndarray | None:
        """Return which of these rows the model has seen: booleans (n,).

        The result is None if the model does not remember all rows.
        """
        if self.n_rows == 0 or self.n_rows != len(self.rows):
            return None
        return np.isin(hash_rows(X, y), self.rows)


def origin_of(model: Any) -> Origin:
    """Return the record of a model, or an empty one if it has none."""
    return getattr(model, "origin_", None) or Origin(target="")


def exceeds_chance(n_seen: int, n: int) -> bool:
    """Whether more of n rows were in the fit than chance alone explains."""
    return n_seen >= max(1, MANY * n)


def record_origin(
    X: pl.DataFrame,
    y: np.ndarray,
    *,
    target: str,
    unit: str = "",
    id: str = "",
    data: str = "",
    time: str = "",
    calibration_groups: str | list[str] = "",
    decimal: str = "",
    date_orders: dict[str, str] | None = None,
) -> Origin:
    """Return the record of a fit on these rows at the present time.

    >>> import numpy as np, polars as pl
    >>> X, y = pl.DataFrame({"size": [50.0, 90.0]}), np.array([200.0, 310.0])
    >>> origin = record_origin(X, y, target="price", unit="EUR")
    >>> origin.count_seen(X.reverse(), y[::-1]), origin.count_seen(X, y + 1)
    (2, 0)
    """
    names = {"target": target, "unit": unit, "id": id, "data": data, "time": time}
    origin = origin_of_hashes(hash_rows(X, y), **names, calibration_groups=calibration_groups)
    return replace(origin, decimal=decimal, date_orders=date_orders or {})


def origin_of_hashes(hashes: np.ndarray, **names: Any) -> Origin:
    """Return the record of a fit from the hashes of all rows, in any order."""
    hashes = np.sort(hashes)
    return Origin(
        **names,
        fitted=dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        n_rows=len(hashes),
        fingerprint=hash_table(hashes),
        rows=hashes[:MOST_ROWS],
    )
