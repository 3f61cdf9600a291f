"""The finite-sample rules of rank, scores and order statistic, each written once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clearbands.rows.bands import EPS
from clearbands.rows.levels import exact
from clearbands.rows.weighting import size_of


class CalibrationWarning(UserWarning):
    """There are too few calibration rows for the level that was asked for.

    >>> import warnings
    >>> from clearbands import AdditiveCalibrator, CalibrationWarning
    >>> with warnings.catch_warnings():  # doctest: +ELLIPSIS
    ...     warnings.simplefilter("error", CalibrationWarning)  # rather an error than no interval
    ...     AdditiveCalibrator(0.9).fit([1.0, 2.0], [0.0, 0.0], [[1, 1], [1, 1]])
    Traceback (most recent call last):
        ...
    clearbands.calibration.conformal.CalibrationWarning: No finite interval is valid at level ...
    """


def rank(n: int, level: float, weight: np.ndarray | None = None) -> Any:
    """Return how many of n calibration rows must be covered; more than n when n is too small.

    For rows with weights (n,) it is how much of the weight must be covered, see `weighted_rank`.
    """
    return math.ceil(exact(level) * (n + 1)) if weight is None else weighted_rank(weight, level)


def level_of_rank(k: Any, size: float) -> Any:
    """Return the level that the k-th of `size` rows stands for: the inverse of `rank`.

    >>> level_of_rank(90, 99)
    0.9
    """
    return k / (size + 1)


def capped_rank(n: int, level: float) -> int:
    """Return the rank, or n where the rows are too few for it, as in the paper."""
    return min(rank(n, level), n)


def rows_needed(level: float) -> int:
    """Return the smallest n at which `rank` does not exceed n."""
    return math.ceil(exact(level) / (1 - exact(level)))


def ratio_scores(distance: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Return the factor by which each width must grow to reach its row.

    A row at distance 0 is covered by any width (0/0 is 0); a width of 0 reaches no other row,
    whatever the factor (x/0 is infinite).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance == 0, 0.0, distance / width)


def signed_scores(excess: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Return the multiple of each width that equals `excess`, which is negative inside a bound.

    Where the width is 0, no multiple changes anything: the score is minus infinity for a row that
    is covered already (an excess of at most 0), and infinity for any other row.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(width == 0, np.where(excess > 0, np.inf, -np.inf), excess / width)


def weighted_rank(weight: np.ndarray, level: float, new_weight: Any = 1.0) -> Any:
    """Return how much of the weight must be covered; more than the sum when that is too small.

    The row to predict counts with `new_weight` (Tibshirani et al. 2019), or each of several rows
    with its own. Whole numbers as weights give the rank of rows that are repeated so many times.
    The result allows for rounding, so weights such as a third reach it in whatever order they are
    summed.
    """
    needed = float(exact(level)) * (float(weight.sum()) + new_weight)
    return _reached_by_sums(needed, len(weight))


def per_heaviest(weight: np.ndarray) -> np.ndarray:
    """Return the weights divided by the heaviest, as which a new row counts.

    A guarantee needs that: rows that all count 50 times are no more rows than without weights,
    since copies of a row tell nothing new.
    """
    return weight / np.max(weight)


def equal_rows(weight: np.ndarray) -> float:
    """Return how many rows of equal weight estimate a mean as well as these (Kish 1965).

    >>> equal_rows(np.array([50.0, 50.0])), round(equal_rows(np.array([1e6, 1.0])), 6)
    (2.0, 1.000002)
    """
    share = weight / weight.sum()
    return float(1 / (share @ share))


def suffices(level: float, n: int, weight: np.ndarray | None = None) -> bool:
    """Whether n rows, or their weights beside a new row of weight 1, are enough for a level."""
    return bool(rank(n, level, weight) <= size_of(weight, n))


def _reached_by_sums(needed: Any, n: int) -> Any:
    """Return the needed weight, less what rounding may take from a sum of n weights."""
    return needed * (1 - (n + 4) * EPS)


def order_statistic(scores: np.ndarray, k: float, weight: np.ndarray | None = None) -> float:
    """Return the k-th smallest score; infinity when there are fewer than k.

    With weights, it is the smallest score up to which the weights sum to k.
    """
    if weight is not None:
        order = np.argsort(scores, kind="stable")
        reached = np.searchsorted(np.cumsum(weight[order]), _reached_by_sums(k, len(order)))
        return float(scores[order[reached]]) if reached < len(scores) else math.inf
    if k > len(scores):
        return math.inf
    return float(np.partition(scores, int(k) - 1)[int(k) - 1])


def coverage_rank(n: int, level: float, weight: np.ndarray | None = None) -> float:
    """Return how many of n rows, or how much of their weight, make up the share `level`.

    There is no finite-sample correction.
    """
    if weight is None:
        return math.ceil(exact(level) * n)
    return _reached_by_sums(float(exact(level)) * float(weight.sum()), n)


def beta_parameters(n: int, level: float) -> tuple[int, int]:
    """Return the two parameters of the Beta distribution that the coverage follows, given n rows.

    Another draw of n calibration rows gives another gamma1, and so another coverage of all new
    rows: this coverage is distributed as Beta(k, n + 1 - k), whatever the models. With too few rows
    for the level, k is n.

    >>> beta_parameters(99, 0.9)
    (90, 10)
    """
    k = capped_rank(n, level)
    return k, n - k + 1
