"""The default competitors and their rules, and the best rules that fit into a given time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.dummy import DummyRegressor

from clearbands.models.bagging import start_bag
from clearbands.models.pools import center_pool, noise_forest, shallow_boosting, surface_pool
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.rows.draws import Draws
from clearbands.rows.split import Rows
from clearbands.uncertainty.aleatoric import ResampledPart
from clearbands.uncertainty.epistemic import EpistemicPart
from clearbands.uncertainty.folded_bounds import FoldedBounds
from clearbands.uncertainty.scaled_residuals import ScaledResiduals

UNITS_PER_FOLD = 5  # the fewest rows or groups in a fold, if there are more folds than usual
LEAN_CENTER = "trees of depth 6"
RACE_ROWS = 1_000  # the fewest rows that tell candidates apart
BEST_NOISES = 2  # the number of noises of the first center that compete around the others


@dataclass(frozen=True)
class ModelSearch:
    """The rules by which models compete; docs/defaults.md has the measurements behind them.

    Parameters
    ----------
    folds : int
        How many folds the rows are divided into; each member of a center leaves out one of them.
        Tables of fewer than `small_rows` rows have twice as many folds, because each of their rows
        matters more. Tables of more than `fine_rows` rows have half as many, because they can spare
        some.
    repeats : int
        How often the rows are divided, so how many members predict a row that they did not see.
        Tables of more than `judging_rows` rows are divided one time less.
    n_centers : int
        Around how many centers, at most, noise models compete: one less with more than
        `judging_rows` rows, and only one with more than `many_columns` columns. A center takes part
        if the mean of the centers errs less with it than without; fewer than `small_rows` rows do
        not tell, so there all that are allowed take part.
    small_rows : int
        Tables of fewer rows than this have twice as many folds, unless they have more than
        `many_columns` columns.
    fine_rows : int
        With more rows than this, the center that has won the race gets twice the trees, with
        smaller steps, or twice the landmarks.
    judging_rows : int
        With more rows than this, so many random rows run the race and choose the noise model.
    many_columns : int
        With more columns than this, noise models compete around one center only.
    nested_folds : int
        The noise models learn from centers that left out two of so many folds; 0 switches this off.
    mixed : int
        A mean of at most so many centers joins the centers that have won the race.
    averaged : int
        How many pairs are averaged at most: those whose loss the rows cannot tell from that of the
        best, and the best pair around each other center if the mean is better with it.
    surfaces : bool
        Whether smooth functions of all columns, and of their ranks, compete for any size of table.
    networks : bool
        Whether a small deep ensemble competes; its training needs torch.
    lean : bool
        Whether only one kind of trees competes for the center, and two kinds of noise models around
        it. This suits those who have little time.

    Examples
    --------
    >>> from clearbands import ClearRegressor
    >>> quick = ClearRegressor(search=ModelSearch(folds=5, n_centers=1))
    >>> sorted(quick.search.noises())
    ['boosting', 'constant', 'forest', 'scale', 'scale by logarithm']
    """

    folds: int = 10
    repeats: int = 3
    n_centers: int = 3
    small_rows: int = 2_000
    fine_rows: int = 5_000
    judging_rows: int = 10_000
    many_columns: int = 512
    nested_folds: int = 0
    mixed: int = 1
    averaged: int = 3
    surfaces: bool = False
    networks: bool = False
    lean: bool = False

    def centers(self, n_rows: int, n_columns: int) -> Mapping[str, Any]:
        """Return the models that compete for the center."""
        if self.lean:
            return {LEAN_CENTER: SymmetricTrees(n_trees=200)}
        again = self.is_finer(n_rows)
        pool = center_pool(n_rows, n_columns, again=again)
        if self.surfaces:
            for by_rank in (False, True):
                pool |= surface_pool(n_columns, by_rank=by_rank, again=again)
        return pool

    def parts(self) -> Mapping[str, EpistemicPart]:
        """Return the centers that bring their own members and run no race."""
        return {"networks": small_networks()} if self.networks else {}

    def is_finer(self, n_rows: int) -> bool:
        """Whether a center that has won the race gets more trees or landmarks than it had there."""
        return n_rows > self.fine_rows

    def folds_for(self, n_rows: int, n_columns: int, n_units: int | None = None) -> int:
        """Return how many folds the members of a center have.

        Units are rows, or the groups that keep rows together. If a fold were a single unit, the
        members of all repeats that leave it out would see the same rows and agree but for rounding;
        so a fold has at least two units.
        """
        units = n_rows if n_units is None else n_units
        folds = self.folds
        is_small = n_rows < self.small_rows and n_columns <= self.many_columns
        if is_small and units >= UNITS_PER_FOLD * 2 * folds:
            folds *= 2
        elif self.is_finer(n_rows):
            folds = max(2, folds // 2)
        return min(folds, max(2, units // 2))

    def race_folds(self, n_rows: int, n_columns: int, n_units: int | None = None) -> int:
        """Return how many folds the rows are divided into for the race."""
        return min(self.folds, self.folds_for(n_rows, n_columns, n_units))

    def n_judges(self, n_rows: int, n_folds: int) -> int:
        """Return how many folds judge centers: three tenths, or at least `RACE_ROWS` rows."""
        return min(n_folds, max(2, ceil(0.3 * n_folds), ceil(RACE_ROWS * n_folds / n_rows)))

    def repeats_for(self, n_rows: int) -> int:
        """Return how often the rows are divided into folds."""
        return max(min(2, self.repeats), self.repeats - (n_rows > self.judging_rows))

    def n_centers_for(self, n_rows: int, n_columns: int) -> int:
        """Return the largest number of centers around which noise models compete."""
        if n_columns > self.many_columns:
            return 1
        return max(1, self.n_centers - (n_rows > self.judging_rows))

    def fewest_centers_for(self, n_rows: int, n_columns: int) -> int:
        """Return how many centers win the race even if their mean does not err less."""
        return self.n_centers_for(n_rows, n_columns) if n_rows < self.small_rows else 1

    def nested_folds_for(self, n_rows: int) -> int:
        """Return how many nested folds there are, of which two are left out; 0 if none."""
        if self.nested_folds == 0:
            return 0
        return max(3, self.nested_folds - (n_rows > self.judging_rows))

    def noises(self) -> Mapping[str, ResampledPart]:
        """Return the aleatoric parts that compete around each of the best centers."""
        parts: dict[str, ResampledPart] = {
            "constant": ScaledResiduals(DummyRegressor()),
            "scale": ScaledResiduals(),
        }
        if not self.lean:
            parts |= {
                "scale by logarithm": ScaledResiduals(learn_log=True),
                "boosting": FoldedBounds(shallow_boosting()),
                "forest": FoldedBounds(noise_forest()),
            }
        return parts


def small_networks() -> EpistemicPart:
    """Return five networks that are trained in seconds on a few thousand rows."""
    from clearbands.uncertainty.deep_ensemble import DeepEnsemble

    return DeepEnsemble(5, (64, 64), max_epochs=300, patience=30, spread="gaussian")


THOROUGH = ModelSearch(
    repeats=6,
    n_centers=4,
    mixed=3,
    nested_folds=7,
    averaged=6,
    surfaces=True,
    networks=True,
)
"""The rules for those who wait: more members, four centers, mixtures, surfaces, networks."""


TRIAL_ROWS = 4_000
TRIAL_TREES = 48


class Rung(NamedTuple):
    """A search and its costs, in times that the trees of one member take on all rows."""

    search: ModelSearch
    few_rows: float  # the cost of a fit of at most 10,000 rows
    many_rows: float  # the cost of a fit of more rows


LADDER = (
    Rung(ModelSearch(), 115, 46),
    Rung(ModelSearch(n_centers=1, repeats=2, averaged=2), 88, 45),
    Rung(ModelSearch(folds=5, repeats=2, n_centers=1, small_rows=0, lean=True), 53, 22),
)
"""Best first; `python -m benchmarks.budget` measures the costs, in members of 400 trees."""


def search_within(seconds: float, rows: Rows, n_jobs: int | None) -> ModelSearch:
    """Return the best search of the ladder that fits into this time, or else the quickest.

    The trees of one member are timed on some of the rows, so another machine may choose another
    search; give `search_` of the fitted model to repeat this one.
    """
    budget = seconds * effective_n_jobs(n_jobs)
    member = _seconds_per_member(rows)
    for rung in LADDER:
        n_members = rung.few_rows if len(rows) <= rung.search.judging_rows else rung.many_rows
        if n_members * member <= budget:
            return rung.search
    return LADDER[-1].search


def _seconds_per_member(rows: Rows) -> float:
    """Return the seconds that 400 trees of depth 6 take on all rows."""
    some = rows.take(np.arange(min(len(rows), TRIAL_ROWS)))
    once = Draws(np.ones((1, len(some)), np.uint8))
    taken = []
    for _ in range(2):  # the first time compiles the code or loads it
        started = perf_counter()
        growing = start_bag(
            SymmetricTrees(random_state=0), some.X, some.y, once, n_jobs=1, stage="timing"
        )
        growing.grow(TRIAL_TREES, n_jobs=1, stage="timing", goes_on=False)
        taken.append(perf_counter() - started)
    return min(taken) * SymmetricTrees().n_trees / TRIAL_TREES * len(rows) / len(some)
