"""Quantiles over the members of an ensemble."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def sorted_quantiles(values: np.ndarray, levels: Sequence[float] | np.ndarray) -> np.ndarray:
    """Quantiles along the last axis by linear interpolation, (..., len(levels)).

    The same numbers as np.quantile; one sort serves all levels and is many times faster
    on short contiguous rows.
    """
    return _between(np.sort(values, axis=-1), np.asarray(levels, float))


def present_quantiles(values: np.ndarray, levels: Sequence[float] | np.ndarray) -> np.ndarray:
    """The same over those values of each row that are not NaN; NaN where there are none."""
    ordered, levels = np.sort(values, axis=-1), np.asarray(levels, float)  # NaN comes last
    is_missing = np.isnan(ordered)
    if not is_missing[..., -1].any():
        return _between(ordered, levels)
    last = np.count_nonzero(~is_missing, axis=-1)[..., None] - 1
    position = levels * np.maximum(last, 0)
    below, above = np.floor(position).astype(int), np.ceil(position).astype(int)
    low, high = (np.take_along_axis(ordered, at, axis=-1) for at in (below, above))
    return low + (position - below) * (high - low)


def _between(ordered: np.ndarray, levels: np.ndarray) -> np.ndarray:
    position = levels * (ordered.shape[-1] - 1)
    below, above = np.floor(position).astype(int), np.ceil(position).astype(int)
    low = ordered[..., below]
    return low + (position - below) * (ordered[..., above] - low)
