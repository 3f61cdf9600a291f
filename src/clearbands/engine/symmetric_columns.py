"""The columns of symmetric trees, binned twice.

Fine bins, of two bytes each, are made once, and trees use them at prediction. From them every
member draws its own few cuts, so that rounding errors differ between members and average out.
Columns lie one after the other, (d, n): every loop reads one column at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from clearbands.engine.bits import random_below, random_unit
from clearbands.engine.compiled import (
    ZERO,
    Real,
    Whole,
    called,
    inlined,
    kernel,
    whole_and_read_only,
)

FINE_BINS = 2**12
ALWAYS_LEFT = 2**15 - 1  # a threshold that no fine bin exceeds


class Columns(NamedTuple):
    """The columns of the training set as one member sees them."""

    binned: np.ndarray  # (d + 1, m) uint8: the m rows that it drew; the last column is empty
    n_bins: np.ndarray  # (d + 1,) int64
    used: np.ndarray  # int64: columns of more than one bin; the empty one makes their number even
    last_fine: np.ndarray  # (d, max_bins) int16: of each bin, ALWAYS_LEFT for the last one
    per_tree: int  # how many of the used columns a tree may ask about, an even number
    state: np.ndarray  # (1,) uint64: the random numbers that choose them
    direction: np.ndarray | None = None
    """The way (d + 1,) int8 that predictions must go with a column: 1 up, -1 down, 0 either. None
    where all columns are free, for which kernels are compiled apart."""

    def directed(self, direction: np.ndarray | None) -> Columns:
        """Return the columns with a `direction` (d,) for each."""
        if direction is None or not direction.any():
            return self
        return self._replace(direction=np.append(direction, 0).astype(np.int8))

    def shared_out(self, share: float) -> Columns:
        """Return the columns for trees that ask about a share of them each, at least two."""
        return self._replace(
            per_tree=2 * max(min(1, len(self.used)), round(share * len(self.used) / 2))
        )

    @classmethod
    def draw(
        cls, fine: np.ndarray, drawn: np.ndarray, weight: np.ndarray, max_bins: int, seed: int
    ) -> Columns:
        """Put the rows `drawn` (m,) int64 of `fine` into at most `max_bins` bins per column."""
        return cls.gather(lambda: [Drawn(fine, drawn, weight)], len(fine), max_bins, seed)

    @classmethod
    def gather(
        cls, parts: Callable[[], Iterable[Drawn]], n_columns: int, max_bins: int, seed: int
    ) -> Columns:
        """Put rows that lie in several pieces into at most `max_bins` bins per column.

        `parts()` is called twice and gives the pieces each time. The result does not depend on
        where they end.
        """
        draws = np.zeros((n_columns, FINE_BINS), np.int64)
        n_rows = 0
        for part in parts():
            _count_draws(whole_and_read_only(part.fine), part.drawn, part.weight, draws)
            n_rows += len(part.drawn)
        n_bins = np.ones(n_columns + 1, np.int64)
        last_fine = np.full((n_columns, max_bins), ALWAYS_LEFT, np.int16)
        coarse_of = np.empty((n_columns, FINE_BINS), np.uint8)
        state = np.array([seed], np.uint64)
        _cut_columns(draws, state, coarse_of, n_bins, last_fine)
        binned = np.zeros((n_columns + 1, n_rows), np.uint8)
        start = 0
        for part in parts():
            _fill_columns(whole_and_read_only(part.fine), part.drawn, coarse_of, start, binned)
            start += len(part.drawn)
        used = np.flatnonzero(n_bins > 1)
        if len(used) % 2 == 1:
            used = np.append(used, n_columns)
        return cls(binned, n_bins, used, last_fine, len(used), state)


class Drawn(NamedTuple):
    """A piece of the training set, and the rows of it that a member draws."""

    fine: np.ndarray  # (d, n) int16
    drawn: np.ndarray  # (m,) int64
    weight: np.ndarray  # (m,) int64


@kernel
def _count_draws(
    fine: np.ndarray, drawn: np.ndarray, weight: np.ndarray, draws: np.ndarray
) -> None:
    for column in range(len(fine)):
        own = draws[column]
        for i in range(len(drawn)):
            own[fine[column, drawn[i]]] += weight[i]


@kernel
def _cut_columns(
    draws: np.ndarray,
    state: np.ndarray,
    coarse_of: np.ndarray,
    n_bins: np.ndarray,
    last_fine: np.ndarray,
) -> None:
    for column in range(len(draws)):
        n_bins[column] = _share_out(draws[column], state, coarse_of[column], last_fine[column])


@kernel
def _fill_columns(
    fine: np.ndarray, drawn: np.ndarray, coarse_of: np.ndarray, start: Whole, binned: np.ndarray
) -> None:
    for column in range(len(fine)):
        own = coarse_of[column]
        for i in range(len(drawn)):
            binned[column, start + i] = own[fine[column, drawn[i]]]


@called
def draw_columns(used: np.ndarray, per_tree: Whole, state: np.ndarray) -> None:
    """Draw the columns that the next tree may ask about to the front of `used`."""
    if per_tree == len(used):
        return
    for k in range(per_tree):
        other = k + random_below(state, len(used) - k)
        used[k], used[other] = used[other], used[k]


@inlined
def _share_out(
    draws: np.ndarray, state: np.ndarray, coarse_of: np.ndarray, last_fine: np.ndarray
) -> Whole:
    """Assign every fine bin of a column to a coarse bin and return the number of coarse bins.

    A coarse bin ends with the fine bin that completes its share of the draws, where shares vary at
    random around equal ones; or, where few fine bins were drawn, with each of these. The cut lies
    anywhere between two neighbours that were drawn.
    """
    max_bins = len(last_fine)
    total, n_drawn = ZERO, ZERO
    for here in range(len(draws)):
        total += draws[here]
        n_drawn += draws[here] > 0
    n_bins, so_far, last_drawn, start, n_shares = ZERO, ZERO, ZERO, ZERO, ZERO
    to_reach = 0.0 if n_drawn <= max_bins else _share(ZERO, max_bins, total, state)
    for here in range(len(draws)):
        if draws[here] == 0:
            continue
        if so_far > 0 and so_far >= to_reach:
            last = last_drawn + random_below(state, here - last_drawn)
            last_fine[n_bins] = last
            for place in range(start, last + 1):
                coarse_of[place] = n_bins
            start = last + 1
            n_bins += 1
            while n_drawn > max_bins and so_far >= to_reach:
                n_shares += 1
                to_reach = _share(n_shares, max_bins, total, state)
        so_far += draws[here]
        last_drawn = here
    for place in range(start, len(draws)):
        coarse_of[place] = n_bins
    return n_bins + 1


@inlined
def _share(number: Whole, max_bins: Whole, total: Whole, state: np.ndarray) -> Real:
    """Return the random end of the share with this number; infinity after max_bins - 1 shares."""
    if number >= max_bins - 1:
        return np.inf
    return (number + random_unit(state) + 0.5) / max_bins * total
