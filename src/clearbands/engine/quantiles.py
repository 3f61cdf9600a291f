"""Quantiles over the members of an ensemble, and over rows that count differently."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def sorted_quantiles(values: np.ndarray, levels: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return quantiles (..., len(levels)) along the last axis, by linear interpolation.

    The numbers are those of np.quantile; one sort serves all levels and is many times faster
    on short contiguous rows.
    """
    return _between(np.sort(values, axis=-1), np.asarray(levels, float))


def quantiles_of_places(
    places: np.ndarray, values: np.ndarray, levels: Sequence[float] | np.ndarray
) -> np.ndarray:
    """Return quantiles of values[places], where `values` rise, and sort the places of each row.

    Whole numbers are sorted faster than floats, and few values have to be looked up.
    """
    places.sort(axis=-1)
    return _between(places, np.asarray(levels, float), values)


def present_quantiles(values: np.ndarray, levels: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return quantiles of those values of each row that are not NaN, or NaN where all are."""
    ordered, levels = np.sort(values, axis=-1), np.asarray(levels, float)  # NaN comes last
    is_missing = np.isnan(ordered)
    if not is_missing[..., -1].any():
        return _between(ordered, levels)
    last = np.count_nonzero(~is_missing, axis=-1)[..., None] - 1
    position = levels * np.maximum(last, 0)
    below, above = np.floor(position).astype(int), np.ceil(position).astype(int)
    low, high = (np.take_along_axis(ordered, at, axis=-1) for at in (below, above))
    return low + (position - below) * (high - low)


def _between(
    ordered: np.ndarray, levels: np.ndarray, values: np.ndarray | None = None
) -> np.ndarray:
    """Interpolate quantiles of ordered values, or of ordered places in `values`."""
    position = levels * (ordered.shape[-1] - 1)
    below, above = np.floor(position).astype(int), np.ceil(position).astype(int)
    low, high = ordered[..., below], ordered[..., above]
    if values is not None:
        low, high = values[low], values[high]
    return low + (position - below) * (high - low)


def weighted_quantiles(
    values: np.ndarray, levels: Sequence[float] | np.ndarray, weight: np.ndarray | None
) -> np.ndarray:
    """Return np.quantile of values (n,) of which there are `weight` copies each."""
    levels = np.asarray(levels, float)
    if weight is None:
        return np.quantile(values, levels)
    at = _Repeated(values, weight)
    position = levels * max(at.size - 1, 0.0)
    below = np.floor(position)
    low, high = at.rank(below), at.rank(below + 1)
    share, step = position - below, high - low
    # As NumPy interpolates, to the last digit.
    return np.where(share < 0.5, low + step * share, high - step * (1 - share))


def weighted_median(values: np.ndarray, weight: np.ndarray | None) -> float:
    """Return np.median of values (n,) of which there are `weight` copies each."""
    if weight is None:
        return float(np.median(values))
    at = _Repeated(values, weight)
    middle = max(at.size - 1, 0.0) / 2
    low, high = at.rank(np.array([np.floor(middle), np.ceil(middle)]))
    return float((low + high) / 2)


class _Repeated:
    """Values in rising order, each repeated `weight` times."""

    def __init__(self, values: np.ndarray, weight: np.ndarray) -> None:
        order = np.argsort(values, kind="stable")
        self.values, self.up_to = values[order], np.cumsum(weight[order])
        self.size = float(self.up_to[-1])

    def rank(self, position: np.ndarray) -> np.ndarray:
        """Return the values at these places, counted from 0."""
        place = np.searchsorted(self.up_to, position, side="right")
        return self.values[np.minimum(place, len(self.values) - 1)]
