"""The columns of symmetric trees, binned twice.

Fine bins, in two bytes, are made once and are what trees know at prediction. From them every member
draws its own few cuts, so that the errors of rounding differ between members and average out.
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
ALWAYS_LEFT = 2**15 - 1  # no fine bin is larger


class Columns(NamedTuple):
    """What one member sees of the training set."""

    binned: np.ndarray  # (d + 1, m) uint8: of the m rows that it drew; the last column is empty
    n_bins: np.ndarray  # (d + 1,) int64
    used: np.ndarray  # int64: columns of more than one bin; the empty one makes their number even
    last_fine: (
        np.ndarray
    )  # (d, max_bins) int16: the last fine bin in a bin, ALWAYS_LEFT of the last
    per_tree: int  # how many of those used a tree may ask about, an even number
    state: np.ndarray  # (1,) uint64: which ones these are
    direction: np.ndarray | None = None
    """(d + 1,) int8: 1 where predictions must rise with a column, -1 where they must fall, else 0;
    None where all are free, which kernels are compiled for on their own."""

    def directed(self, direction: np.ndarray | None) -> Columns:
        """With directions (d,) of its columns."""
        if direction is None or not direction.any():
            return self
        return self._replace(direction=np.append(direction, 0).astype(np.int8))

    def shared_out(self, share: float) -> Columns:
        """Of which every tree asks about a share, two at least."""
        return self._replace(
            per_tree=2 * max(min(1, len(self.used)), round(share * len(self.used) / 2))
        )

    @classmethod
    def draw(
        cls, fine: np.ndarray, drawn: np.ndarray, weight: np.ndarray, max_bins: int, seed: int
    ) -> Columns:
        """At most `max_bins` bins per column for the rows `drawn` (m,) int64 of `fine`."""
        return cls.gather(lambda: [Drawn(fine, drawn, weight)], len(fine), max_bins, seed)

    @classmethod
    def gather(
        cls, parts: Callable[[], Iterable[Drawn]], n_columns: int, max_bins: int, seed: int
    ) -> Columns:
        """The same for rows that lie in several pieces: `parts()` gives them, twice.

        The result does not depend on where the pieces end.
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
    """A piece of the training set, and which of its rows a member draws."""

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
    """Those that the next tree may ask about come first."""
    if per_tree == len(used):
        return
    for k in range(per_tree):
        other = k + random_below(state, len(used) - k)
        used[k], used[other] = used[other], used[k]


@inlined
def _share_out(
    draws: np.ndarray, state: np.ndarray, coarse_of: np.ndarray, last_fine: np.ndarray
) -> Whole:
    """Give every fine bin of a column to a coarse one; returns how many of these there are.

    A bin ends with the fine one in which its share of the draws is reached, the shares being drawn
    around equal ones; or, when there are few, with every fine bin that was drawn. The cut lies
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
    """Of max_bins - 1 randomly placed ends of shares the one with a number; then none."""
    if number >= max_bins - 1:
        return np.inf
    return (number + random_unit(state) + 0.5) / max_bins * total
