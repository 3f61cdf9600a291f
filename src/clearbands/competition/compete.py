"""The whole competition: from rows to a mean of pairs, and what it makes of unseen rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from clearbands.bands import Components
from clearbands.competition.contest import Contest
from clearbands.competition.judging import (
    Contestant,
    NoiseCandidate,
    Standing,
    blend,
    judge,
    leaderboard,
    not_told_apart,
    unseen_rows,
)
from clearbands.epistemic.base import CenterAndWidths, CrossPart
from clearbands.epistemic.folded import FoldedEnsemble
from clearbands.epistemic.nested import Nested
from clearbands.monotone import Still
from clearbands.pairs import Blend, hold_still
from clearbands.progress import report
from clearbands.rows.split import Rows
from clearbands.rows.weighting import fit_weighted


class Outcome(NamedTuple):
    """What the competition found."""

    parts: Blend
    y: np.ndarray  # (n,): of the training rows that some member did not see
    unseen: Components  # of these rows, by such members
    leaderboard: tuple[Standing, ...]  # pairs, best first
    rows: np.ndarray  # (n,): the numbers of the unseen rows among those that train


def compete(
    train: Rows,
    centers: Mapping[str, CrossPart],
    noises: Mapping[str, NoiseCandidate],
    *,
    levels: list[float],
    shown: str,
    contest: Contest,
    rng: np.random.RandomState,
    still: Still | None = None,
) -> Outcome:
    """Pairs are judged on all rows or, of many, on some; what was chosen is fitted on all.

    Parts come unfitted and seeded, at the levels. No width depends on columns held `still`.
    """
    judges = draw_rows(train, contest.judging_rows, rng)
    judged, for_good = centers, len(train) <= contest.few_rows
    if not for_good:
        judged = {name: part.lighter() for name, part in centers.items()}
    contestants = _pair_up(judges, judged, noises, levels, shown, contest, still)
    n_centers = None if for_good else contest.fitted_again
    kept = not_told_apart(contestants, contest.averaged, contest.errors, n_centers)
    board = leaderboard(contestants, kept)
    if not for_good:
        names = {(contestant.center_name, contestant.noise_name) for contestant in kept}
        kept = _pair_up(train, centers, noises, levels, shown, contest, still, names)
    parts, unseen = blend(kept)
    return Outcome(parts, kept[0].y, unseen, board, kept[0].rows)


def draw_rows(rows: Rows, most: int, rng: np.random.RandomState) -> Rows:
    """The rows, or so many of them at random."""
    if len(rows) <= most:
        return rows
    return rows.take(np.sort(rng.choice(len(rows), most, replace=False)))


def _pair_up(
    rows: Rows,
    centers: Mapping[str, CrossPart],
    noises: Mapping[str, NoiseCandidate],
    levels: list[float],
    shown: str,
    contest: Contest,
    still: Still | None,
    wanted: Collection[tuple[str, str]] | None = None,
) -> list[Contestant]:
    """A contestant for every pair, or for the wanted ones."""
    if wanted is None:
        wanted = {(center, noise) for center in centers for noise in noises}
    contestants: list[Contestant] = []
    for center_name, part in centers.items():
        around = {name: noises[name] for name in noises if (center_name, name) in wanted}
        if not around:
            continue
        epistemic = fit_weighted(
            clone(part), rows.X, rows.y, rows.sample_weight, together=rows.together
        )
        nested = None
        n_folds = contest.nested_folds_for(len(rows))
        can_nest = still is None and isinstance(epistemic, FoldedEnsemble)
        if n_folds and len(noises) > 1 and can_nest:
            nested = Nested.fit(epistemic, rows, n_folds)
        said = hold_still(epistemic.predict_unseen, rows.X, still)
        kept = unseen_rows(said.center, epistemic.judges_all)
        said, used = CenterAndWidths(said.center[kept], said.widths[kept]), rows.take(kept)
        for noise_name, noise in around.items():
            names = center_name, noise_name
            found = judge(used, names, epistemic, said, noise, levels, shown, nested, still)
            contestants.append(replace(found, rows=kept[found.rows]))
            report("pairs", len(contestants), len(wanted))
    return contestants
