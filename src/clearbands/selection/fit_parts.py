"""How parts are fitted on training rows: which parts, and what the noise learns from the center."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from clearbands.models.center_model import has_capability, models_with
from clearbands.models.monotone import FixedColumns
from clearbands.models.pools import STAGES, match_quantile_model
from clearbands.models.protocol import finer, fit_weighted, repeated
from clearbands.models.seeds import seed_missing
from clearbands.rows.draws import Chain, Draws, Folds
from clearbands.rows.frames import is_frame
from clearbands.rows.split import Rows
from clearbands.rows.time_order import time_blocks
from clearbands.rows.typed import TableLike
from clearbands.selection.centers import JudgedCenter, mix_centers, race_centers
from clearbands.selection.compete import ChosenParts, Competition, TimeLeft, draw_rows
from clearbands.selection.model_search import ModelSearch, search_within
from clearbands.selection.plan import Plan
from clearbands.uncertainty.aleatoric import AleatoricPart, ResampledPart
from clearbands.uncertainty.epistemic import CrossPart, EpistemicPart, OutOfBagEnsemble
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble
from clearbands.uncertainty.pairs import Pair, Part, configured_clone
from clearbands.uncertainty.resampled import resampled, resampled_noise

GIVEN = "given"  # the name of a part in the leaderboard that had no rival


def fit_parts(
    plan: Plan, train: Rows, choosing: Rows | None, rng: np.random.RandomState
) -> ChosenParts:
    """Fit the parts, so that rows remain which judge them: other rows, or unseen training rows.

    `choosing` are separate rows that choose between parts; None if all rows train.
    """
    if choosing is not None and plan.is_given:
        return ChosenParts(_fit_pair(plan, train, choosing, rng))
    return fit_on_all(plan, train, rng)


def fit_on_all(plan: Plan, train: Rows, rng: np.random.RandomState) -> ChosenParts:
    """Fit the parts so that some members do not see a row; a part that was given has no rival."""
    search = _search(plan, train)
    if plan.epistemic is not None:
        part = _as_cross_part(plan, _directed(plan, plan.epistemic))
        centers = {GIVEN: _configured_clone(plan, part, rng)}
        ranked, reserves, time_left = [], {}, TimeLeft()
    else:
        started = perf_counter()
        finalists, beaten = _race(plan, train, search, rng)
        time_left = _time_left(search, train, finalists, perf_counter() - started)
        centers = _ensembles(plan, train, search, finalists, rng) | _centers_without_race(
            plan, search, rng
        )
        # Reserves draw seeds from a copy: whatever competes in the end does not depend on them.
        reserves = _ensembles(plan, train, search, beaten, copy.deepcopy(rng))
        ranked = [*finalists, *beaten]
        time_left.announce()
    competition = Competition(
        train,
        {**centers, **reserves},
        _noises(plan, search, rng),
        plan.levels,
        search,
        visible=_visible(plan, train.X),
        learns_target=plan.aleatoric is not None and plan.residuals == "target",
        fixed=_fixed_columns(plan, train),
        time_left=time_left,
    )
    chosen = competition.run(len(centers), rng)
    scores = tuple(each.score for each in ranked)
    return chosen._replace(centers=scores, search=search)


def _search(plan: Plan, train: Rows) -> ModelSearch:
    """Return the rules that were given, or the default rules that fit into the time."""
    if plan.search is not None:
        return plan.search
    if plan.time_budget is None:
        return ModelSearch()
    return search_within(plan.time_budget, train, plan.n_jobs)


def _configured_clone(plan: Plan, part: Part, rng: np.random.RandomState) -> Part:
    return configured_clone(part, plan.levels, plan.n_jobs, rng)


def _race(
    plan: Plan, train: Rows, search: ModelSearch, rng: np.random.RandomState
) -> tuple[list[JudgedCenter], list[JudgedCenter]]:
    """Return the centers that noise is learned around, and those that lost the race.

    A mean of the winners is added to them if it errs less than each of them.
    """
    judges = draw_rows(train, search.judging_rows, rng)
    n_rows, n_columns = len(train), train.X.shape[1]
    draws = _race_draws(plan, judges, n_columns, search, _n_units(train), rng)
    models = {
        name: seed_missing(clone(model), rng)
        for name, model in _candidates(plan, search, n_rows, n_columns).items()
    }
    finalists, beaten = race_centers(
        models,
        judges,
        draws,
        plan.levels,
        n_jobs=plan.n_jobs,
        most=search.n_centers_for(n_rows, n_columns),
        fewest=search.fewest_centers_for(n_rows, n_columns),
    )
    judged = judges.take(np.flatnonzero(draws.unseen.any(axis=0)))
    mixture = mix_centers(finalists, judged.y, judged.sample_weight, plan.levels, search.mixed)
    if mixture is not None:
        finalists = sorted([*finalists, mixture], key=lambda each: each.score.loss)
    return finalists, beaten


def _ensembles(
    plan: Plan,
    train: Rows,
    search: ModelSearch,
    centers: Sequence[JudgedCenter],
    rng: np.random.RandomState,
) -> dict[str, CrossPart]:
    """Return unfitted ensembles of centers that ran the race, of as many members as rows need."""
    n_rows, n_columns = len(train), train.X.shape[1]
    n_folds = search.folds_for(n_rows, n_columns, _n_units(train))
    n_repeats = search.repeats_for(n_rows)
    parts = {}
    for score in (each.score for each in centers):
        model = repeated(score.model, 1 / n_repeats)
        if search.is_finer(n_rows):
            model = finer(model, n_columns)
        ensemble = FoldedEnsemble(model, n_folds, n_repeats)
        parts[score.name] = _configured_clone(plan, _as_cross_part(plan, ensemble), rng)
    return parts


def _centers_without_race(
    plan: Plan, search: ModelSearch, rng: np.random.RandomState
) -> dict[str, CrossPart]:
    """Return the centers that run no race; no such center obeys directions."""
    parts = search.parts() if plan.direction is None else {}
    return {
        name: _configured_clone(plan, _as_cross_part(plan, part), rng)
        for name, part in parts.items()
    }


def _n_units(rows: Rows) -> int | None:
    """Return how many groups of rows there are; None if each row stands alone."""
    return None if rows.groups is None else len(np.unique(rows.groups))


def _time_left(
    search: ModelSearch, train: Rows, finalists: Sequence[JudgedCenter], seconds: float
) -> TimeLeft:
    """Return the time that a fit will still take after a race of `seconds`."""
    n_rows, n_columns = len(train), train.X.shape[1]
    n_members = search.folds_for(n_rows, n_columns, _n_units(train)) * search.repeats_for(n_rows)
    of_judges = max(1.0, n_rows / search.judging_rows)
    times = n_members * (1 + search.is_finer(n_rows)) * of_judges
    return TimeLeft(
        seconds,
        {each.score.name: times * each.seconds * _share_of_trees(each) for each in finalists},
    )


def _share_of_trees(judged: JudgedCenter) -> float:
    """Return the model's trees as a share of those grown to judge it, which is one stage more."""
    model = judged.score.model
    n_trees = getattr(getattr(model, "trees", model), "n_trees", None)
    more = [stage for stage in STAGES if n_trees in STAGES and stage > n_trees]
    return n_trees / more[0] if n_trees and more else 1.0


def _candidates(
    plan: Plan, search: ModelSearch, n_rows: int, n_columns: int
) -> Mapping[str, BaseEstimator]:
    """Return the centers that compete; if there are directions, only those that obey them."""
    pool = search.centers(n_rows, n_columns)
    if plan.direction is None:
        return pool
    ways = tuple(plan.direction.tolist())
    able = models_with("supports_monotone", pool, "monotone")
    return {name: clone(model).set_params(monotone=ways) for name, model in able.items()}


def _directed(plan: Plan, part: EpistemicPart) -> EpistemicPart:
    """Return a given part that obeys the directions, or raise an error."""
    if plan.direction is None:
        return part
    model = part.center_model() if isinstance(part, FoldedEnsemble) else None
    if model is None or not has_capability(model, "supports_monotone"):
        raise ValueError(
            f"{type(part).__name__} cannot keep to monotone: leave epistemic open, or give "
            "FoldedEnsemble(SymmetricTrees())."
        )
    ways = tuple(plan.direction.tolist())
    return clone(part).set_params(model=model.set_params(monotone=ways))


def _fixed_columns(plan: Plan, train: Rows) -> FixedColumns | None:
    if plan.direction is None:
        return None
    return FixedColumns.at_medians(train.X, plan.direction, train.sample_weight)


def _noises(
    plan: Plan, search: ModelSearch, rng: np.random.RandomState
) -> Mapping[str, ResampledPart]:
    if plan.aleatoric is None:
        return {
            name: _configured_clone(plan, _as_resampled_part(plan, noise), rng)
            for name, noise in search.noises().items()
        }
    if plan.residuals == "in-sample":
        raise ValueError(
            'residuals="in-sample" would let rows that calibrate judge members that saw them; '
            'choose "out-of-bag" or "target", or calibration="joint" with both parts given.'
        )
    return {GIVEN: _configured_clone(plan, _as_resampled_part(plan, plan.aleatoric), rng)}


def _race_draws(
    plan: Plan,
    rows: Rows,
    n_columns: int,
    search: ModelSearch,
    n_units: int | None,
    rng: np.random.RandomState,
) -> Draws:
    """Draw the members that judge centers; in the order of time there is one for every block."""
    if plan.gap is not None:
        assert rows.groups is not None
        return Chain.of(time_blocks(rows.groups, plan.gap), len(rows))
    n_folds = search.race_folds(len(rows), n_columns, n_units)
    folds = Folds.draw(len(rows), n_folds, 1, rng, rows.groups)
    return folds.members(slice(search.n_judges(len(rows), n_folds)))


def _as_cross_part(plan: Plan, part: BaseEstimator) -> CrossPart:
    """Return the part in a form whose members leave out rows."""
    return resampled(part, plan.gap)


def _as_resampled_part(plan: Plan, part: AleatoricPart) -> ResampledPart:
    return resampled_noise(part, plan.gap)


def _visible(plan: Plan, X: TableLike) -> str:
    """Return which columns competing aleatoric parts see besides X."""
    shall_show = plan.aleatoric is None if plan.show_center is None else plan.show_center
    if plan.direction is not None or (plan.show_center is None and is_frame(X)):
        return "nothing"  # the center depends on columns that no width may depend on
    _check_can_show(plan, X)
    return "center and spread" if shall_show else "nothing"


def _fit_pair(plan: Plan, train: Rows, validation: Rows, rng: np.random.RandomState) -> Pair:
    """Fit the parts as the paper does: the center first, then the noise on its residuals."""
    assert plan.epistemic is not None
    epistemic = _configured_clone(plan, _directed(plan, plan.epistemic), rng)
    _check_bootstraps(plan, epistemic)
    _check_can_show(plan, train.X)
    of_validation: dict[str, Any] = {"validation": (validation.X, validation.y)}
    if validation.sample_weight is not None and has_fit_parameter(epistemic, "validation_weight"):
        of_validation["validation_weight"] = validation.sample_weight
    fit_weighted(epistemic, train.X, train.y, train.sample_weight, **of_validation)
    aleatoric = match_quantile_model(_configured_clone(plan, plan.aleatoric, rng), epistemic)
    noise, fixed = _noise(plan, train, epistemic), _fixed_columns(plan, train)
    X = noise.X if fixed is None else fixed.apply(noise.X)
    fit_weighted(aleatoric, X, noise.y, noise.sample_weight)
    return Pair(epistemic, aleatoric, "center" if _shows_center(plan) else "nothing", fixed)


def _shows_center(plan: Plan) -> bool:
    return bool(plan.show_center) and plan.direction is None


def _check_bootstraps(plan: Plan, epistemic: EpistemicPart) -> None:
    if plan.residuals == "out-of-bag" and not isinstance(epistemic, OutOfBagEnsemble):
        raise ValueError(
            'residuals="out-of-bag" needs an ensemble of bootstraps, such as PCSEnsemble; '
            f"{type(epistemic).__name__} has none."
        )


def _check_can_show(plan: Plan, X: TableLike) -> None:
    if plan.show_center and is_frame(X):
        raise ValueError(
            "show_center adds a column of numbers to X, but encoder=None leaves X a table: "
            'give an encoder, such as "auto", or show_center=False.'
        )


def _noise(plan: Plan, train: Rows, epistemic: EpistemicPart) -> Rows:
    """Return the training rows as the aleatoric part sees them, with the targets that it learns."""
    X = train.X
    if plan.residuals == "target" and not _shows_center(plan):
        return train
    center, unseen = _training_centers(plan, X, epistemic)
    if _shows_center(plan):
        # The center follows y in the training sample, but not in new rows.
        X = np.column_stack([X, np.where(np.isnan(unseen), center, unseen)])
    if plan.residuals == "target":
        return replace(train, X=X)
    if plan.residuals != "out-of-bag":
        return replace(train, X=X, y=train.y - center)
    left_out = np.flatnonzero(~np.isnan(unseen))
    if len(left_out) < len(train) / 2:
        raise ValueError(
            f"Only {len(left_out)} of {len(train)} training rows were left out by any "
            "bootstrap; out-of-bag residuals need more bootstraps."
        )
    return replace(train, X=X, y=train.y - unseen).take(left_out)


def _training_centers(
    plan: Plan, X: TableLike, epistemic: EpistemicPart
) -> tuple[np.ndarray, np.ndarray]:
    """Return the centers of all members, and those of the members that did not see the row."""
    needs_unseen = _shows_center(plan) or plan.residuals == "out-of-bag"
    if needs_unseen and isinstance(epistemic, OutOfBagEnsemble):
        return epistemic.predict_training(X)
    center = epistemic.predict(X)
    return center, center
