"""Checks of the labels, weights and times of rows, which `fit` takes besides X and y."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike

from clearbands.rows.checks import check_group_labels, check_target, check_weights
from clearbands.rows.frames import is_frame
from clearbands.rows.group_columns import are_columns, read_group_columns
from clearbands.rows.time_order import check_time, time_ranks
from clearbands.rows.typed import TableLike


def read_labels(
    X: TableLike,
    y: ArrayLike | None,
    calibration_groups: ArrayLike | None = None,
    calibration_weight: ArrayLike | None = None,
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the calibration groups (n,) and the calibration weights (n,), one of them None."""
    if calibration_groups is None and calibration_weight is None:
        return None, None
    if calibration_groups is not None and calibration_weight is not None:
        raise ValueError(
            "calibration_groups and calibration_weight cannot be used at once: give one."
        )
    n = len(check_target(y))
    if calibration_weight is not None:
        return None, check_weights(calibration_weight, "calibration_weight", n)
    return read_calibration_groups(calibration_groups, X, n), None


def read_calibration_groups(
    calibration_groups: ArrayLike | None, X: TableLike, n: int, *, overlap: bool = False
) -> np.ndarray:
    """Return the labels (n,) that were given, or those in the column of X that was named.

    Several columns, given or named, make an array with a field for each. With `overlap`, groups
    must be columns, so that a list names columns even if it is as long as X.
    """
    if are_columns(calibration_groups):
        return read_group_columns(calibration_groups, n)
    if are_names(calibration_groups, X, -1 if overlap else n):
        chosen = nw.from_native(X, eager_only=True).select(list(calibration_groups))
        return read_group_columns(chosen.to_native(), n)
    if not isinstance(calibration_groups, str):
        return check_group_labels(calibration_groups, n)
    _check_is_column(calibration_groups, X)
    frame = nw.from_native(X, eager_only=True)
    return check_group_labels(frame.get_column(calibration_groups).to_list(), n)


def are_names(calibration_groups: Any, X: TableLike, n: int) -> TypeGuard[Sequence[str]]:
    """Whether groups are names of columns of X and not labels of its rows."""
    if not isinstance(calibration_groups, list | tuple) or len(calibration_groups) == n:
        return False
    columns = nw.from_native(X, eager_only=True).columns if is_frame(X) else []
    if not any(isinstance(name, str) and name in columns for name in calibration_groups):
        return False
    for name in calibration_groups:
        _check_is_column(name, X)
    return True


def _check_is_column(name: str, X: TableLike) -> None:
    if not is_frame(X):
        raise ValueError(
            f"calibration_groups={name!r} names a column, but X is an array: give a table, or the "
            "labels."
        )
    names = nw.from_native(X, eager_only=True).columns
    if name not in names:
        raise ValueError(
            f"calibration_groups={name!r} is no column of X, which has {', '.join(names)}."
        )


def read_groups(
    split: str, y: ArrayLike, groups: ArrayLike | None = None, time: ArrayLike | None = None
) -> tuple[ArrayLike | None, Any]:
    """Return the labels that keep rows together, and the last time if times were given.

    With split="time" the labels are the places of rows in the order of time.
    """
    if split == "random":
        if time is not None:
            raise ValueError('time was given, but rows are split at random: set split="time".')
        return groups, None
    if groups is not None:
        raise ValueError('groups and split="time" cannot be used at once: give one.')
    n = len(check_target(y))
    if time is None:
        return time_ranks(n), None
    times = check_time(time, n)
    return time_ranks(n, times), times[-1]
