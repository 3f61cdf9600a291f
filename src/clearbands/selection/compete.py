"""The whole competition: from rows to a mean of pairs, and what it makes of unseen rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from clearbands.engine.progress import report
from clearbands.models.monotone import Still
from clearbands.rows.failures import Failures
from clearbands.rows.split import Rows
from clearbands.rows.weighting import fit_weighted
from clearbands.selection.judging import (
    Contestant,
    LeaderboardRow,
    NoiseCandidate,
    blend,
    judge,
    leaderboard,
    not_told_apart,
    unseen_rows,
)
from clearbands.selection.model_search import Contest
from clearbands.uncertainty.bands import Components
from clearbands.uncertainty.epistemic import CenterAndWidths, CrossPart
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble
from clearbands.uncertainty.nested import Nested
from clearbands.uncertainty.pairs import Blend, hold_still


class Outcome(NamedTuple):
    """What the competition found."""

    parts: Blend
    y: np.ndarray  # (n,): of the training rows that some member did not see
    unseen: Components  # of these rows, by such members
    leaderboard: tuple[LeaderboardRow, ...]  # pairs, best first
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
    for_good: Callable[[CrossPart], CrossPart],
    still: Still | None = None,
    n_centers: int | None = None,
) -> Outcome:
    """Pairs are judged on all rows or, of many, on some; what was chosen is fitted on all.

    Parts come unfitted and seeded, at the levels; `for_good` makes of a center that was judged on
    some rows what is fitted on all of them. No width depends on columns held `still`. Only the
    first `n_centers` compete; those behind them take the places of centers that fail. What fails is
    left out with a warning, unless it has no rival.
    """
    judges = draw_rows(train, contest.judging_rows, rng)
    fits_again = contest.fits_again(len(train))
    pairing = _Pairing(centers, for_good, noises, levels, shown, contest, still, Failures())
    waiting, contestants = list(centers), list[Contestant]()
    n_wanted = len(centers) if n_centers is None else n_centers
    while True:
        if not contestants:
            contestants = pairing.judge(judges, waiting, n_wanted, lighter=fits_again)
        most_again = contest.fitted_again if fits_again else None
        kept = not_told_apart(contestants, contest.averaged, contest.errors, most_again)
        board = leaderboard(contestants, kept)
        if not fits_again:
            break
        again = pairing.fit_again(train, kept)
        failed = {each.names for each in kept} - {each.names for each in again}
        if not failed:
            kept = again
            break
        contestants = [each for each in contestants if each.names not in failed]
    parts, unseen = blend(kept)
    return Outcome(parts, kept[0].y, unseen, board, kept[0].rows)


def draw_rows(rows: Rows, most: int, rng: np.random.RandomState) -> Rows:
    """The rows, or so many of them at random."""
    if len(rows) <= most:
        return rows
    return rows.take(np.sort(rng.choice(len(rows), most, replace=False)))


class _Fitted(NamedTuple):
    """A center, and what it says of the rows that it did not see."""

    part: CrossPart
    said: CenterAndWidths
    kept: np.ndarray  # the numbers of these rows
    nested: Nested | None


@dataclass(frozen=True)
class _Pairing:
    """How pairs of a center and a noise model are fitted and judged, whatever the rows."""

    centers: Mapping[str, CrossPart]
    for_good: Callable[[CrossPart], CrossPart]
    noises: Mapping[str, NoiseCandidate]
    levels: list[float]
    shown: str
    contest: Contest
    still: Still | None
    failures: Failures

    def judge(
        self, rows: Rows, waiting: list[str], n_centers: int, *, lighter: bool
    ) -> list[Contestant]:
        """The next `n_centers` that do not fail, each with all noises; they no longer wait."""
        contestants: list[Contestant] = []
        n_fitted, n_pairs = 0, min(n_centers, len(waiting)) * len(self.noises)
        while waiting and n_fitted < n_centers:
            name = waiting.pop(0)
            part = self.centers[name].lighter() if lighter else self.centers[name]
            found = self._pair_up(rows, name, part, self.noises, len(contestants), n_pairs)
            contestants += found
            n_fitted += bool(found)
        if not contestants:
            raise self.failures.none_left("No center could be fitted with noise around it")
        return contestants

    def fit_again(self, rows: Rows, chosen: Sequence[Contestant]) -> list[Contestant]:
        """The chosen pairs with all their members, but for those that fail."""
        again: list[Contestant] = []
        names = {each.names for each in chosen}
        for name, part in self.centers.items():
            around = [noise for noise in self.noises if (name, noise) in names]
            if around:
                again += self._pair_up(
                    rows, name, self.for_good(part), around, len(again), len(chosen)
                )
        return again

    def _pair_up(
        self,
        rows: Rows,
        name: str,
        part: CrossPart,
        around: Iterable[str],
        n_done: int,
        n_pairs: int,
    ) -> list[Contestant]:
        """A center with these noises; what fails is left out, unless it has no rival."""
        contestants: list[Contestant] = []
        center = None
        with self.failures.leaving_out(f"The center {name!r}", len(self.centers) > 1):
            center = self._fit_center(part, rows)
        if center is None:
            return contestants
        used = rows.take(center.kept)
        for noise in around:
            called = f"The noise {noise!r} around {name!r}"
            with self.failures.leaving_out(called, len(self.noises) > 1):
                contestants.append(self._judge_pair(used, (name, noise), center))
            report("pairs", min(n_done + len(contestants), n_pairs), n_pairs)
        return contestants

    def _fit_center(self, part: CrossPart, rows: Rows) -> _Fitted:
        epistemic = fit_weighted(
            clone(part), rows.X, rows.y, rows.sample_weight, groups=rows.groups
        )
        nested = None
        n_folds = self.contest.nested_folds_for(len(rows))
        can_nest = self.still is None and isinstance(epistemic, FoldedEnsemble)
        if n_folds and len(self.noises) > 1 and can_nest:
            nested = Nested.fit(epistemic, rows, n_folds)
        said = hold_still(epistemic.predict_unseen, rows.X, self.still)
        kept = unseen_rows(said.center, epistemic.judges_all)
        said = CenterAndWidths(said.center[kept], said.widths[kept])
        return _Fitted(epistemic, said, kept, nested)

    def _judge_pair(self, used: Rows, names: tuple[str, str], center: _Fitted) -> Contestant:
        found = judge(
            used,
            names,
            center.part,
            center.said,
            self.noises[names[1]],
            self.levels,
            self.shown,
            center.nested,
            self.still,
        )
        return replace(found, rows=center.kept[found.rows])
