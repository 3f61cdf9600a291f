"""Who competes by default, and under which rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.dummy import DummyRegressor

from clearbands.models.pools import center_pool, noise_forest, shallow_boosting, surface_pool
from clearbands.selection.judging import NoiseCandidate
from clearbands.uncertainty.epistemic import EpistemicPart
from clearbands.uncertainty.folded_bounds import FoldedBounds
from clearbands.uncertainty.scaled_residuals import ScaledResiduals

UNITS_PER_FOLD = 5  # at least, where there are more folds than usual


@dataclass(frozen=True)
class Contest:
    """The rules of a competition; docs/defaults.md has the measurements behind the numbers.

    Centers are judged with `folds` members each, each of which misses one fold; of fewer than
    `small_rows` rows with twice as many, that each miss half as many rows. With `surfaces`, smooth
    functions of all columns at once are among them however many rows there are, also of their
    ranks; and a mean of at most `mixed` centers joins. The `n_centers` best get folds x `repeats`
    members, and for the noise to learn from one more for every two of `nested_folds` (0: none).
    From `many_rows` on two get half of that, from `most_rows` on only the best a third. With more
    than `many_columns`, half of the folds judge, and only the best gets half of the members. Of
    more than `few_rows` rows, pairs are judged with a third of their members, and those that are
    chosen fitted again, around at most `fitted_again` centers, which get twice the trees or
    landmarks then, and centers are judged by `judging_members` instead of one for each fold; of
    more than `judging_rows`, so many choose. Averaged are at most `averaged` pairs that lie within
    `errors` standard errors of the best. With `networks`, a small deep ensemble competes beside the
    best centers; training it needs torch.

    Examples
    --------
    >>> from clearbands import ClearRegressor
    >>> quick = ClearRegressor(contest=Contest(folds=5, n_centers=1))
    >>> sorted(quick.contest.noises())
    ['boosting', 'constant', 'forest', 'scale', 'scale by logarithm']
    """

    small_rows: int = 2_000
    few_rows: int = 5_000
    judging_rows: int = 10_000
    many_rows: int = 10_000
    most_rows: int = 50_000
    many_columns: int = 512
    folds: int = 10
    judging_members: int = 7
    repeats: int = 6
    nested_folds: int = 0
    n_centers: int = 3
    fitted_again: int = 2
    mixed: int = 1
    averaged: int = 4
    errors: float = 1.0
    surfaces: bool = False
    networks: bool = False

    def centers(self, n_rows: int, n_columns: int) -> Mapping[str, Any]:
        """The models that compete for the center."""
        again = self.fits_again(n_rows)
        pool = center_pool(n_rows, n_columns, again=again)
        if self.surfaces:
            for by_rank in (False, True):
                pool |= surface_pool(n_columns, by_rank=by_rank, again=again)
        return pool

    def fits_again(self, n_rows: int) -> bool:
        """Whether what was chosen is fitted again, or the members that are judged stay."""
        return n_rows > self.few_rows

    def parts(self) -> Mapping[str, EpistemicPart]:
        """Centers that come with members of their own, and are not judged before."""
        return {"networks": small_networks()} if self.networks else {}

    def folds_for(self, n_rows: int, n_columns: int, n_units: int | None = None) -> int:
        """Into how many parts rows are divided: of few rows each member should see nearly all.

        Units are rows, or labels that keep some together. Where a fold is one of them, the members
        of all repeats that miss it saw the same rows, and agree but for rounding: a fold has two.
        """
        units = n_rows if n_units is None else n_units
        is_small = n_rows < self.small_rows and n_columns <= self.many_columns
        folds = (
            2 * self.folds if is_small and units >= UNITS_PER_FOLD * 2 * self.folds else self.folds
        )
        return min(folds, max(2, units // 2))

    def judging_folds_for(self, n_rows: int, n_columns: int, n_units: int | None = None) -> int:
        """How many members judge a center: many columns cost more."""
        folds = self.folds_for(n_rows, n_columns, n_units)
        return folds if n_columns <= self.many_columns else max(2, folds // 2)

    def judging_members_for(self, n_rows: int, n_folds: int) -> int:
        """For how many of the folds there is a member that judges: a part of many rows will do."""
        return min(n_folds, self.judging_members) if self.fits_again(n_rows) else n_folds

    def repeats_for(self, n_rows: int, n_columns: int) -> int:
        """How often folds are repeated: many rows need fewer members, many columns cost more."""
        is_small = n_rows < self.many_rows and n_columns <= self.many_columns
        share = 1 if is_small else 2 if n_rows < self.most_rows else 3
        return max(1, self.repeats // share)

    def nested_folds_for(self, n_rows: int) -> int:
        """Of which two are left out where noise is learned and has rivals; 0 for none."""
        if self.nested_folds == 0:
            return 0
        fewer = 0 if n_rows < self.many_rows else 1 if n_rows < self.most_rows else 2
        return max(3, self.nested_folds - fewer)

    def n_centers_for(self, n_rows: int, n_columns: int) -> int:
        """How many centers get all their members."""
        if n_rows >= self.most_rows or n_columns > self.many_columns:
            return 1
        return min(2, self.n_centers) if n_rows >= self.many_rows else self.n_centers

    def noises(self) -> Mapping[str, NoiseCandidate]:
        """The aleatoric parts that compete around each of the best centers."""
        return {
            "constant": NoiseCandidate(ScaledResiduals(DummyRegressor())),
            "scale": NoiseCandidate(ScaledResiduals()),
            "scale by logarithm": NoiseCandidate(ScaledResiduals(learn_log=True)),
            "boosting": NoiseCandidate(FoldedBounds(shallow_boosting())),
            "forest": NoiseCandidate(FoldedBounds(noise_forest())),
        }


def small_networks() -> EpistemicPart:
    """Five networks that are trained in seconds on some thousand rows."""
    from clearbands.uncertainty.deep_ensemble import DeepEnsemble

    return DeepEnsemble(5, (64, 64), max_epochs=300, patience=30, spread="gaussian")


THOROUGH = Contest(
    repeats=12, n_centers=4, mixed=3, nested_folds=7, averaged=6, surfaces=True, networks=True
)
"""For those who can wait: twice the members, a fourth center, mixtures, more surfaces, networks."""
