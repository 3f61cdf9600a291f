"""A race between centers: a few members judge each center on rows that they did not see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

from clearbands.engine.progress import report
from clearbands.engine.quantiles import weighted_quantiles
from clearbands.models.bagging import check_model, fit_bag, predict_unseen, start_bag
from clearbands.models.mixture import Mixture
from clearbands.models.pools import STAGES
from clearbands.models.protocol import coarser
from clearbands.models.quantile_model import QuantileModel
from clearbands.rows.draws import Draws
from clearbands.rows.levels import alpha, tails
from clearbands.rows.messages import Failures
from clearbands.rows.split import Rows
from clearbands.rows.weighting import mean_of

STAGE = "choosing a center"


class CenterScore(NamedTuple):
    """A model, and how good it is on rows that it did not see."""

    name: str
    model: BaseEstimator  # unfitted
    rmse: float
    mae: float
    loss: float  # the quantile loss of calibrated intervals of one width, mean over the levels


class JudgedCenter(NamedTuple):
    """A center's score, and the predictions that it was judged by."""

    score: CenterScore
    predicted: np.ndarray  # (n,): predictions of the rows that choose
    seconds: float = 0.0  # the time that one member took


def race_centers(
    candidates: Mapping[str, Any],
    train: Rows,
    draws: Draws,
    levels: Sequence[float],
    *,
    n_jobs: int | None,
    most: int,
    fewest: int = 1,
) -> tuple[list[JudgedCenter], list[JudgedCenter]]:
    """Judge candidates on rows that members of `draws` did not see; return winners and losers.

    Both lists are in order, best first. At most `most` centers win: the best one, and those whose
    mean with it errs less than it does alone; in any case the `fewest` whose mean errs least. A
    candidate that fails is left out with a warning.
    """
    failures, judged = Failures(), []
    for done, (name, model) in enumerate(candidates.items(), start=1):
        started = perf_counter()
        with failures.leaving_out(f"The center {name!r}"):
            center = judge_center(name, model, train, draws, levels, n_jobs=n_jobs)
            seconds = (perf_counter() - started) / len(draws)
            judged.append(center._replace(seconds=seconds))
        report(STAGE, done, len(candidates))
    if not judged:
        raise failures.none_left("No center could be fitted")
    judged.sort(key=lambda each: each.score.loss)
    rows = _judged_rows(train, draws)
    ranks = _ranks_to_mix(judged, rows.y, rows.sample_weight, levels, most, fewest)
    finalists = [judged[rank] for rank in sorted(ranks)]
    return finalists, [each for rank, each in enumerate(judged) if rank not in ranks]


def _ranks_to_mix(
    ranked: Sequence[JudgedCenter],
    y: np.ndarray,
    weight: np.ndarray | None,
    levels: Sequence[float],
    most: int,
    fewest: int,
) -> list[int]:
    """Return the ranks of the best center and of those whose mean with it has the least loss.

    Centers are added one after the other, each time the one that helps most, until there are
    `most`. One that does not help is added only while there are fewer than `fewest`.
    """
    chosen, total, least = [0], ranked[0].predicted, ranked[0].score.loss
    others = list(range(1, len(ranked)))
    while others and len(chosen) < most:
        errors = (y - (total + ranked[k].predicted) / (len(chosen) + 1) for k in others)
        losses = [constant_width_loss(e, levels, weight) for e in errors]
        helpful = int(np.argmin(losses))
        if len(chosen) >= fewest and not losses[helpful] < least:
            break
        least = losses[helpful]
        chosen.append(others.pop(helpful))
        total = total + ranked[chosen[-1]].predicted
    return chosen


def judge_center(
    name: str,
    model: BaseEstimator,
    train: Rows,
    draws: Draws,
    levels: Sequence[float],
    *,
    n_jobs: int | None,
) -> JudgedCenter:
    """Judge one candidate, with the number of trees that errs least.

    While it is judged, a model that can be coarser is made coarser.
    """
    if isinstance(model, QuantileModel):
        model = clone(model).set_params(quantiles=(0.5,))
    check_model(model)
    by_median = getattr(model, "loss", "squared") == "absolute"
    rows = _judged_rows(train, draws)

    def error_of(predicted: np.ndarray) -> float:
        error = rows.y - predicted
        if by_median:
            return mean_of(np.abs(error), rows.sample_weight)
        return mean_square(error, rows.sample_weight)

    best: tuple[float, int | None, np.ndarray] | None = None
    for n_trees, predicted in _predictions_by_stage(coarser(model), train, draws, n_jobs):
        if not np.isfinite(predicted).all():
            raise ValueError("it predicts values that are not finite, or not one per row.")
        error = error_of(predicted)
        if best is None or error < best[0]:
            best = error, n_trees, predicted
        elif n_trees:
            break  # the error no longer falls: no more trees are grown
    assert best is not None
    _, n_trees, predicted = best
    if n_trees == 0:
        model = model.smooth_model()
    elif n_trees is not None:
        joint = "and" if hasattr(model, "smooth_model") else "with"
        name = f"{name} {joint} {n_trees} trees"
        model = model.shortened(n_trees, _largest_training_size(train, draws))
    return measure_center(name, model, rows.y, predicted, rows.sample_weight, levels)


def _predictions_by_stage(
    model: Any, train: Rows, draws: Draws, n_jobs: int | None
) -> Iterator[tuple[int | None, np.ndarray]]:
    """Yield numbers of trees (None for other models) and predictions of the judged rows (n,)."""
    X, y, judged = train.X, train.y, draws.unseen.any(axis=0)
    options: dict[str, Any] = {"n_jobs": n_jobs, "stage": "judging a center"}
    labels: dict[str, Any] = {"weight": train.sample_weight, "groups": train.groups}

    def predict_judged(bag: Any) -> np.ndarray:
        return predict_unseen(bag, X, draws)[judged, 0, 0]

    if not hasattr(model, "start_bag"):
        yield None, predict_judged(fit_bag(model, X, y, draws, **labels, **options))
        return
    growing = start_bag(model, X, y, draws, **labels, **options)
    before, has_smooth = np.zeros(np.count_nonzero(judged)), hasattr(growing, "smooth")
    if has_smooth:
        before = predict_judged(growing.smooth)
        yield 0, before
    for n_trees in stages_of(model):
        bag = growing.grow(n_trees, **options)
        yield n_trees, before + predict_judged(bag.bags[1] if has_smooth else bag)


def stages_of(model: Any) -> list[int]:
    """Return the numbers of trees to try, up to that of the model."""
    most = getattr(model, "trees", model).n_trees
    return [*(n_trees for n_trees in STAGES if n_trees < most), most]


def _judged_rows(train: Rows, draws: Draws) -> Rows:
    """Return the rows that some member did not see; in the order of time all saw the first rows."""
    return train.take(np.flatnonzero(draws.unseen.any(axis=0)))


def _largest_training_size(train: Rows, draws: Draws) -> float:
    """Return how many rows the largest member was fitted on."""
    weight = train.sample_weight
    seen = draws.counts if weight is None else draws.counts * weight
    return float(seen.sum(axis=1, dtype=float).max())


def mix_centers(
    judged: Sequence[JudgedCenter],
    y: np.ndarray,
    weight: np.ndarray | None,
    levels: Sequence[float],
    most: int,
) -> JudgedCenter | None:
    """Return the mean of at most `most` centers that errs least; None if one alone is best.

    Centers are added one after the other, some of them more than once, each time the one that helps
    most (Caruana et al. 2004). y and `weight` (n,) belong to the rows that all centers were judged
    on.
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
    scores = [judged[k].score for k in mixed]
    parts = zip(shares[mixed], scores, strict=True)
    name = " + ".join(f"{share:.0%} {score.name}" for share, score in parts)
    model = Mixture([score.model for score in scores], shares[mixed].tolist())
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
    """Score the predictions (n,) of rows that the model did not see."""
    error = y - predicted
    rmse = float(np.sqrt(mean_square(error, weight)))
    mae = mean_of(np.abs(error), weight)
    loss = constant_width_loss(error, levels, weight)
    return JudgedCenter(CenterScore(name, model, rmse, mae, loss), predicted)


def mean_square(error: np.ndarray, weight: np.ndarray | None) -> float:
    """Return the mean square; each row counts as its weight says."""
    with np.errstate(over="ignore"):
        return mean_of(error**2, weight)


def constant_width_loss(
    error: np.ndarray, levels: Sequence[float], weight: np.ndarray | None
) -> float:
    """Return the quantile loss of bounds at the outer quantiles of the errors, mean over levels."""
    losses = []
    for level in levels:
        low, high = weighted_quantiles(error, tails(level), weight)
        outside = np.maximum(low - error, 0) + np.maximum(error - high, 0)
        losses.append((alpha(level) / 2 * (high - low) + outside) / 2)
    return mean_of(np.mean(losses, axis=0), weight)
