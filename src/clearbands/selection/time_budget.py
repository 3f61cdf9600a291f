"""The best search that can be had in a given time."""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs

from clearbands.models.bagging import start_bag
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.rows.draws import Draws
from clearbands.rows.split import Rows
from clearbands.selection.model_search import ModelSearch

TRIAL_ROWS = 4_000
TRIAL_TREES = 48


class Rung(NamedTuple):
    """A search, and what it costs: how many times the trees of one member of all rows."""

    search: ModelSearch
    few_rows: float  # a fit of at most 10,000 rows
    many_rows: float  # of more


LADDER = (
    Rung(ModelSearch(), 115, 46),
    Rung(ModelSearch(n_centers=1, repeats=2, averaged=2), 88, 45),
    Rung(ModelSearch(folds=5, repeats=2, n_centers=1, small_rows=0, lean=True), 53, 22),
)
"""The best first. `python -m benchmarks.budget` measures the costs, in members of 400 trees."""


def search_within(seconds: float, rows: Rows, n_jobs: int | None) -> ModelSearch:
    """The best search of the ladder that takes so long at most, or the quickest.

    The trees of one member are timed on some of the rows, so another machine may come to another
    answer; `search_` of the fitted model repeats this one.
    """
    budget = seconds * effective_n_jobs(n_jobs)
    member = _seconds_per_member(rows)
    for rung in LADDER:
        n_members = rung.few_rows if len(rows) <= rung.search.judging_rows else rung.many_rows
        if n_members * member <= budget:
            return rung.search
    return LADDER[-1].search


def _seconds_per_member(rows: Rows) -> float:
    """That 400 trees of depth 6 take on all rows."""
    some = rows.take(np.arange(min(len(rows), TRIAL_ROWS)))
    once = Draws(np.ones((1, len(some)), np.uint8))
    taken = []
    for _ in range(2):  # the first compiles, or loads what was compiled
        started = perf_counter()
        growing = start_bag(
            SymmetricTrees(random_state=0), some.X, some.y, once, n_jobs=1, stage="timing"
        )
        growing.grow(TRIAL_TREES, n_jobs=1, stage="timing", goes_on=False)
        taken.append(perf_counter() - started)
    return min(taken) * SymmetricTrees().n_trees / TRIAL_TREES * len(rows) / len(some)
