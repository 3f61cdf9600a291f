"""The rows that each member of a bag sees, and those that it may therefore predict unseen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from clearbands.rows.checks import check_count
from clearbands.rows.hashing import hashed_folds, hashed_share
from clearbands.rows.time_order import TimeBlock


@dataclass(frozen=True)
class Draws:
    """How often each member drew each training row: counts (b, n), where 0 is unseen."""

    counts: np.ndarray

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def unseen(self) -> np.ndarray:
        """Booleans (b, n): which rows each member did not see and may therefore judge."""
        return self.counts == 0

    def members(self, some: slice) -> Draws:
        """Return the draws of some members; with them, some rows may have no unseen prediction."""
        return Draws(self.counts[some])

    @cached_property
    def unseen_per_row(self) -> float:
        """The mean number of members that did not see a row.

        It is cached because every prediction needs it.
        """
        return float(self.unseen.sum(axis=0).mean())

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields without cached values.

        So a model makes the same file before and after its first prediction.
        """
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class Chain(Draws):
    """Draws in the order of time: each member saw the rows before the block that it judges."""

    blocks: np.ndarray  # (b, n) booleans: the rows that each member judges

    @classmethod
    def of(cls, in_order: Sequence[TimeBlock], n_rows: int) -> Chain:
        counts = np.zeros((len(in_order), n_rows), np.uint8)
        blocks = np.zeros((len(in_order), n_rows), bool)
        for member, (past, block) in enumerate(in_order):
            counts[member, past], blocks[member, block] = 1, True
        return cls(counts, blocks)

    def members(self, some: slice) -> Chain:
        return Chain(self.counts[some], self.blocks[some])

    @property
    def unseen(self) -> np.ndarray:
        """Booleans (b, n): the block of each member. Rows in the gap or later are not judged."""
        return self.blocks


class Bootstraps(Draws):
    """Draws of as many rows as there are, with replacement: a member misses some 37 % of them."""

    @classmethod
    def draw(
        cls,
        n_rows: int,
        n_bootstraps: int,
        rng: np.random.RandomState,
        groups: np.ndarray | None = None,
    ) -> Bootstraps:
        """Rows of one label in `groups` are drawn together."""
        units = _units(n_rows, groups)
        n = int(units.max()) + 1
        counts = np.empty((n_bootstraps, n_rows), np.uint8)
        for bootstrap in counts:
            bootstrap[:] = np.bincount(rng.randint(n, size=n), minlength=n)[units]
        return cls(counts)


class BlockBootstraps(Draws):
    """Draws of stretches of neighbouring rows, with replacement, until there are as many rows.

    Rows in the order of time resemble their neighbours. If they were drawn one by one, members
    would agree more than their knowledge allows.
    """

    @classmethod
    def draw(
        cls, n_rows: int, n_bootstraps: int, rng: np.random.RandomState, length: int | None = None
    ) -> BlockBootstraps:
        """Draw stretches of `length` rows, by default the cube root of `n_rows`, rounded up.

        >>> draws = BlockBootstraps.draw(8, 2, np.random.RandomState(0), length=4)
        >>> draws.counts.sum(axis=1).tolist()
        [8, 8]
        """
        if length is None:
            length = ceil(n_rows ** (1 / 3))
        elif length > max(1, n_rows // 2):
            raise ValueError(
                f"block_length is {length}, and {n_rows} rows train: blocks longer than half of "
                "the rows make members that are nearly the same. "
                f"Choose at most {max(1, n_rows // 2)}."
            )
        n_blocks = ceil(n_rows / length)
        counts = np.empty((n_bootstraps, n_rows), np.uint8)
        for bootstrap in counts:
            starts = rng.randint(n_rows - length + 1, size=n_blocks)
            rows = (starts[:, None] + np.arange(length)).ravel()[:n_rows]
            bootstrap[:] = np.bincount(rows, minlength=n_rows)
        return cls(counts)


class Folds(Draws):
    """Repeated folds: each member leaves out one fold, each row is left out once per repeat."""

    @classmethod
    def draw(
        cls,
        n_rows: int,
        n_folds: int,
        n_repeats: int,
        rng: np.random.RandomState,
        groups: np.ndarray | None = None,
    ) -> Folds:
        """Draw the folds of every repeat; rows of one label in `groups` stay in one fold.

        Members are ordered by repeat. If there are fewer rows, or labels, than folds, there are
        as many folds as rows, or labels.
        """
        units = _units(n_rows, groups)
        n_units = int(units.max()) + 1
        if n_units < 2:
            what = "row" if groups is None else "label that keeps rows together"
            raise ValueError(
                f"There is only n_samples={n_units} {what}: at least 2 are needed, so that some "
                "rows can be left out while others train."
            )
        n_folds = min(n_folds, n_units)
        folds = (rng.permutation(np.arange(n_units) % n_folds)[units] for _ in range(n_repeats))
        seen = [fold != own for fold in folds for own in range(n_folds)]
        return cls(np.array(seen, np.uint8))


@dataclass(frozen=True)
class FoldPairs(Draws):
    """Draws in which each member leaves out two of K folds, so that K - 1 did not see a row.

    The members leave out the folds (0, 1), (0, 2), ..., (K - 2, K - 1). So the members that leave
    out one fold are in the order of the other fold.
    """

    fold: np.ndarray  # (n,): the fold of each row

    @property
    def n_folds(self) -> int:
        return int(self.fold.max()) + 1

    @classmethod
    def draw(
        cls,
        n_rows: int,
        n_folds: int,
        rng: np.random.RandomState,
        groups: np.ndarray | None = None,
    ) -> FoldPairs:
        """Draw the folds; rows of one label in `groups` stay in one, so few labels make fewer."""
        units = _units(n_rows, groups)
        n_units = int(units.max()) + 1
        if n_units < 3:
            what = "rows" if groups is None else "labels that keep rows together"
            raise ValueError(
                f"There are only n_samples={n_units} {what}: at least 3 are needed, so that two "
                "parts of them can be left out while others train."
            )
        n_folds = min(n_folds, n_units)
        fold = rng.permutation(np.arange(n_units) % n_folds)[units]
        first, second = np.triu_indices(n_folds, 1)
        seen = (fold != first[:, None]) & (fold != second[:, None])
        return cls(seen.astype(np.uint8), fold)

    def folds(self) -> Folds:
        """Return draws that leave out one fold at a time."""
        return Folds((self.fold != np.arange(self.n_folds)[:, None]).astype(np.uint8))


@dataclass(frozen=True)
class HashedFolds:
    """Repeated folds, in which a hash of its number gives the fold of a row.

    No table of counts is needed. Members are ordered by repeat, as in `Folds`. With a `share`
    below 1, a member sees only that share of the rows outside its fold, for tables larger than it
    can hold.

    If rows are drawn by labels that they share, or if some are held out, their numbers are not
    their places in the table, and `by_place` is False.

    >>> draws = HashedFolds(seed=0, n_rows=1000, n_folds=5, n_repeats=2)
    >>> len(draws), draws.unseen_per_row
    (10, 2.0)
    >>> bool((draws.unseen.sum(axis=0) == 2).all())
    True
    """

    seed: int
    n_rows: int
    n_folds: int
    n_repeats: int
    share: float = 1.0
    by_place: bool = True

    def __len__(self) -> int:
        return self.n_folds * self.n_repeats

    @property
    def unseen_per_row(self) -> float:
        return float(self.n_repeats)

    @property
    def counts(self) -> np.ndarray:
        """Counts (b, n) of all rows. For very many rows, ask `seen` about some of them."""
        rows = self._places()
        return np.array([self.seen(member, rows) for member in range(len(self))], np.uint8)

    @property
    def unseen(self) -> np.ndarray:
        """Booleans (b, n): which rows are in the fold that each member left out."""
        return self.left_out(self._places())

    def _places(self) -> np.ndarray:
        if not self.by_place:
            raise ValueError(
                "This fit kept rows of one label together, or held rows out, so the place of a row "
                "does not tell which members saw it."
            )
        return np.arange(self.n_rows)

    def seen(self, member: int, rows: np.ndarray) -> np.ndarray:
        """Return which of the rows with these numbers a member sees: booleans (n,)."""
        repeat, own = divmod(member, self.n_folds)
        fold = hashed_folds(self.seed, repeat, rows, self.n_folds)
        stream = self.n_repeats + member
        return (fold != own) & hashed_share(self.seed, stream, rows, self.share)

    def left_out(self, rows: np.ndarray) -> np.ndarray:
        """Return which rows with these numbers are in each member's own fold: booleans (b, n)."""
        folds = [hashed_folds(self.seed, r, rows, self.n_folds) for r in range(self.n_repeats)]
        return np.array([fold == own for fold in folds for own in range(self.n_folds)])


def draw_bootstraps(
    kind: str,
    n_rows: int,
    n_bootstraps: int,
    rng: np.random.RandomState,
    groups: np.ndarray | None = None,
    *,
    block_length: int | None = None,
) -> Draws:
    """Draw bootstraps of single rows ("rows") or of stretches of neighbours ("blocks")."""
    if kind not in ("rows", "blocks"):
        raise ValueError(f'bootstrap must be "rows" or "blocks", got {kind!r}.')
    if block_length is not None:
        check_count(block_length, "block_length")
    if kind == "rows":
        return Bootstraps.draw(n_rows, n_bootstraps, rng, groups)
    if groups is not None:
        raise ValueError(
            'bootstrap="blocks" draws neighbouring rows, whatever labels keep them together: '
            'leave out groups, or choose bootstrap="rows".'
        )
    return BlockBootstraps.draw(n_rows, n_bootstraps, rng, block_length)


def _units(n_rows: int, groups: np.ndarray | None) -> np.ndarray:
    """Return the unit (n,) that each row is drawn with: its label, or the row itself."""
    return np.arange(n_rows) if groups is None else np.unique(groups, return_inverse=True)[1]


def few_missing_rows(counts: np.ndarray) -> np.ndarray | None:
    """Return the rows that a member lacks, if they are few and it has all others once.

    The sums of the member are then quickly found: the sums of all rows without these. For all
    other draws the result is None.
    """
    is_out = counts == 0
    if np.all(is_out | (counts == 1)) and 2 * np.count_nonzero(is_out) < len(counts):
        return np.flatnonzero(is_out)
    return None


def compact_unseen(members: np.ndarray, draws: Draws) -> np.ndarray:
    """Move the unseen predictions of members (n, ..., b) to the front, with NaN behind them.

    The result (n, ..., r) has as many places as the most members that did not see a row.
    """
    unseen = np.tile(draws.unseen, (members.shape[-1] // len(draws), 1)).T
    order = np.argsort(~unseen, axis=1, kind="stable")[:, : int(unseen.sum(axis=1).max())]
    shape = (len(members), *(1,) * (members.ndim - 2), order.shape[1])
    order, is_unseen = order.reshape(shape), np.take_along_axis(unseen, order, 1).reshape(shape)
    return np.where(is_unseen, np.take_along_axis(members, order, axis=-1), np.nan)
