"""Confidence levels: their lookup, exact fractions, and the quantile levels that they need."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from clearbands.rows.checks import check_levels


def find_level(fitted: Any, confidence_level: float | None) -> int:
    """Return the position of a level among those the model was fitted at; None is the first."""
    if confidence_level is None:
        return 0
    (level,) = check_levels(confidence_level)
    place = same_level(fitted, level)
    if place is None:
        known = ", ".join(f"{value:g}" for value in fitted)
        raise ValueError(f"The model was not fitted at level {level!r}; it has {known}.")
    return place


def same_level(fitted: Any, level: float) -> int | None:
    """Return the position of a level among the fitted ones, up to rounding, or None."""
    (matches,) = np.nonzero(np.isclose(fitted, level, rtol=0, atol=1e-9))
    return int(matches[0]) if len(matches) else None


def exact(level: float) -> Fraction:
    """Return the fraction that is meant: 19/20 for 0.95, and for 1 - 0.05 in floating point."""
    return Fraction(level).limit_denominator(10**9)


def level_name(level: float) -> str:
    """Write a level in percent, as part of the name of a column.

    >>> level_name(0.9), level_name(1 - 0.05), level_name(0.975)
    ('90', '95', '97.5')
    """
    return f"{float(100 * exact(level)):.10g}"


def alpha(level: float) -> float:
    """Return 1 - level without the rounding error of 1 - 0.95."""
    return float(1 - exact(level))


@lru_cache(maxsize=1024)  # for a single row, fractions take longer than everything else
def tails(level: float) -> tuple[float, float]:
    """Return the two quantile levels that enclose the share `level`: alpha/2 and 1 - alpha/2."""
    half = (1 - exact(level)) / 2
    return float(half), float(1 - half)


def curve_levels(levels: Sequence[float]) -> tuple[float, ...]:
    """Return the rising quantile levels of the median and of both tails of every level."""
    return tuple(sorted({0.5}.union(*map(tails, levels))))


def normal_distances(levels: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return how many standard deviations (k,) of a normal distribution enclose each level."""
    from scipy.special import ndtri

    return ndtri(np.array([tails(level)[1] for level in levels]))


def pick_curves(curves: np.ndarray, levels: Sequence[float]) -> tuple[np.ndarray, ...]:
    """Return the median (n, ...) and the lower and upper quantiles (n, k, ...) of every level.

    `curves` (n, q, ...) are the quantiles at `curve_levels(levels)`.
    """
    quantiles = curve_levels(levels)
    lower, upper = zip(
        *([quantiles.index(t) for t in tails(level)] for level in levels), strict=True
    )
    return curves[:, quantiles.index(0.5)], curves[:, list(lower)], curves[:, list(upper)]
