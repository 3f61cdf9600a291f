"""How close the predictions are on the rows of the report, and what their widths are worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clearbands.apps.report.facts import Facts
from clearbands.calibration.conformal import order_statistic
from clearbands.metrics import interval_score
from clearbands.uncertainty.bands import covered, make_interval


@dataclass(frozen=True)
class Errors:
    """Of the prediction alone."""

    mae: float
    rmse: float
    r2: float | None  # None where all true values are equal


@dataclass(frozen=True)
class Widths:
    """Of one kind of interval around the same predictions."""

    mean: float
    n_covered: int
    interval_score: float


def errors(facts: Facts) -> Errors:
    """Of the report's own rows."""
    off = facts.y - facts.parts.center
    variance = float(np.var(facts.y))
    mse = float(np.mean(off**2))
    return Errors(
        float(np.mean(np.abs(off))), mse**0.5, 1 - mse / variance if variance > 0 else None
    )


def own_widths(facts: Facts) -> Widths:
    """What the model says."""
    return _widths(facts, facts.widths.sum(axis=1), facts.interval)


def constant_width(facts: Facts) -> Widths:
    """One width for all rows, the least that holds as many of these very rows as the model's.

    It is chosen in hindsight, which favours it: no method could have known it beforehand.
    """
    n_covered = int(np.sum(facts.inside))
    off = np.abs(facts.y - facts.parts.center)
    half = order_statistic(off, n_covered) if n_covered else 0.0
    both = np.full((len(off), 2), half)
    return _widths(facts, both.sum(axis=1), make_interval(facts.parts.center, both))


def _widths(facts: Facts, widths: np.ndarray, interval: np.ndarray) -> Widths:
    return Widths(
        float(np.mean(widths)),
        int(np.sum(covered(facts.y, interval))),
        interval_score(facts.y, interval, facts.confidence_level),
    )
