"""Fit parts that were chosen on few rows again on all rows of a table in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from clearbands.engine.binning import Bins
from clearbands.models.center_model import has_capability
from clearbands.models.monotone import directions
from clearbands.models.protocol import fit_weighted
from clearbands.models.seeds import MAX_SEED
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.rows.coded import code_columns, coded
from clearbands.rows.draws import HashedFolds
from clearbands.rows.typed import Seed
from clearbands.scaling.category_sums import SumCategories, TargetScale
from clearbands.scaling.members import (
    SHOWN_BINS,
    GrowMembers,
    PredictUnseen,
    Response,
    Sizes,
    Target,
)
from clearbands.scaling.rows import fine_bins
from clearbands.scaling.store import Store
from clearbands.scaling.tasks import Stage, make_all
from clearbands.scaling.work import TableWork
from clearbands.selection.judging import UnseenRows, assess, blend
from clearbands.uncertainty.aleatoric import ResampledPart
from clearbands.uncertainty.epistemic import CenterAndWidths, center_and_widths
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble
from clearbands.uncertainty.pairs import Blend, CrossPair, add_visible_columns
from clearbands.uncertainty.scaled_residuals import ScaledResiduals, learned_sizes


class Center(NamedTuple):
    """A center that was fitted on all rows."""

    part: FoldedEnsemble
    unseen: CenterAndWidths  # rows of the sample, predicted by members that did not see them
    unseen_rows: PredictUnseen  # the same for all rows, on disk


def check_can_refit(epistemic: Any) -> None:
    """Raise for a center whose members cannot be fitted on a table in files."""
    if epistemic is None:
        return
    if isinstance(epistemic, FoldedEnsemble) and has_capability(
        epistemic.center_model(), "streams_files"
    ):
        return
    raise ValueError(
        "A table in files is fitted with members of symmetric trees: leave `epistemic` open or "
        "give FoldedEnsemble(SymmetricTrees(...)), or read the table into memory first."
    )


def refit(parts: Blend, work: TableWork, levels: Sequence[float]) -> tuple[Blend, UnseenRows]:
    """Return the same pairs, fitted on all rows, and their unseen predictions of the sample."""
    centers: dict[int, Center] = {}
    contestants = []
    for pair in parts.pairs:
        key = id(pair.epistemic)
        if key not in centers:
            centers[key] = refit_center(pair.epistemic, work, levels)
        center = centers[key]
        fit_noise = (
            _refit_noise_on_all_rows if _fits_in_pieces(pair.aleatoric) else _refit_noise_on_sample
        )
        noise = fit_noise(pair.aleatoric, pair.visible, center, work)
        fitted = CrossPair(center.part, noise, pair.visible)
        sample = work.sample.encoded
        unseen = fitted.unseen_components(sample.X, center.unseen)
        contestant = assess(("", ""), fitted, sample.y, unseen, levels, sample.sample_weight)
        contestants.append(contestant)
    return blend(contestants)


def refit_center(chosen: Any, work: TableWork, levels: Sequence[float]) -> Center:
    """Fit a center that was fitted on few rows, and so has a seeded model, on all rows."""
    kind, parameters = _class_and_parameters(chosen.model_, work.sample.encoded.X.shape[1])
    draws = work.draws(_seed_of(chosen.random_state), chosen)
    store = work.store.subfolder(
        "center", class_name=kind.__name__, model=dict(parameters), draws=vars(draws)
    )
    learned = Target(work.rows)
    sums = _sums(store, learned, draws, work.sample.encoded.y, work)
    grow = GrowMembers(store, learned, kind, parameters, draws, work.per_one(draws), sums)
    make_all(grow, work.engine, "epistemic")
    predict = PredictUnseen(
        store.subfolder("unseen", level=levels[0], spread=chosen.spread),
        grow,
        levels[0],
        chosen.spread,
    )
    make_all(predict, work.engine, "unseen rows")
    part = clone(chosen)
    part.model_, part.draws_, part.bag_ = clone(chosen.model_), draws, grow.bag()
    part.n_features_in_ = work.sample.encoded.X.shape[1]
    members = _unseen_members(grow, work.sample.fine, work)
    unseen = CenterAndWidths(*center_and_widths(members, levels, part.spread, 1))
    return Center(part, unseen, predict)


def _fits_in_pieces(part: BaseEstimator) -> bool:
    """Whether all rows can train a noise model piece by piece; others learn from the sample."""
    return isinstance(part, ScaledResiduals) and has_capability(part.scale_model(), "streams_files")


def _refit_noise_on_all_rows(
    chosen: Any, visible: str, center: Center, work: TableWork
) -> ResampledPart:
    part, sample = clone(chosen), work.sample.encoded
    residual, weight = sample.y - center.unseen.center, sample.sample_weight
    model, rng = part.prepare(residual, weight)
    draws = work.draws(int(rng.randint(MAX_SEED)), part)
    offset = part.offset_ if part.learn_log else None
    view = add_visible_columns(sample.X, center.unseen, visible)
    kind, parameters = _class_and_parameters(model, view.shape[1])
    store = center.unseen_rows.store.subfolder(
        "noise",
        class_name=kind.__name__,
        model=dict(parameters),
        draws=vars(draws),
        shown=visible,
        offset=offset,
    )
    extra = np.asarray(view)[:, sample.X.shape[1] :]
    shown_bins = _write_shown_bins(store, extra, weight)
    learned = Sizes(work.rows, center.unseen_rows, store, extra.shape[1], offset)
    sums = _sums(store, learned, draws, learned_sizes(residual, offset), work)
    grow = GrowMembers(store, learned, kind, parameters, draws, work.per_one(draws), sums)
    make_all(grow, work.engine, "aleatoric")
    part.draws_, part.bag_ = draws, grow.bag()
    part.n_features_in_ = view.shape[1]
    fine = np.concatenate([work.sample.fine, shown_bins.columns(extra)])
    members = _unseen_members(grow, fine, work)
    return part.finish(residual, members, weight)


def _write_shown_bins(store: Store, extra: np.ndarray, weight: np.ndarray | None) -> Bins:
    """Cut the shown columns by their values in the sample, write the cuts, and return them."""
    bins = fine_bins(extra, weight)
    if not store.is_complete(SHOWN_BINS):
        store.write_arrays(SHOWN_BINS, {"cuts": bins.cuts, "starts": bins.starts})
    return bins


def _refit_noise_on_sample(
    chosen: Any, visible: str, center: Center, work: TableWork
) -> ResampledPart:
    sample = work.sample.encoded
    described = f"{type(chosen).__name__} {sorted(_without_jobs(chosen).items())!r}"
    store = center.unseen_rows.store.subfolder("part", part=described, shown=visible)
    if not all(map(store.is_complete, (PART, SEEN))):
        store.write_part(PART, clone(chosen))
        seen = {
            "X": add_visible_columns(sample.X, center.unseen, visible),
            "residual": sample.y - center.unseen.center,
        }
        labels = {"weight": sample.sample_weight, "groups": sample.groups}
        known = {name: label for name, label in labels.items() if label is not None}
        codes = np.array(code_columns(seen["X"]), np.int64)
        store.write_arrays(SEEN, seen | known | {"code_columns": codes})
    stage = FitPart(store)
    make_all(stage, work.engine, "aleatoric")
    return store.read_part(stage.name(0))


PART, SEEN = "unfitted.clear", "seen.npz"


@dataclass(frozen=True)
class FitPart(Stage):
    """The stage that fits on the sample a part that cannot be fitted piece by piece."""

    @property
    def count(self) -> int:
        return 1

    def name(self, number: int) -> str:
        return "fitted.clear"

    def make(self, number: int, stop: np.ndarray) -> None:
        seen = self.store.read_arrays(SEEN)
        part, weight = self.store.read_part(PART), seen.get("weight")
        groups = seen.get("groups")
        X = coded(seen["X"], seen["code_columns"].tolist())
        fit_weighted(part, X, seen["residual"], weight, groups=groups)
        self.store.write_part(self.name(number), part)


def _sums(
    store: Store, learned: Response, draws: HashedFolds, of_sample: np.ndarray, work: TableWork
) -> SumCategories | None:
    """Sum up the effects of categories; return None if no column holds codes.

    The targets `of_sample` decide the scale of the sums.
    """
    if not work.rows.n_values:
        return None
    sums = SumCategories(store, learned, draws, TargetScale.of(of_sample))
    make_all(sums, work.engine, "categories")
    return sums


def _unseen_members(grow: GrowMembers, fine: np.ndarray, work: TableWork) -> np.ndarray:
    return grow.predict_left_out(fine, work.sample.codes, grow.draws.left_out(work.sample.keys))


def _without_jobs(part: BaseEstimator) -> dict[str, Any]:
    """Return the parameters of a part without `n_jobs`, which changes no result."""
    parameters = part.get_params(deep=True)
    return {name: value for name, value in parameters.items() if not name.endswith("n_jobs")}


def _class_and_parameters(
    model: SymmetricTrees, n_columns: int
) -> tuple[type[SymmetricTrees], tuple[tuple[str, Any], ...]]:
    """Return the class of the trees and their parameters, in a form that can be compared."""
    ways = directions(model.monotone, range(n_columns))
    monotone = None if ways is None else (*ways.tolist(),)
    parameters = {**model.get_params(deep=False), "monotone": monotone}
    return type(model), tuple(sorted(parameters.items()))


def _seed_of(random_state: Seed) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(MAX_SEED))
