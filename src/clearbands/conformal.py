"""Rank, scores and order statistic: the finite-sample rules, each written once."""

from __future__ import annotations

import math

import numpy as np

from clearbands.levels import exact


class CalibrationWarning(UserWarning):
    """The calibration rows do not suffice for what was asked of them."""


def rank(n: int, level: float) -> int:
    """How many of n calibration rows must be covered; more than n when n is too small."""
    return math.ceil(exact(level) * (n + 1))


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


def order_statistic(scores: np.ndarray, k: int) -> float:
    """The k-th smallest score; infinite when there are fewer than k."""
    if k > len(scores):
        return math.inf
    return float(np.partition(scores, k - 1)[k - 1])


def coverage_rank(n: int, level: float) -> int:
    """How many of n rows make up the share `level`, without a finite-sample correction."""
    return math.ceil(exact(level) * n)


def beta_parameters(n: int, level: float) -> tuple[int, int]:
    """Of the Beta law that the coverage follows, given a calibration set of n rows.

    With too few rows for the level, those of covering all n.
    """
    k = min(rank(n, level), n)
    return k, n - k + 1
