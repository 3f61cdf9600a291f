"""Boosting with symmetric trees, refitted on many parts of one training set.

All members share one matrix of binned columns; the part that a member sees is a count per row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from clearbands.engine.binning import Bins
from clearbands.engine.compiled import whole_and_read_only
from clearbands.engine.grains import Grains
from clearbands.engine.own_unit import OwnUnit
from clearbands.engine.progress import ignore, listening
from clearbands.engine.screening import Screen
from clearbands.engine.stored import Stored, check_array, check_numbers
from clearbands.engine.symmetric_columns import (
    ALWAYS_LEFT,
    FINE_BINS,
    Columns,
)
from clearbands.engine.symmetric_histograms import Histograms
from clearbands.engine.symmetric_predict import TREES_AT_ONCE, predict_rows
from clearbands.engine.symmetric_tree import MAX_WEIGHT, Rule, TreeRows, fit_member
from clearbands.engine.threads import run_threads

MOST_QUESTIONS = 16  # a leaf is a number of two bytes whose bits are their answers
ROWS_AT_ONCE = 2**13  # rows that one task bins and predicts


@dataclass(frozen=True)
class SymmetricBag(Stored):
    """Symmetric trees: the leaf of a row is the number whose bits answer its tree's questions."""

    bins: Bins  # fine bins
    unit: np.ndarray  # (b,): the unit of init and value
    init: np.ndarray  # (b,): what a member predicts before its first tree
    feature: np.ndarray  # (b, trees, depth) uint16: the column that a question is about
    threshold: np.ndarray  # (b, trees, depth) int16: the last fine bin that answers 0
    value: np.ndarray  # (b, trees, 2^depth) float32: what a leaf adds to the prediction

    @classmethod
    def of(cls, bins: Bins, members: Sequence[SymmetricMember]) -> SymmetricBag:
        """Return a bag of members that were grown on the same fine bins."""
        units, inits, *trees = zip(*members, strict=True)
        return cls(bins, np.array(units), np.array(inits), *map(np.stack, trees))

    def check(self) -> None:
        check_array(self.feature, "features", np.uint16, (None, None, None))
        n_members, n_trees, depth = self.feature.shape
        if n_trees % TREES_AT_ONCE or not 1 <= depth <= MOST_QUESTIONS:
            raise ValueError(f"There are {n_trees} trees of {depth} questions.")
        check_array(self.threshold, "thresholds", np.int16, self.feature.shape)
        check_array(self.value, "values", np.float32, (n_members, n_trees, 2**depth))
        check_numbers(self.feature, "A question", self.bins.n_columns, "columns")
        check_array(self.init, "starts", np.float64, (n_members,))
        check_array(self.unit, "units", np.float64, (n_members,))

    def __len__(self) -> int:
        return len(self.init)

    def first(self, n_trees: int) -> SymmetricBag:
        """Return the members with `n_trees` only, a multiple of 4, as views without copies."""
        own = slice(n_trees)
        return replace(
            self,
            feature=self.feature[:, own],
            threshold=self.threshold[:, own],
            value=self.value[:, own],
        )

    def members(self, chosen: slice) -> SymmetricBag:
        """Return some of the members alone, as views without copies."""
        names = ("unit", "init", "feature", "threshold", "value")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})

    def predict_members(self, X: np.ndarray, *, n_jobs: int | None = None) -> np.ndarray:
        """Return the predictions (n, 1, b) of all members for every row."""
        self.bins.check_width(X)
        members = np.empty((len(X), len(self)))
        everyone = slice(None)

        def predict_part(number: int, stop: np.ndarray) -> None:
            part = slice(number * ROWS_AT_ONCE, (number + 1) * ROWS_AT_ONCE)
            self._predict(self.bins.columns(X[part]), everyone, stop, members[part])

        _run(predict_part, -(-len(X) // ROWS_AT_ONCE), n_jobs)
        members *= self.unit
        return members[:, None, :]

    def predict_unseen(
        self, X: np.ndarray, counts: np.ndarray, *, n_jobs: int | None = None
    ) -> np.ndarray:
        """Return the predictions (n, r) of every row by the members whose count (b, n) of it is 0.

        They stand in the order of the members; r is the largest number of them that a row has, and
        NaN fills up rows that have fewer. Nothing else is computed: after K folds this costs a K-th
        of `predict_members`.
        """
        self.bins.check_width(X)
        return self.predict_left_out(self.bins.columns(X), counts == 0, n_jobs=n_jobs)

    def predict_left_out(
        self, fine: np.ndarray, unseen: np.ndarray, *, n_jobs: int | None = None
    ) -> np.ndarray:
        """Predict (n, r) for rows in fine bins (d, n), each by the members with `unseen` (b, n)."""
        place = np.cumsum(unseen, axis=0) - 1
        members = np.full((fine.shape[1], int(place.max(initial=-1)) + 1), np.nan)

        def predict_member(member: int, stop: np.ndarray) -> None:
            rows = np.flatnonzero(unseen[member])
            own = np.empty((len(rows), 1))
            self._predict(np.take(fine, rows, axis=1), slice(member, member + 1), stop, own)
            members[rows, place[member, rows]] = own[:, 0] * self.unit[member]

        _run(predict_member, len(self), n_jobs)
        return members

    def _predict(
        self, fine: np.ndarray, chosen: slice, stop: np.ndarray, members: np.ndarray
    ) -> None:
        # Contiguous arrays: of the `first` trees of many members the kernel gets a copy.
        trees = (self.feature[chosen], self.threshold[chosen], self.value[chosen])
        predict_rows(fine, *map(whole_and_read_only, (self.init[chosen], *trees)), stop, members)


def _run(task: Callable[[int, np.ndarray], None], count: int, n_jobs: int | None) -> None:
    """Run tasks, on the calling thread if there is nothing to share out: threads start slowly."""
    if count > 1 and effective_n_jobs(n_jobs) > 1:
        with listening(ignore):
            run_threads(task, count, n_jobs=n_jobs, stage="predict")
    else:
        go_on = np.zeros(1, np.uint8)
        for number in range(count):
            task(number, go_on)


@dataclass(frozen=True)
class GrowingBag:
    """Members that get some trees at a time, for as long as it pays."""

    bins: Bins
    start_member: Callable[[int], GrowingMember]
    members: list[GrowingMember | None]

    @classmethod
    def start(
        cls,
        X: np.ndarray,
        y: np.ndarray,
        counts: np.ndarray,
        grains: Grains,
        *,
        rule: Rule,
        learning_rates: np.ndarray,
        max_bins: int,
        column_share: float,
        seeds: np.ndarray,
        direction: np.ndarray | None,
    ) -> GrowingBag:
        """Start members without trees, each on a row of `counts` (b, n), of any integer type.

        A count is how often a row is taken, or any other whole weight; `grains` say what it weighs
        each time, and the l2 of the `rule` is in grains. Learning rates and seeds, which place the
        cuts, are (b,). y is (n,), or (b, n) where members learn targets of their own. Every tree
        asks about a share of the columns. Only the order of the values in a column of X counts.
        Where `direction` (d,) is 1, predictions must rise with a column, and where it is -1, they
        must fall, for any two rows that differ in such columns alone.
        """
        check_counts(counts, grains)
        magnitude = magnitude_of(float(np.abs(y).max()))
        targets = np.broadcast_to(y / magnitude, counts.shape)
        bins = Bins.from_data(X, FINE_BINS, grains.of_rows)
        fine = bins.columns(X)
        screen = Screen.from_bins(fine.T, grains)

        def start_member(member: int) -> GrowingMember:
            own_counts = grains.times(counts[member])
            drawn = np.flatnonzero(own_counts)
            weight = own_counts[drawn].astype(np.int64)
            seen = None if screen is None else screen.columns(targets[member], own_counts)
            columns = Columns.draw(
                fine if seen is None else fine[seen], drawn, weight, max_bins, int(seeds[member])
            )
            columns = columns.shared_out(column_share).directed(
                direction if direction is None or seen is None else direction[seen]
            )
            own_rule = rule._replace(learning_rate=float(learning_rates[member]))
            own_target = targets[member, drawn]
            return GrowingMember.start(columns, own_rule, own_target, weight, seen, magnitude)

        return cls(bins, start_member, [None] * len(counts))

    def grow(
        self, n_trees: int, *, n_jobs: int | None, stage: str, goes_on: bool = True
    ) -> SymmetricBag:
        """Return the bag with `n_trees` trees per member; earlier trees stay as they are.

        What the next trees need is kept only where growing `goes_on`.
        """
        grown: list[Any] = [None] * len(self.members)

        def grow_one(number: int, stop: np.ndarray) -> None:
            member = self.members[number] or self.start_member(number)
            if goes_on:
                self.members[number] = member
            grown[number] = member.grow(n_trees, stop)

        run_threads(grow_one, len(self.members), n_jobs=n_jobs, stage=stage)
        return SymmetricBag.of(self.bins, grown)


class SymmetricMember(NamedTuple):
    """The trees of one member, as they stand in a bag."""

    unit: float
    init: float
    feature: np.ndarray
    threshold: np.ndarray
    value: np.ndarray

    def among(self, columns: np.ndarray | None) -> SymmetricMember:
        """Return a member that saw these columns alone, with their numbers among all columns."""
        if columns is None:
            return self
        return self._replace(feature=columns[self.feature].astype(np.uint16))

    def times(self, magnitude: float) -> SymmetricMember:
        """Return a member whose targets were divided by `magnitude`, in the unit before that."""
        return self._replace(unit=self.unit * magnitude)


def magnitude_of(largest: float) -> float:
    """Return a power of two: division by it rounds nothing, and no difference of y overflows."""
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1))


@dataclass
class GrowingMember:
    """The trees of one member, and all that the next tree needs."""

    columns: Columns
    rule: Rule  # the number of trees in it is not used
    rows: TreeRows
    histograms: Histograms
    own: OwnUnit
    grown: SymmetricMember
    n_trees: int
    seen: np.ndarray | None  # the numbers of its columns among all columns
    magnitude: float  # what targets were divided by

    @classmethod
    def start(
        cls,
        columns: Columns,
        rule: Rule,
        target: np.ndarray,
        weight: np.ndarray,
        seen: np.ndarray | None = None,
        magnitude: float = 1.0,
    ) -> GrowingMember:
        """Start without trees on the rows of `columns`, whose targets (m,) lie between -2 and 2."""
        own = OwnUnit.of(target, weight)
        rows = TreeRows.from_target(own.apply(target), weight)
        histograms = Histograms.allocate(columns, rule.max_depth)
        without = SymmetricMember(own.unit, 0.0, *empty_trees((), 0, rule.max_depth))
        return cls(columns, rule, rows, histograms, own, without, 0, seen, magnitude)

    def grow(self, n_trees: int, stop: np.ndarray) -> SymmetricMember:
        """Return the member with `n_trees` trees, as it stands in a bag."""
        init = np.array([self.grown.init])
        trees = empty_trees((), n_trees, self.rule.max_depth)
        for longer, old in zip(trees, self.grown[2:], strict=True):
            longer[: self.n_trees] = old[: self.n_trees]
        rule = self.rule._replace(n_trees=n_trees)
        first = np.int64(self.n_trees)
        fit_member(self.columns, rule, self.rows, self.histograms, first, stop, init, *trees)
        self.grown = SymmetricMember(self.own.unit, float(init[0]), *trees)
        self.n_trees = n_trees
        start = self.grown.init + self.own.origin / self.own.unit
        return self.grown._replace(init=start).among(self.seen).times(self.magnitude)


def grow_member(
    columns: Columns, rule: Rule, target: np.ndarray, weight: np.ndarray, stop: np.ndarray
) -> SymmetricMember:
    """Boost on the rows of `columns`, whose targets (m,) lie between -2 and 2."""
    return GrowingMember.start(columns, rule, target, weight).grow(rule.n_trees, stop)


def empty_trees(
    shape: tuple[int, ...], n_trees: int, max_depth: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, thresholds and values of trees without effect, a multiple of four."""
    n_slots = -(-n_trees // TREES_AT_ONCE) * TREES_AT_ONCE
    return (
        np.zeros((*shape, n_slots, max_depth), np.uint16),
        np.full((*shape, n_slots, max_depth), ALWAYS_LEFT, np.int16),
        np.zeros((*shape, n_slots, 2**max_depth), np.float32),
    )


def check_counts(counts: np.ndarray, grains: Grains) -> None:
    """Raise unless trees can be grown on every part of the rows, a row of `counts` (b, n)."""
    totals = np.array([grains.times(own).sum(dtype=np.int64) for own in counts])
    if totals.min() < 1:
        raise ValueError(
            f"Member {totals.argmin()} has no rows: give every member a count above 0."
        )
    if totals.max() > MAX_WEIGHT:
        raise ValueError(
            f"The counts of a member must add up to at most {MAX_WEIGHT:,}, got "
            f"{totals.max():,}: divide the weights by a common number."
        )
