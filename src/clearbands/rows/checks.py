"""Checks of arguments, whose errors say what was wrong, what was seen and what to do."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence, Sized
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_y

from clearbands.rows.class_labels import is_missing
from clearbands.rows.messages import row_name
from clearbands.rows.settings import SIDES

DATES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)


def unmasked(values: ArrayLike) -> Any:
    """Return the values with NaN, a missing value, in place of each masked one."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    return np.ma.filled(values.astype(np.float64), np.nan)


def check_target(y: ArrayLike | None, X: Sized | None = None) -> np.ndarray:
    """Return y as finite floats, one per row of X, or raise an error that says what is wrong."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    _check_holds_numbers(np.asarray(y), "y")
    values = unmasked(y)
    if np.iscomplexobj(np.asarray(values)):
        raise ValueError("Complex data not supported: y must hold real numbers.")
    if np.asarray(values).dtype.kind == "f":
        _check_finite(np.asarray(values), "y")
    target = np.asarray(_check_y(values, y_numeric=True), np.float64)
    _check_finite(target, "y")  # catches objects, too, such as None
    if X is not None and len(X) != len(target):
        raise ValueError(
            f"X has {len(X):,} rows and y has {len(target):,} values: give one for every row."
        )
    _check_same_order(X, y)
    return target


def _check_same_order(X: Any, y: Any) -> None:
    """Raise if X and y of pandas have the same index in another order, as only places count."""
    index: Any = getattr(X, "index", None)
    labels: Any = getattr(y, "index", None)
    if not (hasattr(index, "is_unique") and hasattr(labels, "is_unique")):
        return
    if index.equals(labels) or not (index.is_unique and labels.is_unique):
        return
    if set(index) == set(labels):
        raise ValueError(
            "X and y have the same index in another order, so rows would get the targets of "
            "others: give y.loc[X.index], or y.to_numpy() if the values are in the right order."
        )


def _check_holds_numbers(y: np.ndarray, name: str) -> None:
    """Raise for text and dates: NumPy would turn them into numbers that nobody meant."""
    if y.dtype.kind not in "mMUSO":
        return
    for value in y.ravel():
        if isinstance(value, str):
            raise ValueError(f"{name} must be numbers, but it holds text such as {str(value)!r}.")
        if isinstance(value, DATES):
            raise ValueError(
                f"{name} must be numbers, but it holds dates or times such as {str(value)!r}; "
                "give, for example, the days since a fixed date."
            )


def check_count(value: Any, name: str, smallest: int = 1, largest: int | None = None) -> None:
    """Raise unless `value` is a whole number in the range, ends included."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if is_whole and smallest <= value and (largest is None or value <= largest):
        return
    allowed = f"of at least {smallest}" if largest is None else f"from {smallest} to {largest}"
    raise ValueError(f"{name} must be a whole number {allowed}, got {value!r}.")


def check_choice(value: object, name: str, allowed: Sequence[str]) -> None:
    """Raise unless `value` is one of the names."""
    if not isinstance(value, str) or value not in allowed:
        names = ", ".join(f'"{choice}"' for choice in allowed)
        raise ValueError(f"{name} must be one of {names}, got {value!r}.")


def check_side(side: object) -> None:
    """Raise unless `side` says which bounds of an interval are finite."""
    if side not in SIDES:
        raise ValueError(f'side must be "both", "lower" or "upper", got {side!r}.')


def check_share(value: Any, name: str) -> None:
    """Raise unless `value` lies strictly between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}.")


def check_vector(values: ArrayLike, name: str, n: int | None = None) -> np.ndarray:
    """Return the values as finite floats (n,), or raise an error that says what is wrong."""
    array = _as_floats(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, (n,); got shape {array.shape}.")
    if len(array) == 0:
        raise ValueError(f"{name} is empty; at least one row is needed.")
    _check_rows(array, name, n)
    return array


def check_predictions(predicted: ArrayLike, n: int, who: str, *, finite: bool = True) -> np.ndarray:
    """Return predictions (n,) or (n, 1) as floats (n,), or raise an error that names `who`."""
    values = np.asarray(predicted)
    if values.shape not in ((n,), (n, 1)):
        raise ValueError(
            f"{who} predicts an array of shape {values.shape} for {n} rows: one number for every "
            "row is needed."
        )
    if values.dtype.kind not in "fiub":
        raise ValueError(f"{who} predicts values of the type {values.dtype}, not real numbers.")
    if finite and not np.isfinite(values).all():
        raise ValueError(f"{who} predicts NaN or infinity.")
    return values.reshape(n).astype(np.float64, copy=False)


def check_widths(values: ArrayLike, name: str, n: int, n_levels: int = 1) -> np.ndarray:
    """Return widths (n, 2, n_levels), finite and not negative; (n, 2) serves every level."""
    array = _as_floats(values, name)
    if array.ndim == 2:
        array = np.repeat(array[:, :, None], n_levels, axis=2)
    if array.ndim != 3 or array.shape[1:] != (2, n_levels):
        several = f" or (n, 2, {n_levels})" if n_levels > 1 else ""
        raise ValueError(
            f"{name} must have shape (n, 2){several}: distances from the center, below and above; "
            f"got shape {np.shape(values)}."
        )
    _check_rows(array, name, n)
    if np.any(array < 0):
        row, side = np.argwhere(array < 0)[0][:2]
        raise ValueError(
            f"{name} must not be negative, got {array[row, side].min():g} in {row_name(row)}. "
            "Widths are distances from the center, not bounds."
        )
    return array


def check_weights(values: ArrayLike, name: str, n: int) -> np.ndarray:
    """Return weights (n,) that are finite, none of them negative, and not all 0."""
    weights = check_vector(values, name, n)
    if np.any(weights < 0):
        row = int(np.argmax(weights < 0))
        raise ValueError(f"{name} must not be negative, got {weights[row]:g} in {row_name(row)}.")
    if not np.any(weights > 0):
        raise ValueError(f"{name} is zero in every row: no row would count.")
    return weights


def check_threshold(value: ArrayLike, name: str, n: int) -> np.ndarray:
    """Return a finite number for every row (n,), given one number for all or one for each."""
    values = _as_floats(value, name)
    return check_vector(np.full(n, float(values)) if values.ndim == 0 else values, name, n)


SMALLEST, LARGEST = 1e-150, 1e150


def check_scale(values: np.ndarray, name: str, smallest: float = SMALLEST) -> None:
    """Raise unless the largest of `values` is 0 or of a size that can be multiplied exactly."""
    largest = float(np.max(np.abs(values)))
    if largest == 0 or smallest <= largest <= LARGEST:
        return
    raise ValueError(
        f"The largest value of {name} is {largest:g}: calibration is exact from {SMALLEST:g} to "
        f"{LARGEST:g}. Give y, center and widths in another unit."
    )


def _as_floats(values: ArrayLike, name: str) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be numbers: {error}.") from error
    _check_holds_numbers(array, name)
    try:
        return np.asarray(unmasked(values), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}.") from error


def _check_rows(array: np.ndarray, name: str, n: int | None) -> None:
    if n is not None and len(array) != n:
        raise ValueError(
            f"{name} has {len(array)} rows where {n} are needed, as many as the others."
        )
    _check_finite(array, name)


def _check_finite(array: np.ndarray, name: str) -> None:
    if not np.all(np.isfinite(array)):
        row = np.argwhere(~np.isfinite(array))[0][0]
        raise ValueError(
            f"{name} contains NaN or infinity, first in {row_name(row)}; remove or repair such "
            "rows."
        )


def check_intervals(y: ArrayLike, intervals: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    y = check_vector(y, "y")
    intervals = np.asarray(intervals, float)
    if intervals.ndim == 3 and intervals.shape[2] == 1:
        intervals = intervals[:, :, 0]
    if intervals.shape != (len(y), 2):
        raise ValueError(
            f"intervals must have shape ({len(y)}, 2), lower and upper for every row of y; got "
            f"{intervals.shape}. Of several levels, score one at a time: intervals[:, :, j]."
        )
    if np.isnan(intervals).any():
        raise ValueError("intervals contain NaN.")
    if np.any(intervals[:, 0] > intervals[:, 1]):
        row = int(np.argmax(intervals[:, 0] > intervals[:, 1]))
        raise ValueError(f"The lower bound exceeds the upper bound in {row_name(row)}.")
    return y, intervals


MISSING = "missing"


def check_group_labels(
    groups: ArrayLike | None, n: int, name: str = "calibration_groups"
) -> np.ndarray:
    """Return labels (n,) as text, or raise an error that says what is wrong with them."""
    labels = np.array(groups, dtype=object)
    if isinstance(groups, np.ma.MaskedArray):
        labels[np.ma.getmaskarray(groups)] = None
    if labels.shape != (n,):
        raise ValueError(
            f"{name} must have shape ({n},), a label per row of y; got {labels.shape}."
        )
    return np.array([_label(value) for value in labels])


def _label(value: Any) -> str:
    """Return a label as text; 7 and 7.0 are the same group."""
    if is_missing(value):
        return MISSING
    is_whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if is_whole else str(value)


def check_labels(labels: ArrayLike, n: int) -> np.ndarray:
    """Return whole numbers (n,), one for each label, or raise an error that says what is wrong."""
    values = np.asarray(labels)
    if values.shape != (n,):
        raise ValueError(f"groups must have shape ({n},), a label per row; got {values.shape}.")
    n_missing = sum(map(is_missing, values.tolist()))
    if n_missing:
        raise ValueError(
            f"groups has no label in {n_missing} of {n} rows: give each row a label; a row that "
            "belongs to no other gets one of its own."
        )
    return np.unique(values, return_inverse=True)[1]
