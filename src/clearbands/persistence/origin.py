"""Where a model comes from: what it predicts, and which rows it has seen."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.tables.fingerprints import hash_rows, hash_table

if TYPE_CHECKING:
    import polars as pl

MANY = 0.05  # of the rows; a few may be equal by chance
MOST_ROWS = 20_000  # that are remembered one by one, so that the record stays small


@dataclass(frozen=True)
class Origin:
    """A record that goes with a model, as `model.origin_`, and into its file."""

    target: str  # the name of what is predicted
    unit: str = ""
    id: str = ""  # the column that names the rows, if there is one
    data: str = ""  # the name of the file
    time: str = ""  # the column of times, if the rows were fitted in their order
    calibration_groups: str = ""  # the column of the groups that were calibrated apart, if any
    decimal: str = ""  # the sign before decimals in a text file
    date_orders: dict[str, str] = field(default_factory=dict)  # "dmy" or "mdy", by column
    fitted: str = ""  # when, in UTC: 2026-01-31T13:45:00Z
    n_rows: int = 0
    fingerprint: str = ""  # of all rows, whatever their order
    rows: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64), repr=False)
    """The smallest hashes of the rows, rising: all of them, up to `MOST_ROWS`."""

    def count_seen(self, X: pl.DataFrame, y: np.ndarray) -> int:
        """How many of these rows the model has seen: an estimate if it saw very many rows.

        The smallest hashes are a random part of all; new rows are looked for in the same part.
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
        """(n,) booleans: which of these rows the model has seen; None if it does not know all."""
        if self.n_rows == 0 or self.n_rows != len(self.rows):
            return None
        return np.isin(hash_rows(X, y), self.rows)


def origin_of(model: Any) -> Origin:
    """The record of a model; an empty one where the command did not fit it."""
    return getattr(model, "origin_", None) or Origin(target="")


def are_many(n_seen: int, n: int) -> bool:
    """Whether so many of n rows were in the fit that it cannot be by chance alone."""
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
    calibration_groups: str = "",
    decimal: str = "",
    date_orders: dict[str, str] | None = None,
) -> Origin:
    """The record of a fit on these rows, now.

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
    """The same from the hashes of all rows, in any order."""
    hashes = np.sort(hashes)
    return Origin(
        **names,
        fitted=dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        n_rows=len(hashes),
        fingerprint=hash_table(hashes),
        rows=hashes[:MOST_ROWS],
    )
