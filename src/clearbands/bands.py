"""The small values that travel: a center (n,), and widths (n, 2), the distances below and above.

With several levels widths are (n, 2, k) and so are intervals, whose second axis is lower, upper.
"""

from __future__ import annotations

from typing import Any

import numpy as np

EPS = np.finfo(float).eps


def make_interval(center: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """[center - below, center + above], rounded outwards.

    A factor chosen so that a row is just covered must cover it in floating point too: the
    distance gets the few units in the last place that its computation may have lost.
    """
    reach = widths * (1 + 8 * EPS)
    center = np.expand_dims(center, tuple(range(1, widths.ndim - 1)))
    lower, upper = center - reach[:, 0], center + reach[:, 1]
    return np.stack(
        [
            np.where(reach[:, 0] > 0, np.nextafter(lower, -np.inf), lower),
            np.where(reach[:, 1] > 0, np.nextafter(upper, np.inf), upper),
        ],
        axis=1,
    )


def covered(y: np.ndarray, interval: np.ndarray) -> np.ndarray:
    """(n,) booleans: bounds belong to the interval."""
    return (interval[:, 0] <= y) & (y <= interval[:, 1])


def on_side_of(y: np.ndarray, center: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """(n,): the width on the side of the center where y lies."""
    return np.where(y < center, widths[:, 0], widths[:, 1])


def check_vector(values: Any, name: str, n: int | None = None) -> np.ndarray:
    """A finite (n,) float array, or an error that names what is wrong."""
    array = _as_floats(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, (n,); got shape {array.shape}.")
    if len(array) == 0:
        raise ValueError(f"{name} is empty; at least one row is needed.")
    _check_rows(array, name, n)
    return array


def check_widths(values: Any, name: str, n: int, n_levels: int = 1) -> np.ndarray:
    """A finite, non-negative (n, 2, n_levels) float array; (n, 2) serves every level."""
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
            f"{name} must not be negative, got {array[row, side].min():g} in row {row}. "
            "Widths are distances from the center, not bounds."
        )
    return array


def _as_floats(values: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}.") from error


def _check_rows(array: np.ndarray, name: str, n: int | None) -> None:
    if n is not None and len(array) != n:
        raise ValueError(
            f"{name} has {len(array)} rows where {n} are needed, as many as the others."
        )
    if not np.all(np.isfinite(array)):
        row = np.argwhere(~np.isfinite(array))[0][0]
        raise ValueError(
            f"{name} contains NaN or infinity (first in row {row}); "
            "remove or repair such rows before calibrating."
        )
