"""The whole competition, from rows to a mean of pairs and its components of unseen rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from clearbands.engine.progress import expect, report
from clearbands.models.monotone import FixedColumns
from clearbands.models.protocol import fit_weighted
from clearbands.rows.messages import Failures
from clearbands.rows.split import Rows
from clearbands.rows.typed import TableLike
from clearbands.selection.centers import CenterScore
from clearbands.selection.judging import (
    Contestant,
    LeaderboardRow,
    UnseenRows,
    averaged,
    blend,
    judge,
    leaderboard,
    not_told_apart,
    once_repeated,
    unseen_rows,
)
from clearbands.selection.model_search import BEST_NOISES, ModelSearch
from clearbands.uncertainty.aleatoric import ResampledPart
from clearbands.uncertainty.epistemic import CenterAndWidths, CrossPart, OutOfBagEnsemble
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble
from clearbands.uncertainty.nested import NestedPredictions
from clearbands.uncertainty.pairs import Blend, Pair, predict_with_fixed_columns

PAIRS, CURVE = 0.7, 1.3
"""Times of noise and learning curve, in times of the race; `benchmarks.budget` measures them."""


class TimeLeft:
    """The seconds that a fit will still take, as far as the race tells."""

    def __init__(self, race: float = 0.0, centers: Mapping[str, float] | None = None) -> None:
        self._centers = dict(centers or {})
        self._pairs, self._curve = PAIRS * race, CURVE * race
        self._since = perf_counter()

    def announce(self) -> None:
        """Tell the listener, if there was a race."""
        self._since = perf_counter()
        if self._curve:
            expect(sum(self._centers.values()) + self._pairs + self._curve)

    def center_done(self, name: str) -> None:
        """Note that a center is fitted; if it took longer than expected, so will the others."""
        expected = self._centers.pop(name, 0.0)
        if expected:
            ratio = (perf_counter() - self._since) / expected
            self._centers = {other: ratio * each for other, each in self._centers.items()}
        self.announce()

    def pairs_done(self, share: float, share_left: float) -> None:
        """Note which share of the noise is learned, and which share is left."""
        self._centers = {}
        self._pairs = (perf_counter() - self._since) * share_left / share
        self.announce()


class ChosenParts(NamedTuple):
    """Fitted parts, and the competition that chose them."""

    parts: Pair | Blend
    leaderboard: tuple[LeaderboardRow, ...] = ()  # pairs, best first
    unseen: UnseenRows | None = None  # None where both parts were given and rows were held out
    centers: tuple[CenterScore, ...] = ()  # best first
    search: ModelSearch | None = None  # the rules of the competition; None if nothing competed

    def unseen_center(self, X: TableLike) -> np.ndarray | None:
        """Return centers (n,) of the training rows X by members that did not see them.

        A row that all members saw has NaN. The answer is None if the parts cannot tell.
        """
        if self.unseen is not None:
            center = np.full(_num_samples(X), np.nan)
            center[self.unseen.numbers] = self.unseen.components.center
            return center
        epistemic = self.parts.best.epistemic
        if isinstance(epistemic, CrossPart):
            return epistemic.predict_unseen(X).center
        if isinstance(epistemic, OutOfBagEnsemble):
            return epistemic.predict_out_of_bag(X)
        return None


def draw_row_numbers(rows: Rows, most: int, rng: np.random.RandomState) -> np.ndarray | None:
    """Return the numbers of `most` random rows; None if there are no more than that."""
    return None if len(rows) <= most else np.sort(rng.choice(len(rows), most, replace=False))


def draw_rows(rows: Rows, most: int, rng: np.random.RandomState) -> Rows:
    """Return all rows, or `most` of them at random."""
    some = draw_row_numbers(rows, most, rng)
    return rows if some is None else rows.take(some)


class _Fitted(NamedTuple):
    """A fitted center, and its components of the rows that its members did not see."""

    name: str
    part: CrossPart
    unseen: CenterAndWidths
    numbers: np.ndarray  # (n,): the numbers of these rows among those that train
    nested: NestedPredictions | None

    def take(self, some: np.ndarray | None) -> _Fitted:
        """Return the same for some of the rows, without nested centers, which need all rows."""
        if some is None:
            return self
        judged = np.isin(self.numbers, some)
        unseen = CenterAndWidths(self.unseen.center[judged], self.unseen.widths[judged])
        return self._replace(unseen=unseen, numbers=self.numbers[judged], nested=None)


@dataclass(frozen=True)
class Competition:
    """Fit centers, let noises compete around them, and average the best pairs.

    The parts are not fitted yet, but have their seeds and levels. They belong to the competition,
    which changes them.
    """

    train: Rows
    centers: Mapping[str, CrossPart]
    noises: Mapping[str, ResampledPart]
    levels: list[float]
    search: ModelSearch
    visible: str = "nothing"  # the further columns that noises see
    learns_target: bool = False  # whether noises learn y itself, not residuals
    fixed: FixedColumns | None = None  # columns that no width depends on
    time_left: TimeLeft = field(default_factory=TimeLeft)
    failures: Failures = field(default_factory=Failures)

    def run(self, n_centers: int, rng: np.random.RandomState) -> ChosenParts:
        """Return the mean of the best pairs.

        Only the first `n_centers` compete; those behind them take the places of centers that fail.
        If there are many rows, some of them choose the noises, and the chosen ones are fitted on
        all rows. A part that fails is left out with a warning, unless it has no rival.
        """
        judges = draw_row_numbers(self.train, self.search.judging_rows, rng)
        fitted = self.fit_centers(n_centers)
        contestants = self.judge(fitted, judges)
        while True:
            best = averaged(contestants, self.search.averaged, self.levels)
            board = leaderboard(contestants, best)
            if judges is None:
                break
            again = self.refit_on_all_rows(fitted, best)
            failed = {each.names for each in best} - {each.names for each in again}
            if not failed:
                best = again
                break
            contestants = [each for each in contestants if each.names not in failed]
            if not contestants:
                raise self.failures.none_left("No noise could be fitted on all rows")
        parts, unseen = blend(best)
        return ChosenParts(parts, board, unseen)

    def fit_centers(self, most: int) -> list[_Fitted]:
        """Fit the first `most` centers that do not fail."""
        fitted: list[_Fitted] = []
        for name, part in self.centers.items():
            if len(fitted) == most:
                break
            with self.failures.leaving_out(f"The center {name!r}", len(self.centers) > 1):
                fitted.append(self._fit_center(name, part))
            self.time_left.center_done(name)
        if not fitted:
            raise self.failures.none_left("No center could be fitted with all its members")
        return fitted

    def judge(self, fitted: Sequence[_Fitted], some: np.ndarray | None) -> list[Contestant]:
        """Judge all noises around the best center, and the best of them around the others."""
        contestants: list[Contestant] = []
        around = list(self.noises)
        for number, center in enumerate(fitted, start=1):
            n_noises = len(around)
            pairs = self._judge_pairs(center.take(some), around)
            contestants += pairs
            if pairs:
                around = [each.noise_name for each in not_told_apart(pairs)[:BEST_NOISES]]
            report("pairs", number, len(fitted))
            to_come = (len(fitted) - number) * len(around) + (some is not None) * BEST_NOISES
            self.time_left.pairs_done(n_noises, to_come)
        if not contestants:
            raise self.failures.none_left("No center could be fitted with noise around it")
        return contestants

    def refit_on_all_rows(
        self, fitted: Sequence[_Fitted], chosen: Sequence[Contestant]
    ) -> list[Contestant]:
        """Fit the chosen pairs with noise that learns from all rows, and leave out those that fail.

        With so many rows the folds need no second repeat.
        """
        by_name = {center.name: center for center in fitted}
        noises = {name: once_repeated(noise) for name, noise in self.noises.items()}
        once = replace(self, noises=noises)
        again = []
        for center, noise in (each.names for each in chosen):
            again += once._judge_pairs(by_name[center], [noise])
        return again

    def _judge_pairs(self, center: _Fitted, around: Iterable[str]) -> list[Contestant]:
        """Judge a center with these noises; leave out what fails unless it has no rival."""
        contestants: list[Contestant] = []
        used = self.train.take(center.numbers)
        for noise in around:
            who = f"The noise {noise!r} around {center.name!r}"
            with self.failures.leaving_out(who, len(self.noises) > 1):
                contestants.append(self._judge_pair(used, noise, center))
        return contestants

    def _fit_center(self, name: str, part: CrossPart) -> _Fitted:
        rows = self.train
        epistemic = fit_weighted(part, rows.X, rows.y, rows.sample_weight, groups=rows.groups)
        nested = None
        n_folds = self.search.nested_folds_for(len(rows))
        can_nest = self.fixed is None and isinstance(epistemic, FoldedEnsemble)
        if n_folds and len(self.noises) > 1 and can_nest:
            nested = NestedPredictions.fit(epistemic, rows, n_folds)
        unseen = predict_with_fixed_columns(epistemic.predict_unseen, rows.X, self.fixed)
        numbers = unseen_rows(unseen.center, epistemic.judges_all)
        unseen = CenterAndWidths(unseen.center[numbers], unseen.widths[numbers])
        return _Fitted(name, epistemic, unseen, numbers, nested)

    def _judge_pair(self, used: Rows, noise: str, center: _Fitted) -> Contestant:
        contestant = judge(
            used,
            (center.name, noise),
            center.part,
            center.unseen,
            self.noises[noise],
            self.levels,
            self.visible,
            center.nested,
            self.fixed,
            self.learns_target,
        )
        return replace(contestant, rows=center.numbers[contestant.rows])
