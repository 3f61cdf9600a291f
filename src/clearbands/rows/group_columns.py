"""Calibration groups that may overlap, given as columns of booleans, labels or numbers."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from clearbands.rows.checks import check_group_labels, is_missing
from clearbands.rows.frames import is_frame


def are_columns(calibration_groups: Any) -> bool:
    """Whether groups are given as columns and not as one label per row."""
    if is_frame(calibration_groups):
        return True
    if isinstance(calibration_groups, np.ndarray) and calibration_groups.dtype.names:
        return True
    return np.ndim(calibration_groups) == 2


def read_group_columns(calibration_groups: Any, n: int) -> np.ndarray:
    """Return an array (n,) with a field for each column, of text or of numbers; True is 1.

    >>> read_group_columns([[True, False], [True, True]], 2)["1"]
    array([0., 1.])
    """
    if isinstance(calibration_groups, np.ndarray) and calibration_groups.dtype.names:
        return calibration_groups
    columns: dict[str, Any]
    if is_frame(calibration_groups):
        frame = nw.from_native(calibration_groups, eager_only=True)
        columns = {str(name): frame.get_column(name).to_list() for name in frame.columns}
    else:
        array = np.asarray(calibration_groups)
        if array.ndim != 2:
            raise ValueError(
                "calibration_groups must be a table or an array of several columns, got shape "
                f"{array.shape}."
            )
        columns = {str(j): column for j, column in enumerate(array.T.tolist())}
    if not columns or any(len(column) != n for column in columns.values()):
        size = len(next(iter(columns.values()), []))
        raise ValueError(
            f"calibration_groups must have {n} rows, as y has, and at least one column; got "
            f"{size} rows and {len(columns)} columns."
        )
    read = {name: _read(name, values, n) for name, values in columns.items()}
    groups = np.empty(n, dtype=[(name, values.dtype) for name, values in read.items()])
    for name, values in read.items():
        groups[name] = values
    return groups


def _read(name: str, values: list[Any], n: int) -> np.ndarray:
    """Return a column as numbers, or as labels if it holds anything but numbers."""
    some = [value for value in values if not is_missing(value)]
    if not all(isinstance(value, bool | int | float | np.number | np.bool_) for value in some):
        return check_group_labels(np.array(values, dtype=object), n)
    numbers = np.array([np.nan if is_missing(value) else float(value) for value in values])
    if not np.isfinite(numbers).all():
        raise ValueError(
            f"The column {name!r} of calibration_groups holds gaps or infinite numbers: a row must "
            "be in a group or not."
        )
    return numbers
