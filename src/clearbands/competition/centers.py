"""Which centers are worth their members: judged with few members, on rows these did not see."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from clearbands.bagging import Draws, fit_bag, predict_unseen
from clearbands.center_models.on_gam import TreesOnGAM
from clearbands.center_models.symmetric import SymmetricTrees
from clearbands.levels import alpha, tails
from clearbands.presets import STAGES
from clearbands.progress import report
from clearbands.quantile_models.base import QuantileModel
from clearbands.quantiles import weighted_quantiles
from clearbands.split import Rows
from clearbands.weighting import mean_of

STAGE = "choosing a center"


class CenterStanding(NamedTuple):
    """A model, and how good it is on rows that it did not see."""

    name: str
    model: Any  # unfitted
    rmse: float
    mae: float
    loss: float  # of intervals of one width everywhere, calibrated; mean over the levels


def judge_centers(
    candidates: Mapping[str, Any],
    train: Rows,
    draws: Draws,
    levels: Sequence[float],
    *,
    n_jobs: int | None,
) -> list[CenterStanding]:
    """Every candidate on the same draws. One that fails is left out, with a warning."""
    standings: list[CenterStanding] = []
    failures: list[str] = []
    for done, (name, model) in enumerate(candidates.items(), start=1):
        try:
            standings.append(_judge(name, model, train, draws, levels, n_jobs))
        except (ValueError, ArithmeticError, np.linalg.LinAlgError, MemoryError) as error:
            failures.append(f"{name}: {error}")
            warnings.warn(f"The center {name!r} is left out: {error}", UserWarning, stacklevel=2)
        report(STAGE, done, len(candidates))
    if not standings:
        raise ValueError(f"No center could be fitted ({'; '.join(failures)}).")
    return standings


def choose_centers(standings: Sequence[CenterStanding], most: int) -> list[CenterStanding]:
    """The best, by the loss of intervals of one width everywhere."""
    return sorted(standings, key=lambda standing: standing.loss)[:most]


def _judge(
    name: str,
    model: Any,
    train: Rows,
    draws: Draws,
    levels: Sequence[float],
    n_jobs: int | None,
) -> CenterStanding:
    prepared = clone(model)
    if isinstance(prepared, QuantileModel):
        prepared.set_params(quantiles=(0.5,))
    judged = draws.unseen.any(axis=0)  # in the order of time the first rows are not
    rows, weight = train.take(np.flatnonzero(judged)), train.sample_weight
    bag: Any = fit_bag(
        prepared,
        train.X,
        train.y,
        draws,
        weight=weight,
        n_jobs=n_jobs,
        stage="judging a center",
    )
    if not isinstance(prepared, SymmetricTrees | TreesOnGAM):
        predicted = predict_unseen(bag, train.X, draws)[:, 0, 0]
        return _standing(name, prepared, rows, predicted[judged], levels)
    # One bag answers for fewer trees too, all at the learning rate of the full number.
    seen = draws.counts if weight is None else draws.counts * weight
    n_rows = float(seen.sum(axis=1, dtype=float).max())
    stages = [
        _standing(
            f"{name}, {n_trees} trees",
            prepared.shortened(n_trees, n_rows),
            rows,
            predict_unseen(bag.first(n_trees), train.X, draws)[judged, 0, 0],
            levels,
        )
        for n_trees in STAGES
    ]
    by_median = isinstance(prepared, SymmetricTrees) and prepared.loss == "absolute"
    return min(stages, key=lambda stage: stage.mae if by_median else stage.rmse)


def _standing(
    name: str, model: Any, rows: Rows, predicted: np.ndarray, levels: Sequence[float]
) -> CenterStanding:
    y, weight = rows.y, rows.sample_weight
    if predicted.shape != y.shape or not np.isfinite(predicted).all():
        raise ValueError("it predicts values that are not finite, or not one per row.")
    error = y - predicted
    with np.errstate(over="ignore"):
        rmse = float(np.sqrt(mean_of(error**2, weight)))
    loss = float(np.mean([_constant_loss(error, level, weight) for level in levels]))
    return CenterStanding(name, model, rmse, mean_of(np.abs(error), weight), loss)


def _constant_loss(error: np.ndarray, level: float, weight: np.ndarray | None) -> float:
    """Of bounds at the outer quantiles of the errors."""
    low, high = weighted_quantiles(error, tails(level), weight)
    outside = np.maximum(low - error, 0) + np.maximum(error - high, 0)
    return float(alpha(level) / 2 * (high - low) + mean_of(outside, weight)) / 2
