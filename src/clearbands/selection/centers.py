"""Which centers are worth their members: judged with few members, on rows these did not see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

from clearbands.engine.progress import report
from clearbands.engine.quantiles import weighted_quantiles
from clearbands.models.bagging import Draws, fit_bag, predict_unseen
from clearbands.models.mixture import Mixture
from clearbands.models.pools import STAGES
from clearbands.models.quantile_model import QuantileModel
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.models.trees_on_smooth import TreesOnSmooth
from clearbands.rows.failures import Failures
from clearbands.rows.levels import alpha, tails
from clearbands.rows.split import Rows
from clearbands.rows.weighting import mean_of

STAGE = "choosing a center"


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


def judge_centers(
    candidates: Mapping[str, Any],
    train: Rows,
    draws: Draws,
    levels: Sequence[float],
    *,
    n_jobs: int | None,
) -> list[JudgedCenter]:
    """Every candidate on the same draws. One that fails is left out, with a warning."""
    judged: list[JudgedCenter] = []
    failures = Failures()
    for done, (name, model) in enumerate(candidates.items(), start=1):
        with failures.leaving_out(f"The center {name!r}"):
            judged.append(_judge(name, model, train, draws, levels, n_jobs))
        report(STAGE, done, len(candidates))
    if not judged:
        raise failures.none_left("No center could be fitted")
    return judged


def rank_centers(judged: Sequence[JudgedCenter]) -> tuple[CenterStanding, ...]:
    """The best first, by the loss of intervals of one width everywhere."""
    return tuple(sorted((each.standing for each in judged), key=lambda standing: standing.loss))


def mix(
    judged: Sequence[JudgedCenter], rows: Rows, levels: Sequence[float], most: int
) -> JudgedCenter | None:
    """The mean of at most so many, some of them more than once, with the least squared error.

    One after the other, each time the one that helps most (Caruana et al. 2004). None where one
    alone is best.
    """
    chosen: list[int] = []
    y, weight = rows.y, rows.sample_weight
    total, best = np.zeros(len(y)), (np.inf, 0)
    for step in range(1, 2 * most + 1):
        allowed = sorted(set(chosen)) if len(set(chosen)) == most else range(len(judged))
        errors = {
            k: _mean_square(y - (total + judged[k].predicted) / step, weight) for k in allowed
        }
        added = min(errors, key=errors.__getitem__)
        chosen.append(added)
        total = total + judged[added].predicted
        best = min(best, (errors[added], step))
    shares = np.bincount(chosen[: best[1]], minlength=len(judged)) / best[1]
    kept: list[int] = sorted(set(chosen[: best[1]]), key=lambda k: -shares[k])
    if len(kept) == 1:
        return None
    standings = [judged[k].standing for k in kept]
    parts = zip(shares[kept], standings, strict=True)
    name = " + ".join(f"{share:.0%} {standing.name}" for share, standing in parts)
    model = Mixture([standing.model for standing in standings], shares[kept].tolist())
    predicted = np.sum([shares[k] * judged[k].predicted for k in kept], axis=0)
    return _measure(name, model, rows, predicted, levels)


def _mean_square(error: np.ndarray, weight: np.ndarray | None) -> float:
    with np.errstate(over="ignore"):
        return mean_of(error**2, weight)


def _judge(
    name: str,
    model: BaseEstimator,
    train: Rows,
    draws: Draws,
    levels: Sequence[float],
    n_jobs: int | None,
) -> JudgedCenter:
    prepared = clone(model)
    if isinstance(prepared, QuantileModel):
        prepared.set_params(quantiles=(0.5,))
    judged, rows = draws.unseen.any(axis=0), judged_rows(train, draws)
    bag: Any = fit_bag(
        prepared,
        train.X,
        train.y,
        draws,
        weight=train.sample_weight,
        groups=train.groups,
        n_jobs=n_jobs,
        stage="judging a center",
    )
    if isinstance(prepared, SymmetricTrees | TreesOnSmooth):
        stages = _stages(name, prepared, bag, train, draws, levels)
        by_median = isinstance(prepared, SymmetricTrees) and prepared.loss == "absolute"
        return min(
            stages, key=lambda stage: stage.standing.mae if by_median else stage.standing.rmse
        )
    predicted = predict_unseen(bag, train.X, draws)[judged, 0, 0]
    return _measure(name, prepared, rows, predicted, levels)


def judged_rows(train: Rows, draws: Draws) -> Rows:
    """Those that some member did not see: in the order of time the first rows are not."""
    return train.take(np.flatnonzero(draws.unseen.any(axis=0)))


def _stages(
    name: str,
    model: SymmetricTrees | TreesOnSmooth,
    bag: Any,
    train: Rows,
    draws: Draws,
    levels: Sequence[float],
) -> list[JudgedCenter]:
    """One bag answers for fewer trees too, all at the learning rate of the full number.

    What is smooth answers without any.
    """
    judged, rows = draws.unseen.any(axis=0), judged_rows(train, draws)
    found, before, trees, joint = [], np.zeros(len(rows)), bag, "with"
    if isinstance(model, TreesOnSmooth):
        smooth, trees = bag.bags
        before, joint = predict_unseen(smooth, train.X, draws)[judged, 0, 0], "and"
        found.append(_measure(name, model.smooth_model(), rows, before, levels))
    weight = train.sample_weight
    seen = draws.counts if weight is None else draws.counts * weight
    n_rows = float(seen.sum(axis=1, dtype=float).max())
    for n_trees in STAGES:
        predicted = before + predict_unseen(trees.first(n_trees), train.X, draws)[judged, 0, 0]
        shorter = model.shortened(n_trees, n_rows)
        found.append(_measure(f"{name} {joint} {n_trees} trees", shorter, rows, predicted, levels))
    return found


def _measure(
    name: str, model: BaseEstimator, rows: Rows, predicted: np.ndarray, levels: Sequence[float]
) -> JudgedCenter:
    y, weight = rows.y, rows.sample_weight
    if predicted.shape != y.shape or not np.isfinite(predicted).all():
        raise ValueError("it predicts values that are not finite, or not one per row.")
    error = y - predicted
    rmse = float(np.sqrt(_mean_square(error, weight)))
    loss = float(np.mean([_constant_loss(error, level, weight) for level in levels]))
    standing = CenterStanding(name, model, rmse, mean_of(np.abs(error), weight), loss)
    return JudgedCenter(standing, predicted)


def _constant_loss(error: np.ndarray, level: float, weight: np.ndarray | None) -> float:
    """Of bounds at the outer quantiles of the errors."""
    low, high = weighted_quantiles(error, tails(level), weight)
    outside = np.maximum(low - error, 0) + np.maximum(error - high, 0)
    return float(alpha(level) / 2 * (high - low) + mean_of(outside, weight)) / 2
