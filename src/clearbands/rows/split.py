"""Rows, and their division into rows that train, choose and calibrate."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import ceil
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from clearbands.rows.time_order import time_ranks


@dataclass(frozen=True)
class Rows:
    """Some rows of a table and their targets."""

    X: Any  # a table, or an array once it is encoded
    y: np.ndarray
    groups: np.ndarray | None = None  # labels of rows that no fold may part
    calibration_groups: np.ndarray | None = None  # labels; the level shall hold in each group
    calibration_weight: np.ndarray | None = None  # how many times more often it is among new rows
    sample_weight: np.ndarray | None = None  # how many rows each row counts as
    texts: np.ndarray | None = None  # (n, text columns): the texts that an encoder made numbers of

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: np.ndarray) -> Rows:
        labels = (getattr(self, field.name) for field in fields(self)[2:])
        taken = (None if label is None else label[index] for label in labels)
        return Rows(_safe_indexing(self.X, index), self.y[index], *taken)

    def with_X(self, X: Any) -> Rows:
        return replace(self, X=X)

    def without_weightless(self) -> Rows:
        """Return the rows without those of weight 0, which are treated as absent."""
        if self.sample_weight is None or np.all(self.sample_weight > 0):
            return self
        return self.take(np.flatnonzero(self.sample_weight))

    def with_labels(
        self, calibration_groups: np.ndarray | None, calibration_weight: np.ndarray | None
    ) -> Rows:
        return replace(
            self, calibration_groups=calibration_groups, calibration_weight=calibration_weight
        )


def hold_out(rows: Rows, share: float, rng: np.random.RandomState) -> tuple[Rows, Rows]:
    """Hold out a random `share` of the rows, rounded up; return the others and these.

    Rows of one label in `groups` stay on one side.
    """
    n_held_out = ceil(share * len(rows))
    if len(rows) - n_held_out < 1 or n_held_out < 1:
        raise ValueError(
            f"Rows cannot be held out of n_samples={len(rows)}: "
            "both sides need at least 1 row. Give more rows."
        )
    if rows.groups is None:
        order = rng.permutation(len(rows))
        return rows.take(order[n_held_out:]), rows.take(order[:n_held_out])
    _, label, sizes = np.unique(rows.groups, return_inverse=True, return_counts=True)
    if len(sizes) < 2:
        raise ValueError(
            "All rows have one label in groups, so none can be held out from the others."
        )
    order = rng.permutation(len(sizes))
    before = np.cumsum(sizes[order]) - sizes[order]
    before[-1] = len(rows)  # the last label stays
    is_held_out = np.isin(label, order[before < n_held_out])
    return rows.take(np.flatnonzero(~is_held_out)), rows.take(np.flatnonzero(is_held_out))


def hold_out_last(rows: Rows, share: float, place: np.ndarray, gap: int) -> tuple[Rows, Rows]:
    """Hold out the last `share` of the rows.

    The result is the rows that are earlier than these by more than the gap, and these.
    """
    first = place[len(rows) - min(ceil(share * len(rows)), len(rows))]
    earlier = np.flatnonzero(place < first - gap)
    if len(earlier) < 1:
        raise ValueError(
            f"The last {share:.0%} of n_samples={len(rows)} rows cannot be held out with gap={gap}:"
            " no earlier rows are left to train. Give more rows, or a smaller gap."
        )
    return rows.take(earlier), rows.take(np.flatnonzero(place >= first))


def divide_rows(
    rows: Rows,
    held_out: Rows | None,
    calibration: str,
    *,
    size: float,
    gap: int | None,
    rng: np.random.RandomState,
) -> list[Rows]:
    """Divide rows into those that train, choose and calibrate.

    The first rows of the result train. Behind them are none if all rows train; the rows that choose
    and calibrate; or the rows that choose, and the rows that only give gamma1.

    Without a calibration set `held_out`, "joint" and "conformal" hold out a share `size` of the
    rows. With "conformal", half of the held-out rows choose and the others calibrate. With a `gap`,
    rows are in the order of time: the last ones are held out, and only rows that are earlier by
    more than the gap train.
    """
    if calibration == "cross":
        return [rows]
    if held_out is None:
        rows, held_out = _split_off(rows, size, gap, rng)
    if calibration == "joint":
        return [rows, held_out]
    return [rows, *_split_off(held_out, 0.5, None if gap is None else 0, rng)]


def _split_off(
    rows: Rows, share: float, gap: int | None, rng: np.random.RandomState
) -> tuple[Rows, Rows]:
    if gap is None:
        return hold_out(rows, share, rng)
    place = time_ranks(len(rows)) if rows.groups is None else rows.groups
    return hold_out_last(rows, share, place, gap)
