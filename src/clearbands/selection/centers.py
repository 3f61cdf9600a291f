"""How good centers are on rows that their members did not see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from clearbands.engine.quantiles import weighted_quantiles
from clearbands.models.mixture import Mixture
from clearbands.rows.levels import alpha, tails
from clearbands.rows.weighting import mean_of


class CenterStanding(NamedTuple):
    """A model, and how good it is on rows that it did not see."""

    name: str
    model: BaseEstimator  # unfitted
    rmse: float
    mae: float
    loss: float  # of intervals of one width everywhere, calibrated; mean over the levels


class JudgedCenter(NamedTuple):
    """A standing, and what it was judged by."""

    standing: CenterStanding
    predicted: np.ndarray  # (n,): of the rows that choose


def mix(
    judged: Sequence[JudgedCenter],
    y: np.ndarray,
    weight: np.ndarray | None,
    levels: Sequence[float],
    most: int,
) -> JudgedCenter | None:
    """The mean of at most so many, some of them more than once, with the least squared error.

    One after the other, each time the one that helps most (Caruana et al. 2004). None where one
    alone is best. y and `weight` (n,) are those of the rows that all were judged on.
    """
    chosen: list[int] = []
    total, best = np.zeros(len(y)), (np.inf, 0)
    for step in range(1, 2 * most + 1):
        allowed = sorted(set(chosen)) if len(set(chosen)) == most else range(len(judged))
        errors = {k: mean_square(y - (total + judged[k].predicted) / step, weight) for k in allowed}
        added = min(errors, key=errors.__getitem__)
        chosen.append(added)
        total = total + judged[added].predicted
        best = min(best, (errors[added], step))
    shares = np.bincount(chosen[: best[1]], minlength=len(judged)) / best[1]
    mixed: list[int] = sorted(set(chosen[: best[1]]), key=lambda k: -shares[k])
    if len(mixed) == 1:
        return None
    standings = [judged[k].standing for k in mixed]
    parts = zip(shares[mixed], standings, strict=True)
    name = " + ".join(f"{share:.0%} {standing.name}" for share, standing in parts)
    model = Mixture([standing.model for standing in standings], shares[mixed].tolist())
    predicted = np.sum([shares[k] * judged[k].predicted for k in mixed], axis=0)
    return measure_center(name, model, y, predicted, weight, levels)


def measure_center(
    name: str,
    model: BaseEstimator,
    y: np.ndarray,
    predicted: np.ndarray,
    weight: np.ndarray | None,
    levels: Sequence[float],
) -> JudgedCenter:
    """How good predictions (n,) of rows are that their model did not see."""
    error = y - predicted
    rmse = float(np.sqrt(mean_square(error, weight)))
    loss = mean_of(constant_width_losses(error, levels, weight), weight)
    standing = CenterStanding(name, model, rmse, mean_of(np.abs(error), weight), loss)
    return JudgedCenter(standing, predicted)


def mean_square(error: np.ndarray, weight: np.ndarray | None) -> float:
    """In which a row counts as its weight says."""
    with np.errstate(over="ignore"):
        return mean_of(error**2, weight)


def constant_width_losses(
    error: np.ndarray, levels: Sequence[float], weight: np.ndarray | None
) -> np.ndarray:
    """(n,): the quantile loss of bounds at the outer quantiles of the errors, mean over levels."""
    losses = []
    for level in levels:
        low, high = weighted_quantiles(error, tails(level), weight)
        outside = np.maximum(low - error, 0) + np.maximum(error - high, 0)
        losses.append((alpha(level) / 2 * (high - low) + outside) / 2)
    return np.mean(losses, axis=0)
