"""Rank, scores and order statistic: the finite-sample rules, each written once."""

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
    """How many of n calibration rows must be covered; more than n when n is too small.

    Of rows with weights (n,) it is how much of these, see `weighted_rank`.
    """
    return math.ceil(exact(level) * (n + 1)) if weight is None else weighted_rank(weight, level)


def level_of_rank(k: Any, size: float) -> Any:
    """The level that the k-th of `size` rows stands for: the inverse of `rank`.

    >>> level_of_rank(90, 99)
    0.9
    """
    return k / (size + 1)


def capped_rank(n: int, level: float) -> int:
    """The rank, or all n rows where they are too few for it: the paper's choice."""
    return min(rank(n, level), n)


def rows_needed(level: float) -> int:
    """The smallest n at which `rank` does not exceed n."""
    return math.ceil(exact(level) / (1 - exact(level)))


def ratio_scores(distance: np.ndarray, width: np.ndarray) -> np.ndarray:
    """The factor by which each width must grow to reach its row.

    A row at distance 0 is covered by any width (0/0 is 0); a width of 0 reaches no other row,
    whatever the factor (x/0 is infinite).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance == 0, 0.0, distance / width)


def signed_scores(excess: np.ndarray, width: np.ndarray) -> np.ndarray:
    """The multiple of each width, negative where there is room, that just makes up for `excess`.

    Where the width is 0, no multiple changes anything: what reaches its row already (an excess of
    at most 0) needs none (minus infinity), what does not is beyond any (infinity).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(width == 0, np.where(excess > 0, np.inf, -np.inf), excess / width)


def weighted_rank(weight: np.ndarray, level: float, new_weight: Any = 1.0) -> Any:
    """How much of the weight must be covered; more than there is when it is too little.

    The row to predict counts with `new_weight` (Tibshirani et al. 2019), or several rows with one
    each. Whole numbers as weights give the rank of rows that are repeated so many times. Weights
    that were rounded, as a third is, reach it in whatever order they are summed.
    """
    needed = float(exact(level)) * (float(weight.sum()) + new_weight)
    return _reached_by_sums(needed, len(weight))


def per_heaviest(weight: np.ndarray) -> np.ndarray:
    """The weights beside a new row that is as heavy as the heaviest of them, and counts 1.

    A guarantee takes weights so: rows that all count 50 times are as many as they are, not 50 times
    as many, since the copies of a row tell nothing that it does not.
    """
    return weight / np.max(weight)


def equal_rows(weight: np.ndarray) -> float:
    """How many rows of equal weight tell as much of a mean as rows of these weights (Kish 1965).

    >>> equal_rows(np.array([50.0, 50.0])), round(equal_rows(np.array([1e6, 1.0])), 6)
    (2.0, 1.000002)
    """
    share = weight / weight.sum()
    return float(1 / (share @ share))


def suffices(level: float, n: int, weight: np.ndarray | None = None) -> bool:
    """Whether n rows, or their weights beside a new row of weight 1, are enough for a level."""
    return bool(rank(n, level, weight) <= size_of(weight, n))


def _reached_by_sums(needed: Any, n: int) -> Any:
    """As much less as n weights and their sum may have been rounded."""
    return needed * (1 - (n + 4) * EPS)


def order_statistic(scores: np.ndarray, k: float, weight: np.ndarray | None = None) -> float:
    """The k-th smallest score; infinite when there are fewer than k.

    With weights, the smallest score up to which there is a weight of k.
    """
    if weight is not None:
        order = np.argsort(scores, kind="stable")
        reached = np.searchsorted(np.cumsum(weight[order]), _reached_by_sums(k, len(order)))
        return float(scores[order[reached]]) if reached < len(scores) else math.inf
    if k > len(scores):
        return math.inf
    return float(np.partition(scores, int(k) - 1)[int(k) - 1])


def coverage_rank(n: int, level: float, weight: np.ndarray | None = None) -> float:
    """How many of n rows, or how much of their weight, make up the share `level`.

    Without a finite-sample correction.
    """
    if weight is None:
        return math.ceil(exact(level) * n)
    return _reached_by_sums(float(exact(level)) * float(weight.sum()), n)


def beta_parameters(n: int, level: float) -> tuple[int, int]:
    """The two parameters of the Beta distribution that the coverage follows, given n rows.

    Drawn anew, n calibration rows give another gamma1 and so another coverage of all new rows:
    its distribution is Beta(k, n + 1 - k), whatever the models. With too few rows for the level,
    k is n.

    >>> beta_parameters(99, 0.9)
    (90, 10)
    """
    k = capped_rank(n, level)
    return k, n - k + 1
