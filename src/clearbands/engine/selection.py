"""Order statistics inside kernels: np.partition compiles slowly and knows no weights."""

from __future__ import annotations

import numpy as np

from clearbands.engine.compiled import ONE, ZERO, Real, Whole, called, inlined

FEW_VALUES = 16  # up to so many values an insertion sort is fastest


@called
def weighted_quantile(
    values: np.ndarray, weights: np.ndarray, size: Whole, total: Whole, tau: Real
) -> Real:
    """Return a quantile of the first `size` values, each repeated `weights` times, `total` in all.

    It is interpolated at position tau (total + 1) of the sorted values. Both arrays are reordered.
    """
    position = min(max(tau * (total + 1) - 1, 0.0), total - 1.0)
    rank = np.int64(position)
    low = select(values, weights, size, total, rank)
    fraction = position - rank
    if fraction == 0:
        return low
    return low + fraction * (_value_after(values, weights, size, low, rank) - low)


@inlined
def _value_after(
    values: np.ndarray, weights: np.ndarray, size: Whole, low: Real, rank: Whole
) -> Real:
    """Return the value at rank + 1, if the value at `rank` is `low`."""
    weight_up_to_low = ZERO
    next_larger = np.inf
    for i in range(size):
        if values[i] <= low:
            weight_up_to_low += np.int64(weights[i])
        elif values[i] < next_larger:
            next_larger = values[i]
    return low if weight_up_to_low > rank + 1 else next_larger


@called
def select(values: np.ndarray, weights: np.ndarray, size: Whole, total: Whole, rank: Whole) -> Real:
    """Return the value at `rank` (from 0) of the sorted values, each repeated `weights` times."""
    start, stop = ZERO, size
    while stop - start > FEW_VALUES:
        pivot = _guess(values, start, stop, rank / total)
        middle, weight = _smaller_first(values, weights, start, stop, pivot, ZERO)
        if middle == start:  # nothing is smaller than the pivot: separate it from the larger values
            middle, weight = _smaller_first(values, weights, start, stop, pivot, ONE)
            if rank < weight:
                return pivot
        if rank < weight:
            stop, total = middle, weight
        else:
            start, total, rank = middle, total - weight, rank - weight
    return _select_from_few(values, weights, start, stop, rank)


@inlined
def _guess(values: np.ndarray, start: Whole, stop: Whole, share: Real) -> Real:
    """Return a value below which about `share` of values[start:stop] lie, judged by nine of them.

    It errs towards the middle, so that the value sought most likely lies in the smaller part.
    """
    step = (stop - start) // 9
    a, b, c = _sorted_three(values[start], values[start + step], values[start + 2 * step])
    d, e, f = _sorted_three(
        values[start + 3 * step], values[start + 4 * step], values[start + 5 * step]
    )
    g, h, i = _sorted_three(
        values[start + 6 * step], values[start + 7 * step], values[start + 8 * step]
    )
    if share < 0.2:
        return _sorted_three(a, d, g)[1]
    if share > 0.8:
        return _sorted_three(c, f, i)[1]
    return _sorted_three(b, e, h)[1]


@inlined
def _sorted_three(a: Real, b: Real, c: Real) -> tuple[Real, Real, Real]:
    low, high = min(a, b), max(a, b)
    return min(low, c), max(low, min(high, c)), max(high, c)


@called
def _smaller_first(
    values: np.ndarray, weights: np.ndarray, start: Whole, stop: Whole, pivot: Real, or_equal: bool
) -> tuple[Whole, Whole]:
    """Move the values below the pivot to the front.

    Returns the place where the other values start and the weight of those in front. Every value is
    swapped instead of branching: which side it falls on cannot be predicted.
    """
    middle = start
    weight = np.int64(0)
    for i in range(start, stop):
        value, count = values[i], weights[i]
        goes_first = np.int64((value < pivot) | (or_equal & np.int64(value == pivot)))
        values[i], weights[i] = values[middle], weights[middle]
        values[middle], weights[middle] = value, count
        middle += goes_first
        weight += goes_first * np.int64(count)
    return middle, weight


@inlined
def _select_from_few(
    values: np.ndarray, weights: np.ndarray, start: Whole, stop: Whole, rank: Whole
) -> Real:
    """Sort by insertion, then count up to the rank."""
    for i in range(start + 1, stop):
        value, weight = values[i], weights[i]
        hole = i
        while hole > start and values[hole - 1] > value:
            values[hole], weights[hole] = values[hole - 1], weights[hole - 1]
            hole -= 1
        values[hole], weights[hole] = value, weight
    last = start
    seen = np.int64(weights[start])
    while seen <= rank:
        last += 1
        seen += np.int64(weights[last])
    return values[last]
