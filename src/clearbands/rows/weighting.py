"""Weights of rows: checks, weights by age, and weighted means."""

from __future__ import annotations

import datetime as dt
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clearbands.rows.checks import check_count, check_weights
from clearbands.rows.messages import row_name
from clearbands.rows.time_order import as_moments

CHANCE = 2.0
"""A mean within this many standard errors of 0 may be 0 by chance."""

MOST_ROWS = 1e15  # the most rows that weights can stand for; floats cannot count more one by one


def check_sample_weight(
    weight: ArrayLike | None, n: int, name: str = "sample_weight"
) -> np.ndarray | None:
    """Return checked weights (n,), which are not negative and not all 0, or None without any."""
    return None if weight is None else check_weights(weight, name, n)


def check_row_weight(weight: ArrayLike | None, n: int) -> np.ndarray | None:
    """Return checked weights (n,) that also add up to a number of rows, as calibration needs."""
    weights = check_sample_weight(weight, n)
    if weights is None:
        return None
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not 2 <= total <= MOST_ROWS:
        raise ValueError(
            f"sample_weight adds up to {total:g}, but it says how many rows each row "
            f"counts as: multiply it, for example so that it adds up to the {n:,} rows."
        )
    return weights


def drop_weightless(
    X: np.ndarray, y: np.ndarray, weight: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the rows without those of weight 0, which are treated as absent."""
    if weight is None or np.all(weight > 0):
        return X, y, weight
    has_weight = weight > 0
    return X[has_weight], y[has_weight], weight[has_weight]


def mean_of(values: np.ndarray, weight: np.ndarray | None) -> float:
    """Return the weighted mean."""
    return float(values.mean() if weight is None else np.average(values, weights=weight))


def counts_of(weight: np.ndarray | None, n: int) -> np.ndarray:
    """Return how many rows each row counts as (n,)."""
    return np.ones(n) if weight is None else weight


def size_of(weight: np.ndarray | None, n: int) -> float:
    """Return how many rows n rows count as: the sum of their weights."""
    return n if weight is None else float(weight.sum())


def error_of_mean(values: np.ndarray, weight: np.ndarray | None) -> float:
    """Return the standard error of the weighted mean."""
    squares = (values - mean_of(values, weight)) ** 2
    return float(np.sqrt(mean_of(squares, weight)) / np.sqrt(size_of(weight, len(values))))


def recency_weights(time: ArrayLike | None, half_life: Any) -> np.ndarray:
    """Weights (n,) that halve with every half-life by which a row is older than the latest one.

    `time` (n,) holds numbers, dates or times of the rows, in any order. It may also be the number
    of rows; the oldest then comes first, and the half-life is counted in rows. `half_life` is in
    the unit of `time`; for dates it is a number of days or a timedelta. Pass the weights as
    `sample_weight` to change what models learn, as `calibration_weight` to change how wide
    intervals are, or as both.

    Examples
    --------
    >>> from clearbands import recency_weights
    >>> recency_weights(4, half_life=1)
    array([0.125, 0.25 , 0.5  , 1.   ])
    >>> recency_weights(["2026-01-31", "2025-12-02"], half_life=30)
    array([1.  , 0.25])
    """
    if isinstance(time, Integral) and not isinstance(time, bool):
        check_count(time, "time, as a number of rows,")
        time = np.arange(int(time))
    moments = as_moments(time)
    if moments.ndim != 1 or len(moments) == 0:
        raise ValueError(f"time must have shape (n,), one per row; got {moments.shape}.")
    unknown = np.isnat(moments) if moments.dtype.kind == "M" else ~np.isfinite(moments)
    if unknown.any():
        row = row_name(int(np.argmax(unknown)))
        raise ValueError(f"time is missing in {row}; drop such rows.")
    if moments.dtype.kind == "M":
        age = (moments.max() - moments) / np.timedelta64(1, "D")
        half_life = _in_days(half_life)
    else:
        age = moments.max() - moments
    if not isinstance(half_life, Real) or not 0 < float(half_life) < np.inf:
        raise ValueError(f"half_life must be a number above 0, or a timedelta, got {half_life!r}.")
    return 0.5 ** (age / float(half_life))


def _in_days(half_life: Any) -> Any:
    if isinstance(half_life, dt.timedelta):
        return half_life / dt.timedelta(days=1)
    if isinstance(half_life, np.timedelta64):
        return half_life / np.timedelta64(1, "D")
    return half_life


def may_be_chance(differences: np.ndarray, weight: np.ndarray | None) -> bool:
    """Whether the mean of the differences is not clearly above 0."""
    with np.errstate(invalid="ignore"):  # infinite differences give NaN, which compares as False
        return mean_of(differences, weight) <= CHANCE * error_of_mean(differences, weight)
