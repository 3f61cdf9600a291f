"""Members of symmetric trees on a table in fine bins, each fitted by a task of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from clearbands.engine.binning import Bins
from clearbands.engine.grains import Grains
from clearbands.engine.screening import MANY_COLUMNS, Screen
from clearbands.engine.symmetric import (
    SymmetricBag,
    SymmetricMember,
    grow_member,
    magnitude_of,
)
from clearbands.engine.symmetric_columns import Columns, Drawn
from clearbands.engine.symmetric_tree import Rule
from clearbands.models.categories import Worths
from clearbands.models.category_bag import CategoryBag
from clearbands.models.monotone import directions
from clearbands.models.seeds import member_seeds
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.rows.draws import HashedFolds
from clearbands.rows.hashing import hashed_share
from clearbands.scaling.category_sums import SumCategories, joined, look_up
from clearbands.scaling.rows import BinRows, bins_in
from clearbands.scaling.store import Store
from clearbands.scaling.tasks import Stage
from clearbands.uncertainty.epistemic import center_and_widths
from clearbands.uncertainty.scaled_residuals import learned_sizes

SECONDS_PER_CELL = 1e-9  # that a tree spends on a column of a row, for every level
SCREENING_ROWS = 20_000  # that tell which of very many columns to look at
SHOWN_BINS = "shown.npz"


@dataclass(frozen=True)
class Response(ABC):
    """What members see of a piece of the table beside its categories, and what they learn."""

    rows: BinRows

    @property
    @abstractmethod
    def bins(self) -> Bins: ...

    @abstractmethod
    def fine(self, number: int) -> np.ndarray:
        """(d, n) int16"""

    @abstractmethod
    def target(self, number: int) -> np.ndarray:
        """(n,)"""


@dataclass(frozen=True)
class Target(Response):
    """All columns, and y."""

    @property
    def bins(self) -> Bins:
        return bins_in(self.rows.store.folder)

    def fine(self, number: int) -> np.ndarray:
        return self.rows.fine(number)

    def target(self, number: int) -> np.ndarray:
        return self.rows.target(number)


@dataclass(frozen=True)
class Sizes(Response):
    """What is shown of the center beside all columns, and the sizes of the residuals."""

    centers: SayRows
    store: Store  # where the cuts of the shown columns lie
    n_shown: int
    offset: float | None  # of logarithms

    @property
    def bins(self) -> Bins:
        return joined([bins_in(self.rows.store.folder), bins_in(self.store.folder, SHOWN_BINS)])

    def fine(self, number: int) -> np.ndarray:
        fine = self.rows.fine(number)
        if not self.n_shown:
            return fine
        extra = np.ascontiguousarray(self.centers.of_piece(number)[: self.n_shown].T)
        return np.concatenate([fine, bins_in(self.store.folder, SHOWN_BINS).columns(extra)])

    def target(self, number: int) -> np.ndarray:
        residual = self.rows.target(number) - self.centers.of_piece(number)[0]
        return learned_sizes(residual, self.offset)


@dataclass(frozen=True)
class GrowMembers(Stage):
    """A file for each member, who sees the rows that its number and the seed say."""

    learned: Response
    kind: type[SymmetricTrees]
    parameters: tuple[tuple[str, Any], ...]  # of a model of this kind
    draws: HashedFolds
    per_one: float  # grains of a weight of 1
    sums: SumCategories | None = None  # where columns are codes of categories

    @property
    def count(self) -> int:
        return len(self.draws)

    @property
    def n_columns(self) -> int:
        """That members see: what categories are worth to them stands behind the rest."""
        n_worths = 0 if self.sums is None else self.sums.n_features
        return self.learned.bins.n_columns + n_worths

    def bins(self, member: int) -> Bins:
        """Of these columns."""
        if self.sums is None:
            return self.learned.bins
        return joined([self.learned.bins, *self.sums.bins(member)])

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
        worths = None if self.sums is None else self.sums.fine_worths(number)

        def parts() -> Iterator[Drawn]:
            start = 0
            for piece, is_seen in enumerate(seen):
                fine, drawn = self._fine(number, piece, worths), np.flatnonzero(is_seen)
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
        """All members, when they are there."""
        return _bag(self)

    def predict_left_out(
        self, fine: np.ndarray, codes: np.ndarray, unseen: np.ndarray
    ) -> np.ndarray:
        """(n, r): what the members `unseen` (b, n) say of rows in fine bins and codes."""
        bag = self.bag()
        if isinstance(bag, SymmetricBag):
            return bag.predict_left_out(fine, unseen)
        assert self.sums is not None
        place = np.cumsum(unseen, axis=0) - 1
        members = np.full((fine.shape[1], int(place.max(initial=-1)) + 1), np.nan)
        for member, own in enumerate(unseen):
            rows = np.flatnonzero(own)
            tables = zip(self.sums.bins(member), self.sums.worths(member), strict=True)
            worths = [bins.columns(of).T[None] for bins, of in tables]
            worth_to_member = look_up(worths, codes[:, rows], np.zeros(len(rows), int))
            view = np.concatenate([np.take(fine, rows, axis=1), worth_to_member])
            alone = bag.parts[member].predict_left_out(view, np.ones((1, len(rows)), bool))
            members[rows, place[member, rows]] = alone[:, 0] if len(rows) else 0.0
        return members

    def _fine(self, member: int, piece: int, worths: list[np.ndarray] | None) -> np.ndarray:
        """(columns, n) int16: a piece of the table as the member sees it."""
        fine = self.learned.fine(piece)
        if worths is None or self.sums is None:
            return fine
        return np.concatenate([fine, self.sums.view(member, piece, worths)])

    def _rows_of(self, member: int) -> tuple[list[np.ndarray], np.ndarray, np.ndarray, float]:
        """Which rows of each piece the member sees, their targets and grains, and the unit."""
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
        """(n,): of the rows of a piece."""
        weight = self.learned.rows.weight(number)
        if weight is None:
            return np.ones(len(self.learned.rows.target(number)), np.int64)
        of_rows = Grains.ground(weight, self.per_one).of_rows
        assert of_rows is not None
        return of_rows

    def _columns(self, member: int, magnitude: float) -> np.ndarray | None:
        """Of very many columns those that say most about some rows of the member; None for all."""
        if self.learned.bins.n_columns <= MANY_COLUMNS:
            return None
        share = min(1.0, SCREENING_ROWS / self.draws.n_rows)
        stream = self.draws.n_repeats + self.count  # the next after those of the members
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
        assert screen is not None
        plain = screen.columns(np.concatenate(targets), np.concatenate(counts))
        return np.append(plain, np.arange(self.learned.bins.n_columns, self.n_columns))


@dataclass(frozen=True)
class SayRows(Stage):
    """What the members of a center that did not see a row say of it, piece by piece."""

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

    def of_piece(self, number: int) -> np.ndarray:
        """(2, n), on disk: the center, and the epistemic width below and above together."""
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
        [Worths(columns, stage.sums.worths(number)) for number in range(stage.count)],
        [SymmetricBag.of(stage.bins(number), [each]) for number, each in enumerate(members)],
    )


TREES = ("feature", "threshold", "value")
