"""Confidence levels: checks, lookup, exact fractions, and the quantile levels that they need."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np

NEAREST = 1e-9
"""Levels nearer to 0 or 1 are taken for it: no number of rows tells them apart."""


def check_one_level(confidence_level: float) -> float:
    levels = check_levels(confidence_level)
    if len(levels) != 1:
        raise ValueError(f"One confidence level at a time, got {confidence_level!r}.")
    return levels[0]


def check_levels(confidence_level: float | Sequence[float]) -> tuple[float, ...]:
    """The levels as a tuple of floats, in the order given, or an error that says what is wrong."""
    listed = [confidence_level] if isinstance(confidence_level, Real) else confidence_level
    if isinstance(listed, str) or not np.iterable(listed):
        raise TypeError(
            f"confidence_level must be a number or a list of numbers, got {confidence_level!r}."
        )
    levels = tuple(_check_level(level) for level in listed)
    if not levels:
        raise ValueError("confidence_level is an empty list; give at least one level such as 0.9.")
    if len(set(levels)) < len(levels):
        raise ValueError(f"confidence_level names a level twice: {confidence_level!r}.")
    return levels


def _check_level(level: object) -> float:
    if not isinstance(level, Real) or isinstance(level, bool | np.bool_):
        raise TypeError(f"A confidence level must be a number between 0 and 1, got {level!r}.")
    value = float(level)
    if NEAREST <= value <= 1 - NEAREST:
        return value
    hint = f" Did you mean {value / 100:g}?" if 1 < value < 100 else ""
    raise ValueError(f"confidence_level must lie strictly between 0 and 1, got {level!r}.{hint}")


def check_quantiles(quantiles: Sequence[float] | np.ndarray) -> np.ndarray:
    """The quantile levels as an array, or an error that says what is wrong with them."""
    levels = np.asarray(quantiles, float)
    if levels.ndim != 1 or len(levels) == 0:
        raise ValueError(
            f"quantiles must be a list of numbers such as (0.05, 0.5, 0.95), got {quantiles!r}."
        )
    inside = np.all((levels >= NEAREST) & (levels <= 1 - NEAREST))
    if not (inside and np.all(np.diff(levels) > 0)):
        raise ValueError(
            f"quantiles must rise and lie strictly between 0 and 1, got {quantiles!r}."
        )
    return levels


def check_tails(tails: object) -> tuple[float, float]:
    """The shares of targets below and above an interval, or an error that says what is wrong."""
    shares = tuple(tails) if np.iterable(tails) and not isinstance(tails, str) else ()
    if len(shares) == 2 and all(isinstance(share, Real) for share in shares):
        below, above = float(shares[0]), float(shares[1])
        parts = [share for share in (below, above) if share != 0]
        inside = all(NEAREST <= share <= 1 - NEAREST for share in parts)
        if parts and inside and below + above <= 1 - NEAREST:
            return below, above
    raise ValueError(
        "tails must be the shares of targets below and above, such as (0.02, 0.08), that add up to "
        f"less than 1; got {tails!r}."
    )


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
