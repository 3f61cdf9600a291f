"""Members of symmetric trees on a table in fine bins; a task of its own fits each member."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from clearbands.engine.binning import Bins
from clearbands.engine.grains import Grains
from clearbands.engine.screening import FEWEST_KEPT, Screen
from clearbands.engine.symmetric import (
    SymmetricBag,
    SymmetricMember,
    grow_member,
    magnitude_of,
)
from clearbands.engine.symmetric_columns import Columns, Drawn
from clearbands.engine.symmetric_tree import Rule
from clearbands.models.categories import CategoryEffects
from clearbands.models.category_bag import CategoryBag
from clearbands.models.monotone import directions
from clearbands.models.seeds import member_seeds
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.rows.draws import HashedFolds
from clearbands.rows.hashing import hashed_share
from clearbands.scaling.category_sums import SumCategories, join_bins, look_up
from clearbands.scaling.rows import BinRows, bins_in
from clearbands.scaling.store import Store
from clearbands.scaling.tasks import Stage
from clearbands.uncertainty.epistemic import center_and_widths
from clearbands.uncertainty.scaled_residuals import learned_sizes

SECONDS_PER_CELL = 1e-9  # the time of one tree for one row, column and level
SCREENING_ROWS = 20_000  # the rows by which the useful ones of very many columns are found
SHOWN_BINS = "shown.npz"


@dataclass(frozen=True)
class Response(ABC):
    """The columns that members see of each piece, without categories, and what they learn."""

    rows: BinRows

    @property
    @abstractmethod
    def bins(self) -> Bins: ...

    @abstractmethod
    def fine(self, number: int) -> np.ndarray:
        """Return the fine bins (d, n) int16 of a piece."""

    @abstractmethod
    def target(self, number: int) -> np.ndarray:
        """Return the learned values (n,) of a piece."""


@dataclass(frozen=True)
class Target(Response):
    """Members see all columns and learn y."""

    @property
    def bins(self) -> Bins:
        return bins_in(self.rows.store.folder)

    def fine(self, number: int) -> np.ndarray:
        return self.rows.fine(number)

    def target(self, number: int) -> np.ndarray:
        return self.rows.target(number)


@dataclass(frozen=True)
class Sizes(Response):
    """Members see all columns and what is shown of the center; they learn sizes of residuals."""

    centers: PredictUnseen
    store: Store  # holds the cuts of the shown columns
    n_shown: int
    offset: float | None  # added before the logarithm; None if sizes are learned as they are

    @property
    def bins(self) -> Bins:
        return join_bins([bins_in(self.rows.store.folder), bins_in(self.store.folder, SHOWN_BINS)])

    def fine(self, number: int) -> np.ndarray:
        fine = self.rows.fine(number)
        if not self.n_shown:
            return fine
        extra = np.ascontiguousarray(self.centers.center_and_width(number)[: self.n_shown].T)
        return np.concatenate([fine, bins_in(self.store.folder, SHOWN_BINS).columns(extra)])

    def target(self, number: int) -> np.ndarray:
        residual = self.rows.target(number) - self.centers.center_and_width(number)[0]
        return learned_sizes(residual, self.offset)


@dataclass(frozen=True)
class GrowMembers(Stage):
    """The stage that writes a file for each member; its number and the seed decide its rows."""

    learned: Response
    kind: type[SymmetricTrees]
    parameters: tuple[tuple[str, Any], ...]  # the parameters of a model of this kind
    draws: HashedFolds
    per_one: float  # the grains of a weight of 1
    sums: SumCategories | None = None  # needed if columns are codes of categories

    @property
    def count(self) -> int:
        return len(self.draws)

    @property
    def n_columns(self) -> int:
        """The number of columns that members see; the effects of categories come last."""
        n_effects = 0 if self.sums is None else self.sums.n_features
        return self.learned.bins.n_columns + n_effects

    def bins(self, member: int) -> Bins:
        """Return the bins of the columns that the member sees."""
        if self.sums is None:
            return self.learned.bins
        return join_bins([self.learned.bins, *self.sums.bins(member)])

    def name(self, number: int) -> str:
        return f"{number:04d}.npz"

    @property
    def seconds(self) -> float:
        model = self.kind(**dict(self.parameters))
        n_cells = self.draws.n_rows * self.draws.share * self.n_columns
        return SECONDS_PER_CELL * n_cells * model.n_trees * model.max_depth

    def make(self, number: int, stop: np.ndarray) -> None:
        model = self.kind(**dict(self.parameters))
        seen, target, weight, magnitude = self._rows_of(number)
        screened = self._columns(number, magnitude)
        effects = None if self.sums is None else self.sums.binned_effects(number)

        def parts() -> Iterator[Drawn]:
            start = 0
            for piece, is_seen in enumerate(seen):
                fine, drawn = self._visible_bins(number, piece, effects), np.flatnonzero(is_seen)
                own = weight[start : start + len(drawn)]
                yield Drawn(fine if screened is None else fine[screened], drawn, own)
                start += len(drawn)

        n_columns = self.n_columns if screened is None else len(screened)
        seed = member_seeds(model.random_state, self.count)[number]
        columns = Columns.gather(parts, n_columns, model.max_bins, int(seed))
        ways = directions(model.monotone, range(self.n_columns))
        columns = columns.shared_out(model.column_share).directed(
            ways if ways is None or screened is None else ways[screened]
        )
        n_rows = np.array([weight.sum() / self.per_one])
        rate, l2 = float(model._learning_rates(n_rows)[0]), float(model.l2) * self.per_one
        rule = Rule(model.n_trees, model.max_depth, rate, l2, model.loss == "absolute")
        grown = grow_member(columns, rule, target, weight, stop).among(screened).times(magnitude)
        if not stop[0]:
            self.store.write_arrays(self.name(number), grown._asdict())

    def bag(self) -> SymmetricBag | CategoryBag:
        """Return the bag of all members, which must have been written."""
        return _bag(self)

    def predict_left_out(
        self, fine: np.ndarray, codes: np.ndarray, unseen: np.ndarray
    ) -> np.ndarray:
        """Return the predictions (n, r) for rows in fine bins and codes by unseen members.

        `unseen` (b, n) tells which rows each member did not see.
        """
        bag = self.bag()
        if isinstance(bag, SymmetricBag):
            return bag.predict_left_out(fine, unseen)
        assert self.sums is not None
        place = np.cumsum(unseen, axis=0) - 1
        members = np.full((fine.shape[1], int(place.max(initial=-1)) + 1), np.nan)
        for member, own in enumerate(unseen):
            rows = np.flatnonzero(own)
            tables = zip(self.sums.bins(member), self.sums.effects(member), strict=True)
            effects = [bins.columns(of).T[None] for bins, of in tables]
            member_effects = look_up(effects, codes[:, rows], np.zeros(len(rows), int))
            view = np.concatenate([np.take(fine, rows, axis=1), member_effects])
            alone = bag.parts[member].predict_left_out(view, np.ones((1, len(rows)), bool))
            members[rows, place[member, rows]] = alone[:, 0] if len(rows) else 0.0
        return members

    def _visible_bins(
        self, member: int, piece: int, effects: list[np.ndarray] | None
    ) -> np.ndarray:
        """Return a piece of the table (columns, n) int16 as the member sees it."""
        fine = self.learned.fine(piece)
        if effects is None or self.sums is None:
            return fine
        return np.concatenate([fine, self.sums.view(member, piece, effects)])

    def _rows_of(self, member: int) -> tuple[list[np.ndarray], np.ndarray, np.ndarray, float]:
        """Return which rows of each piece the member sees, their scaled targets and grains,
        and the unit of the targets.
        """
        seen, targets, weights, largest = [], [], [], 0.0
        for number in range(self.learned.rows.count):
            grains = self._grains(number)
            is_seen = self.draws.seen(member, self.learned.rows.keys(number)) & (grains > 0)
            target = self.learned.target(number)
            largest = max(largest, float(np.abs(target).max(initial=0.0)))
            seen.append(is_seen)
            targets.append(target[is_seen])
            weights.append(grains[is_seen])
        magnitude = magnitude_of(largest)
        target = np.concatenate(targets)
        if not len(target):
            raise ValueError(
                f"A member would see none of the {self.draws.n_rows:,} rows: give more rows, or "
                "more labels where some are kept together."
            )
        target /= magnitude
        return seen, target, np.concatenate(weights), magnitude

    def _grains(self, number: int) -> np.ndarray:
        """Return the grains (n,) of the rows of a piece."""
        weight = self.learned.rows.weight(number)
        if weight is None:
            return np.ones(len(self.learned.rows.target(number)), np.int64)
        of_rows = Grains.ground(weight, self.per_one).of_rows
        assert of_rows is not None
        return of_rows

    def _columns(self, member: int, magnitude: float) -> np.ndarray | None:
        """Choose the columns that tell most about some of the member's rows.

        None stands for all columns, unless there are more than trees on so many rows need.
        """
        if self.learned.bins.n_columns <= FEWEST_KEPT:
            return None
        share = min(1.0, SCREENING_ROWS / self.draws.n_rows)
        stream = self.draws.n_repeats + self.count  # the stream after those of the members
        fines, targets, grains, counts = [], [], [], []
        for number in range(self.learned.rows.count):
            keys = self.learned.rows.keys(number)
            looked_at = hashed_share(self.draws.seed, stream, keys, share)
            own = self._grains(number)[looked_at]
            fines.append(self.learned.fine(number)[:, looked_at])
            targets.append(self.learned.target(number)[looked_at] / magnitude)
            grains.append(own)
            counts.append(own * self.draws.seen(member, keys[looked_at]))
        weighed = Grains(np.concatenate(grains), self.per_one)
        screen = Screen.from_bins(np.ascontiguousarray(np.concatenate(fines, axis=1).T), weighed)
        if screen is None:
            return None
        plain = screen.columns(np.concatenate(targets), np.concatenate(counts))
        return np.append(plain, np.arange(self.learned.bins.n_columns, self.n_columns))


@dataclass(frozen=True)
class PredictUnseen(Stage):
    """The stage that predicts each row by the members of a center that did not see it."""

    center: GrowMembers
    level: float
    spread: str

    @property
    def count(self) -> int:
        return self.center.learned.rows.count

    def name(self, number: int) -> str:
        return f"said-{self.center.learned.rows.rows_at_once}/{number:06d}.npy"

    def make(self, number: int, stop: np.ndarray) -> None:
        keys = self.center.learned.rows.keys(number)
        center_and_width = np.empty((2, len(keys)))
        if len(keys):
            unseen = self.center.draws.left_out(keys)
            rows = self.center.learned
            members = self.center.predict_left_out(
                rows.fine(number), rows.rows.codes(number), unseen
            )
            center, widths = center_and_widths(members, [self.level], self.spread, 1)
            center_and_width[:] = center, widths[:, :, 0].sum(axis=1)
        self.store.write_array(self.name(number), center_and_width)

    def center_and_width(self, number: int) -> np.ndarray:
        """Return the center and the whole epistemic width (2, n) of a piece, mapped from disk."""
        return self.store.map_array(self.name(number))


@lru_cache(maxsize=4)
def _bag(stage: GrowMembers) -> SymmetricBag | CategoryBag:
    stored = (stage.store.read_arrays(stage.name(number)) for number in range(stage.count))
    members = [
        SymmetricMember(float(m["unit"]), float(m["init"]), *(m[n] for n in TREES)) for m in stored
    ]
    if stage.sums is None:
        return SymmetricBag.of(stage.learned.bins, members)
    first, n_codes = bins_in(stage.learned.rows.store.folder).n_columns, stage.sums.n_features // 2
    columns = np.arange(first, first + n_codes)
    return CategoryBag(
        [CategoryEffects(columns, stage.sums.effects(number)) for number in range(stage.count)],
        [SymmetricBag.of(stage.bins(number), [each]) for number, each in enumerate(members)],
    )


TREES = ("feature", "threshold", "value")
