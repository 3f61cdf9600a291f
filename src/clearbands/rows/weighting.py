"""Rows that count more than others: weights that were given, weights by age, and their use."""

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
"""Standard errors of a mean within which it may be 0: rows do not tell more apart than that."""

MOST_ROWS = 1e15  # that weights can stand for: beyond, floats do not count single rows any more


def check_sample_weight(weight: ArrayLike | None, n: int) -> np.ndarray | None:
    """(n,) weights that are not negative and not all 0; None for none."""
    return None if weight is None else check_weights(weight, "sample_weight", n)


def check_row_weight(weight: ArrayLike | None, n: int) -> np.ndarray | None:
    """The same, where weights say how many rows a row counts as, which calibration relies on."""
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
    """The rows without those of weight 0, which are as if they were not there."""
    if weight is None or np.all(weight > 0):
        return X, y, weight
    has_weight = weight > 0
    return X[has_weight], y[has_weight], weight[has_weight]


def mean_of(values: np.ndarray, weight: np.ndarray | None) -> float:
    """The mean, in which a row counts as its weight says."""
    return float(values.mean() if weight is None else np.average(values, weights=weight))


def size_of(weight: np.ndarray | None, n: int) -> float:
    """How many rows n rows count as."""
    return n if weight is None else float(weight.sum())


def error_of_mean(values: np.ndarray, weight: np.ndarray | None) -> float:
    """The standard error of `mean_of` them."""
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
    """Whether rows do not show that the mean of their differences is above 0."""
    with np.errstate(invalid="ignore"):  # where some are infinite they show it
        return mean_of(differences, weight) <= CHANCE * error_of_mean(differences, weight)
