"""Who trains, who chooses, and who calibrates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from clearbands.rows.split import Rows, hold_out
from clearbands.rows.time_order import hold_out_last, places

Some = TypeVar("Some")
Other = TypeVar("Other")


@dataclass(frozen=True)
class Shares(Generic[Some]):
    """Rows by what they are for, in whatever form.

    None are held out where all rows train; one share where the same rows choose and calibrate; or
    two, of which the first chooses, and the second is for gamma1 alone.
    """

    train: Some
    held_out: tuple[Some, ...] = ()

    def each(self, change: Callable[[Some], Other]) -> Shares[Other]:
        return Shares(change(self.train), tuple(map(change, self.held_out)))


def all_targets(shares: Shares[Rows]) -> np.ndarray:
    return np.concatenate([share.y for share in (shares.train, *shares.held_out)])


def share_out(
    rows: Rows,
    held_out: Rows | None,
    calibration: str,
    *,
    size: float,
    gap: int | None,
    rng: np.random.RandomState,
) -> Shares[Rows]:
    """Rows that were given to train, and a calibration set if there is one, by what they are for.

    Without a set, "joint" and "conformal" hold out a share `size` of the rows, and "conformal" has
    one half of those held out choose. With a `gap` rows are in the order of time, and the last ones
    are held out; what is left to train is earlier by more than the gap.
    """
    if calibration == "cross":
        return Shares(rows)
    if held_out is None:
        rows, held_out = _apart(rows, size, gap, rng)
    if calibration == "joint":
        return Shares(rows, (held_out,))
    return Shares(rows, _apart(held_out, 0.5, None if gap is None else 0, rng))


def _apart(
    rows: Rows, share: float, gap: int | None, rng: np.random.RandomState
) -> tuple[Rows, Rows]:
    if gap is None:
        return hold_out(rows, share, rng)
    place = places(len(rows)) if rows.groups is None else rows.groups
    return hold_out_last(rows, share, place, gap)
