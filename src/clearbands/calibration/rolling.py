"""Calibration that goes on after the fit: a rolling window of rows, and a level that adapts.

Every row has one number, its position: which band of the fit just contains it (see
`distribution.py`). The last positions are the window, and the band of a level is the one that
contains as many of them as the level needs. Which level is asked for adapts (Gibbs and Candès
2021): after each row

    alpha = alpha + rate * (1 - level - missed)        missed is 1 or 0

so that too many misses widen the next intervals, whatever the rows. The share of missed rows of n
then differs from 1 - level by alpha's way since the start divided by n * rate; alpha stays within
[-rate, 1 + rate], since at 0 or below intervals are infinite, and at 1 or above they are empty.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np

from clearbands.calibration.conformal import (
    CalibrationWarning,
    order_statistic,
    rank,
    rows_needed,
)
from clearbands.calibration.distribution import AnyLevel
from clearbands.checks import check_count
from clearbands.levels import alpha, normal_distances
from clearbands.words.telling import warn

WINDOW = 1_000
RATE = 0.005  # that of Gibbs and Candès
MOST_UNKNOWN = 0.05
"""By how much misses may move the level that follow each other before the first is known of: with
more, a single bad day of a forecast 24 hours ahead makes the intervals of the next infinite."""

EMPTY = -1.0  # the band that contains not even its center
FEWEST_ROWS = 100  # that say something about how the model fares
LOST, STRANGE = 0.05, 0.10
"""Shares of rows by which coverage may fall, or unfamiliar rows exceed theirs, without a word."""

ORDINARILY_STRANGE = 0.05


class RefitWarning(UserWarning):
    """The last rows are unlike those of the fit: intervals adapt, but the model should be refitted.

    >>> import warnings
    >>> from clearbands import RefitWarning
    >>> with warnings.catch_warnings():  # doctest: +SKIP
    ...     warnings.simplefilter("error", RefitWarning)
    ...     model.update(X, y)
    """


@dataclass(frozen=True)
class Pace:
    """How fast intervals follow the rows."""

    window: int = WINDOW  # how many of the last rows count
    rate: float | None = None  # of the level; with 0 only the window moves
    lead: int = 1  # how many rows pass until the target of one is known

    @property
    def step(self) -> float:
        """The rate that was given, or 0.005, and less where targets become known late.

        >>> Pace().step, Pace(lead=50).step, Pace(rate=0.1).step
        (0.005, 0.001, 0.1)
        """
        return min(RATE, MOST_UNKNOWN / self.lead) if self.rate is None else float(self.rate)

    def checked(self, levels: np.ndarray) -> Pace:
        check_count(self.window, "window", smallest=rows_needed(float(levels.max())))
        check_count(self.lead, "lead")
        is_rate = isinstance(self.rate, Real) and 0 <= float(self.rate) < 1
        if not (is_rate or self.rate is None):
            raise ValueError(f"rate must be a number from 0 to below 1, got {self.rate!r}.")
        return self


@dataclass(frozen=True)
class Rolling:
    """What `ClearRegressor.update` keeps, as `model.rolling_`, and saves with the model.

    Examples
    --------
    The window holds positions up to 2. Rows at 2.5 are outside, until the level has risen so far,
    and the window has seen so many of them, that intervals contain them:

    >>> import numpy as np
    >>> rolling = Rolling.begin([0.9], np.linspace(-2, 2, 99), Pace(window=100, rate=0.05))
    >>> rolling = rolling.after(np.full(40, 2.5))
    >>> rolling.n_rows, rolling.n_missed.tolist(), rolling.coverage.tolist()
    (40, [2], [0.95])
    """

    levels: np.ndarray  # (k,): those of the fit, in its order
    positions: np.ndarray  # of the last rows, oldest first; of calibration rows to begin with
    pace: Pace
    n_rows: int  # of all updates
    n_missed: np.ndarray  # (k,): how many were outside the intervals of their time
    alphas_before: np.ndarray  # (k,): where alpha began at this rate
    n_before: int  # rows until then
    missed_before: np.ndarray  # (k,)
    last_missed: np.ndarray  # (lead - 1, k): of rows whose targets the next row does not know yet
    strange: np.ndarray  # (m,): which of the last rows are unfamiliar
    times: np.ndarray | None = None  # (m,): of the last rows, where they are known

    @classmethod
    def begin(
        cls,
        levels: Sequence[float] | np.ndarray,
        positions: np.ndarray,
        pace: Pace,
    ) -> Rolling:
        """With the positions of the calibration rows, of which the last fill the window."""
        levels = np.asarray(levels, float)
        pace = pace.checked(levels)
        alphas = np.array([alpha(level) for level in levels.tolist()])
        none = np.zeros(len(levels), np.int64)
        return cls(
            levels,
            positions[-(pace.window + pace.lead - 1) :],
            pace,
            n_rows=0,
            n_missed=none,
            alphas_before=alphas,
            n_before=0,
            missed_before=none,
            last_missed=np.zeros((0, len(levels)), bool),
            strange=np.zeros(0, bool),
        )

    @property
    def alphas(self) -> np.ndarray:
        """(k,): what 1 - level has become at each level; outside of [0, 1] for a while, maybe."""
        return self._alphas(self.n_rows, self.n_missed)

    @property
    def levels_now(self) -> np.ndarray:
        """(k,): the levels that are asked of the window so that those of the fit are met."""
        return 1 - self.alphas

    @property
    def coverage(self) -> np.ndarray:
        """(k,): the share of all rows that were inside the intervals of their time."""
        return 1 - self.n_missed / max(self.n_rows, 1)

    @property
    def bound(self) -> np.ndarray:
        """(k,): how far the coverage since the rate was set can be from its level, for any rows."""
        n, rate, lead = self.n_rows - self.n_before, self.pace.step, self.pace.lead
        if n == 0 or rate == 0:
            return np.full(len(self.levels), np.inf)
        away = np.maximum(self.alphas_before, 1 - self.alphas_before)
        number = 1 + np.argsort(np.argsort(self.levels))  # a higher level may follow a lower one up
        return (np.maximum(away, 0) + rate * lead * number) / (n * rate)

    @property
    def n_window(self) -> int:
        """How many rows are in the window."""
        return min(len(self.positions), self.pace.window)

    @property
    def last_time(self) -> Any:
        """Of the last row; None where times are not known."""
        return None if self.times is None or len(self.times) == 0 else self.times[-1]

    def at_pace(self, pace: Pace) -> Rolling:
        """The same from now on at another pace."""
        if pace == self.pace:
            return self
        pace = pace.checked(self.levels)
        order, alphas = np.argsort(self.levels), self.alphas
        alphas[order] = np.minimum.accumulate(alphas[order])  # nested, as the intervals are
        return replace(
            self,
            pace=pace,
            alphas_before=alphas,
            n_before=self.n_rows,
            missed_before=self.n_missed,
            last_missed=self.last_missed[:0],
        )

    def after(
        self,
        positions: np.ndarray,
        strange: np.ndarray | None = None,
        times: np.ndarray | None = None,
    ) -> Rolling:
        """After these rows, in the order of time."""
        missed = self.judge(positions)
        window, lead = self.pace.window, self.pace.lead
        known = np.concatenate([self.last_missed, missed])
        flags = np.zeros(len(positions), bool) if strange is None else strange
        if times is not None and self.times is not None:
            times = np.concatenate([self.times, times])
        return replace(
            self,
            positions=np.concatenate([self.positions, positions])[-(window + lead - 1) :],
            n_rows=self.n_rows + len(positions),
            n_missed=self.n_missed + missed.sum(axis=0),
            last_missed=known[max(0, len(known) - (lead - 1)) :],
            strange=np.concatenate([self.strange, flags])[-window:],
            times=None if times is None else times[-window:],
        )

    def bands(self, fitted: AnyLevel) -> RollingLevels:
        """What answers at any level, from the rows up to now."""
        order = np.argsort(self.levels)
        return RollingLevels(
            fitted.levels,
            fitted.columns,
            self.positions[-self.pace.window :],
            None,
            may_fall_short=False,
            median=fitted.median,
            paces=fitted.paces,
            asked=self.levels[order],
            needed=np.maximum.accumulate(self.levels_now[order]),
        )

    def advice(self) -> str | None:
        """Why the model should be fitted anew; None while nothing speaks for it."""
        n = min(self.n_rows, self.n_window)
        if n < FEWEST_ROWS:
            return None
        inside = np.abs(self.positions[-n:])
        for level, reach in zip(self.levels.tolist(), normal_distances(self.levels), strict=True):
            covered = float(np.mean(inside <= reach))
            if level - covered > max(LOST, four_errors(level, n)):
                return (
                    f"The intervals of the fit at level {level:g} would have covered {covered:.0%} "
                    f"of the last {n} rows. They adapt, but a model that is fitted anew, with "
                    "these rows, would have shorter ones."
                )
        share = float(np.mean(self.strange[-n:]))
        if share - ORDINARILY_STRANGE > max(STRANGE, four_errors(ORDINARILY_STRANGE, n)):
            return (
                f"{share:.0%} of the last {n} rows are unlike those of the fit: fit the model "
                "anew, with these rows."
            )
        return None

    def _alphas(self, n: int, missed: np.ndarray) -> np.ndarray:
        """From whole numbers alone, so that one call with all rows equals one call for each."""
        since, outside = n - self.n_before, missed - self.missed_before
        targets = np.array([alpha(level) for level in self.levels.tolist()])
        return self.alphas_before + self.pace.step * (since * targets - outside)

    def judge(self, positions: np.ndarray) -> np.ndarray:
        """(n, k): which rows are outside the interval made when only rows `lead` ago were known."""
        window, late = self.pace.window, self.pace.lead - 1
        order = np.argsort(self.levels)
        distance = np.abs(np.concatenate([self.positions, positions])).tolist()
        behind = max(0, len(self.last_missed))  # at first no row is waiting
        end = len(self.positions) - behind
        in_window = sorted(distance[max(0, end - window) : end])
        known, missed = self.n_rows - behind, self.n_missed - self.last_missed.sum(axis=0)
        found = list(self.last_missed)
        for row in range(len(positions)):
            while known + late < self.n_rows + row:  # one more target has become known
                insort(in_window, distance[end])
                if len(in_window) > window:
                    del in_window[bisect_left(in_window, distance[end - window])]
                missed = missed + found[known - (self.n_rows - behind)]
                known, end = known + 1, end + 1
            reach = _reach(in_window, 1 - self._alphas(known, missed)[order])
            outside = np.empty(len(order), bool)
            outside[order] = distance[len(self.positions) + row] > reach
            found.append(outside)
        return np.array(found[behind:], bool).reshape(-1, len(order))


def _reach(in_window: list[float], needed: np.ndarray) -> np.ndarray:
    """(k,): the bands at rising levels, none within one before it."""
    n, found = len(in_window), []
    for level in needed.tolist():
        if level <= 0:
            found.append(EMPTY)
        elif level >= 1:
            found.append(math.inf)
        else:
            k = rank(n, level)
            found.append(in_window[k - 1] if k <= n else math.inf)
    return np.maximum.accumulate(found)


def four_errors(share: float, n: int) -> float:
    """Of the share of n rows in which something happens with this probability."""
    return 4 * math.sqrt(share * (1 - share) / n)


@dataclass(frozen=True)
class RollingLevels(AnyLevel):
    """Bands from the rows of a window, at levels that have adapted.

    Between the levels of the fit the adapted ones are interpolated.
    """

    asked: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (k,): of the fit, rising
    needed: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (k,): of the window, rising

    def _knots(self) -> tuple[np.ndarray, np.ndarray]:
        asked = np.concatenate([[0.0], self.asked, [1.0]])
        needed = [min(0.0, self.needed[0]), *self.needed, max(1.0, self.needed[-1])]
        return asked, np.array(needed)

    def _adapted(self, level: float) -> float:
        (same,) = np.nonzero(np.abs(self.asked - level) < 1e-12)
        return float(self.needed[same[0]]) if len(same) else float(np.interp(level, *self._knots()))

    def _z(self, level: float) -> float:
        if self._adapted(level) <= 0:
            return 0.0
        return self._order(np.abs(self.positions), level)

    def _order(self, positions: np.ndarray, level: float) -> float:
        needed, n = self._adapted(level), len(positions)
        k = max(1, rank(n, needed)) if needed < 1 else n + 1
        if k > n:
            warn(
                f"After the misses among the last rows, level {level:g} asks for more than the "
                f"{n} rows of the window can tell: the bounds are infinite.",
                CalibrationWarning,
            )
        return order_statistic(positions, k)

    def _shares(self, inside: np.ndarray) -> np.ndarray:
        return np.interp(inside, *self._knots()[::-1])
