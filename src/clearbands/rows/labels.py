"""What `fit` is told of rows besides X and y, and what becomes of it at the door."""

from __future__ import annotations

from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike

from clearbands.rows.checks import check_group_labels, check_target, check_weights, is_frame
from clearbands.rows.time_order import check_time, places
from clearbands.rows.typed import TableLike


class Told(NamedTuple):
    """As it was given: arrays (n,) or lists of rows in memory, names of columns of files."""

    groups: ArrayLike | None = None
    time: ArrayLike | None = None
    calibration_groups: ArrayLike | None = None
    sample_weight: ArrayLike | None = None
    calibration_weight: ArrayLike | None = None


class Labels(NamedTuple):
    """Of rows that may calibrate: one of both, or neither."""

    calibration_groups: np.ndarray | None = None  # (n,): in each of which the level shall hold
    calibration_weight: np.ndarray | None = None  # (n,): how many times more often among new rows


class Order(NamedTuple):
    """What keeps rows together."""

    groups: ArrayLike | None  # labels that were given, or places in time
    last_time: Any = None  # of the last row, where times were given


def read_labels(told: Told, X: TableLike, y: ArrayLike | None) -> Labels:
    """Of the rows that may calibrate."""
    calibration_groups, weight = told.calibration_groups, told.calibration_weight
    if calibration_groups is None and weight is None:
        return Labels()
    if calibration_groups is not None and weight is not None:
        raise ValueError(
            "calibration_groups and calibration_weight cannot be used at once: give one."
        )
    n = len(check_target(y))
    if weight is not None:
        return Labels(calibration_weight=check_weights(weight, "calibration_weight", n))
    return Labels(read_calibration_groups(calibration_groups, X, n))


def read_calibration_groups(
    calibration_groups: ArrayLike | None, X: TableLike, n: int
) -> np.ndarray:
    """(n,): labels that were given, or those in the column of X that was named."""
    if not isinstance(calibration_groups, str):
        return check_group_labels(calibration_groups, n)
    if not is_frame(X):
        raise ValueError(
            f"calibration_groups={calibration_groups!r} names a column, but X is an array: "
            "give a table, or the labels."
        )
    frame = nw.from_native(X, eager_only=True)
    if calibration_groups not in frame.columns:
        known = ", ".join(frame.columns)
        raise ValueError(
            f"calibration_groups={calibration_groups!r} is no column of X, which has {known}."
        )
    return check_group_labels(frame.get_column(calibration_groups).to_list(), n)


def read_order(told: Told, split: str, y: ArrayLike) -> Order:
    """Labels of rows that were given, or with split="time" their places."""
    if split == "random":
        if told.time is not None:
            raise ValueError('time was given, but rows are split at random: set split="time".')
        return Order(told.groups)
    if told.groups is not None:
        raise ValueError('groups and split="time" cannot be used at once: give one.')
    n = len(check_target(y))
    if told.time is None:
        return Order(places(n))
    times = check_time(told.time, n)
    return Order(places(n, times), times[-1])
