"""Confidence levels: checked at the door, exact inside."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np


def check_levels(confidence_level: float | Sequence[float]) -> tuple[float, ...]:
    """The levels as a tuple of floats, in the order given, or an error that says what is wrong."""
    given = [confidence_level] if isinstance(confidence_level, Real) else confidence_level
    if isinstance(given, str) or not np.iterable(given):
        raise TypeError(
            f"confidence_level must be a number or a list of numbers, got {confidence_level!r}."
        )
    levels = tuple(_check_level(level) for level in given)
    if not levels:
        raise ValueError("confidence_level is an empty list; give at least one level such as 0.9.")
    if len(set(levels)) < len(levels):
        raise ValueError(f"confidence_level names a level twice: {confidence_level!r}.")
    return levels


def _check_level(level: object) -> float:
    if not isinstance(level, Real) or isinstance(level, bool | np.bool_):
        raise TypeError(f"A confidence level must be a number between 0 and 1, got {level!r}.")
    value = float(level)
    if 0 < value < 1:
        return value
    hint = f" Did you mean {value / 100:g}?" if 1 < value < 100 else ""
    raise ValueError(f"confidence_level must lie strictly between 0 and 1, got {level!r}.{hint}")


def find_level(fitted: Any, confidence_level: float | None) -> int:
    """Where among the levels a model was fitted at the asked one is; None asks for the first."""
    if confidence_level is None:
        return 0
    (level,) = check_levels(confidence_level)
    (matches,) = np.nonzero(np.isclose(fitted, level, rtol=0, atol=1e-9))
    if len(matches) == 0:
        known = ", ".join(f"{value:g}" for value in fitted)
        raise ValueError(f"The model was not fitted at level {level!r}; it has {known}.")
    return int(matches[0])


def exact(level: float) -> Fraction:
    """The fraction that was meant: 0.95 is 19/20, and so is 1 - 0.05 in floating point."""
    return Fraction(level).limit_denominator(10**9)


def alpha(level: float) -> float:
    """1 - level without the rounding of 1 - 0.95."""
    return float(1 - exact(level))


def tails(level: float) -> tuple[float, float]:
    """The two quantile levels that enclose the share `level`: alpha/2 and 1 - alpha/2."""
    half = (1 - exact(level)) / 2
    return float(half), float(1 - half)


def curve_levels(levels: Sequence[float]) -> tuple[float, ...]:
    """The rising quantile levels of the median and of both tails of every level."""
    return tuple(sorted({0.5}.union(*map(tails, levels))))


def normal_distances(levels: Sequence[float]) -> np.ndarray:
    """(k,): how many standard deviations from its mean a normal law encloses each level."""
    from scipy.special import ndtri

    return ndtri(np.array([tails(level)[1] for level in levels]))
