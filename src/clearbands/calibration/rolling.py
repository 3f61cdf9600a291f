"""Calibration that goes on after the fit: a rolling window of rows, and tails that adapt.

Every row has one number, its position: the z of the band of the fit that just contains it, negative
below the median of the fit (see `any_level.py`). The last positions are the window, and the bounds
are quantiles of them, one for each side: where errors go to one side, one bound moves out, and the
other one in. The shares of these quantiles adapt on each side (Gibbs and Candès 2021): after each
row

    alpha = alpha + rate * ((1 - level) / 2 - missed)        missed is 1 or 0, on this side

so that too many misses on a side move its next bounds out, whatever the rows. Of n rows the share
that is missed on a side differs from (1 - level) / 2 by the change of alpha since the start,
divided by n * rate. alpha does not fall below -rate, since at 0 or below the bound is infinite, nor
rise above 1 + rate, since at 1 or above it lies beyond all rows. So both sides together miss at
most

    1 - level + (1 - level + 2 * rate) / (n * rate)

of any n rows. By default the rate is a twentieth of (1 - level) / 2, so that whatever happens no
side misses more than 21 rows beyond its share.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from clearbands.calibration.any_level import AnyLevel
from clearbands.calibration.conformal import rows_needed
from clearbands.calibration.rolling_levels import RollingLevels, WindowShares, lower_end, upper_end
from clearbands.rows.checks import check_count
from clearbands.rows.levels import normal_distances, tails

WINDOW = 1_000
RATE = 1 / 20  # per share that a side leaves out: 0.0025 at 0.9, half of Gibbs' and Candès' rate
MOST_UNKNOWN = 1 / 2
"""The part of that share by which alpha may fall before the first of several misses is known. With
more, a single bad day of forecasts 24 hours ahead would make the next day's bounds infinite."""

FEWEST_ROWS = 100  # fewer rows give no advice
LOST, STRANGE, LEANS = 0.05, 0.10, 0.20
"""Advice is given where coverage is lower by more than LOST, where the share of unfamiliar rows is
higher by more than STRANGE, or where one side of the median has more rows than half plus LEANS."""

ORDINARILY_STRANGE = 0.05  # the share of unfamiliar rows that is usual


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
    """How fast intervals follow the last rows."""

    window: int = WINDOW  # how many of the last rows count
    rate: float | None = None  # the rate of alpha; with 0 only the window moves
    lead: int = 1  # the number of rows until the target of a row is known

    def steps(self, levels: np.ndarray) -> np.ndarray:
        """Return the given rate, or a twentieth of (1 - level) / 2 (k,); less with a long lead.

        >>> Pace().steps(np.array([0.9, 0.99])).round(5).tolist()
        [0.0025, 0.00025]
        >>> Pace(lead=25).steps(np.array([0.9])), Pace(rate=0.1).steps(np.array([0.9]))
        (array([0.001]), array([0.1]))
        """
        if self.rate is not None:
            return np.full(len(levels), float(self.rate))
        return _tails(levels)[:, 0] * min(RATE, MOST_UNKNOWN / self.lead)

    def checked(self, levels: np.ndarray) -> Pace:
        check_count(self.window, "window", smallest=rows_needed(float(levels.max())))
        check_count(self.lead, "lead")
        is_rate = isinstance(self.rate, Real) and 0 <= float(self.rate) < 1
        if not (is_rate or self.rate is None):
            raise ValueError(f"rate must be a number from 0 to below 1, got {self.rate!r}.")
        return self


@dataclass(frozen=True)
class Rolling:
    """The state that `ClearRegressor.update` keeps as `model.rolling_` and saves with the model.

    Examples
    --------
    The window holds positions up to 2. Rows at 2.5 lie above the intervals until the share of that
    side is small enough, or until the window holds so many of them that intervals contain them:

    >>> import numpy as np
    >>> rolling = Rolling.begin([0.9], np.linspace(-2, 2, 99), Pace(window=100, rate=0.02))
    >>> rolling = rolling.updated_by(np.full(40, 2.5))
    >>> rolling.n_rows, rolling.n_missed.tolist(), rolling.coverage.tolist()
    (40, [2], [0.95])
    >>> rolling.outside.tolist()  # below and above
    [[0.0, 0.05]]
    """

    levels: np.ndarray  # (k,): the levels of the fit, in its order
    positions: np.ndarray  # those of the last rows, oldest first; at first of calibration rows
    pace: Pace
    n_rows: int  # the number of rows in all updates
    n_missed: np.ndarray  # (k,): how many rows were outside the intervals of their time
    alphas_before: np.ndarray  # (k, 2): the alphas below and above when this pace began
    n_before: int  # the number of rows before this pace
    n_outside: np.ndarray  # (k, 2): how many rows since then were below and above
    last_outside: np.ndarray  # (lead - 1, k, 2): for rows too recent to be known to the next one
    strange: np.ndarray  # (m,): which of the last rows are unfamiliar
    times: np.ndarray | None = None  # (m,): the times of the last rows, where they are known

    @classmethod
    def begin(
        cls,
        levels: Sequence[float] | np.ndarray,
        positions: np.ndarray,
        pace: Pace,
    ) -> Rolling:
        """Start with the positions of the calibration rows, the last of which fill the window."""
        levels = np.asarray(levels, float)
        pace = pace.checked(levels)
        return cls(
            levels,
            positions[-(pace.window + pace.lead - 1) :],
            pace,
            n_rows=0,
            n_missed=np.zeros(len(levels), np.int64),
            alphas_before=_tails(levels),
            n_before=0,
            n_outside=np.zeros((len(levels), 2), np.int64),
            last_outside=np.zeros((0, len(levels), 2), bool),
            strange=np.zeros(0, bool),
        )

    @property
    def alphas(self) -> np.ndarray:
        """The present alphas below and above (k, 2), which start at (1 - level) / 2."""
        return self._alphas(self.n_rows, self.n_outside)

    @property
    def levels_now(self) -> np.ndarray:
        """The levels (k,) at which the window is read so that new rows meet those of the fit."""
        return 1 - self.alphas.sum(axis=1)

    @property
    def coverage(self) -> np.ndarray:
        """The share (k,) of all rows that were between the bounds of their time.

        Where both bounds lie on one side of the center, the interval reaches to the center and
        contains more.
        """
        return 1 - self.n_missed / max(self.n_rows, 1)

    @property
    def outside(self) -> np.ndarray:
        """The shares (k, 2) of the rows since the rate was set that were below and above."""
        return self.n_outside / max(self.n_rows - self.n_before, 1)

    @property
    def bound(self) -> np.ndarray:
        """The most (k,) by which coverage since the rate was set can fall short, for any rows."""
        return self.side_bound.sum(axis=1)

    @property
    def side_bound(self) -> np.ndarray:
        """The most (k, 2) by which `outside` can exceed (1 - level) / 2, for any rows."""
        n, steps = self.n_rows - self.n_before, self._steps
        if n == 0 or not steps.all():
            return np.full((len(self.levels), 2), np.inf)
        return (np.maximum(self.alphas_before, 0) / steps + self.pace.lead) / n

    @cached_property
    def _steps(self) -> np.ndarray:
        """The rates of the levels (k, 1)."""
        return self.pace.steps(self.levels)[:, None]

    @cached_property
    def _tails(self) -> np.ndarray:
        """The shares (k, 2) that levels leave out below and above."""
        return _tails(self.levels)

    @property
    def n_window(self) -> int:
        """The number of rows in the window."""
        return min(len(self.positions), self.pace.window)

    @property
    def last_time(self) -> Any:
        """The time of the last row; None where times are not known."""
        return None if self.times is None or len(self.times) == 0 else self.times[-1]

    def at_pace(self, pace: Pace) -> Rolling:
        """Return the state, which from now on follows the rows at another pace."""
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
            n_outside=np.zeros_like(self.n_outside),
            last_outside=self.last_outside[:0],
        )

    def updated_by(
        self,
        positions: np.ndarray,
        strange: np.ndarray | None = None,
        times: np.ndarray | None = None,
    ) -> Rolling:
        """Return the state after these rows, which come in the order of time."""
        outside = self.rows_outside(positions)
        window, lead = self.pace.window, self.pace.lead
        judged = np.concatenate([self.last_outside, outside])
        flags = np.zeros(len(positions), bool) if strange is None else strange
        if times is not None and self.times is not None:
            times = np.concatenate([self.times, times])
        return replace(
            self,
            positions=np.concatenate([self.positions, positions])[-(window + lead - 1) :],
            n_rows=self.n_rows + len(positions),
            n_missed=self.n_missed + outside.any(axis=2).sum(axis=0),
            n_outside=self.n_outside + outside.sum(axis=0),
            last_outside=judged[max(0, len(judged) - (lead - 1)) :],
            strange=np.concatenate([self.strange, flags])[-window:],
            times=None if times is None else times[-window:],
        )

    def bands(self, fitted: AnyLevel) -> RollingLevels:
        """Return the bands of all levels, from the rows up to now."""
        return RollingLevels(
            fitted.levels,
            fitted.columns,
            self.positions[-self.pace.window :],
            None,
            may_fall_short=False,
            median=fitted.median,
            paces=fitted.paces,
            outer_paces=fitted.outer_paces,
            shares=WindowShares.of(self.levels, self.alphas),
        )

    def advice(self) -> str | None:
        """Say why the model should be fitted again; None while there is no reason."""
        n = min(self.n_rows, self.n_window)
        if n < FEWEST_ROWS:
            return None
        inside = np.abs(self.positions[-n:])
        for level, reach in zip(self.levels.tolist(), normal_distances(self.levels), strict=True):
            covered = float(np.mean(inside <= reach))
            if level - covered > max(LOST, four_standard_errors(level, n)):
                return (
                    f"The intervals of the fit at level {level:g} would have covered {covered:.0%} "
                    f"of the last {n} rows. They adapt, but a model that is fitted anew, with "
                    "these rows, would have shorter ones."
                )
        lean = float(np.mean(np.sign(self.positions[-n:])))
        if abs(lean) / 2 > max(LEANS, four_standard_errors(0.5, n)):
            side, word = 0.5 + abs(lean) / 2, "below" if lean < 0 else "above"
            return (
                f"{side:.0%} of the last {n} rows lie {word} the median of the fit. Bounds and "
                "quantiles have moved there, and points have not: fit the model anew, with these "
                "rows."
            )
        share = float(np.mean(self.strange[-n:]))
        if share - ORDINARILY_STRANGE > max(STRANGE, four_standard_errors(ORDINARILY_STRANGE, n)):
            return (
                f"{share:.0%} of the last {n} rows are unlike those of the fit: fit the model "
                "anew, with these rows."
            )
        return None

    def _alphas(self, n: int, outside: np.ndarray) -> np.ndarray:
        """Return the alphas after n rows, from whole numbers alone.

        So one call with all rows gives the same alphas as one call for each row.
        """
        expected = (n - self.n_before) * self._tails
        return self.alphas_before + self._steps * (expected - outside)

    def rows_outside(self, positions: np.ndarray) -> np.ndarray:
        """Return which rows are below and above their bounds, (n, k, 2).

        The bounds of a row use the rows up to `lead` before it.
        """
        window, late = self.pace.window, self.pace.lead - 1
        order = np.argsort(self.levels)
        z = np.concatenate([self.positions, positions]).tolist()
        behind = len(self.last_outside)  # 0 at first, when no row waits for its target
        end = len(self.positions) - behind
        in_window = sorted(z[max(0, end - window) : end])
        known, outside = self.n_rows - behind, self.n_outside - self.last_outside.sum(axis=0)
        history = list(self.last_outside)
        for row in range(len(positions)):
            while known + late < self.n_rows + row:  # one more target has become known
                insort(in_window, z[end])
                if len(in_window) > window:
                    del in_window[bisect_left(in_window, z[end - window])]
                outside = outside + history[known - (self.n_rows - behind)]
                known, end = known + 1, end + 1
            alphas = self._alphas(known, outside)[order]
            below, above = alphas.T.tolist()
            low = np.minimum.accumulate([lower_end(in_window, share) for share in below])
            high = np.maximum.accumulate([upper_end(in_window, share) for share in above])
            at = z[len(self.positions) + row]
            is_outside = np.empty((len(order), 2), bool)
            is_outside[order] = np.stack([at < low, at > high], axis=1)
            history.append(is_outside)
        return np.array(history[behind:], bool).reshape(-1, len(order), 2)


def _tails(levels: np.ndarray) -> np.ndarray:
    """Return the shares (k, 2) below and above that levels (k,) leave out."""
    return np.repeat([[tails(level)[0]] for level in levels.tolist()], 2, axis=1)


def four_standard_errors(share: float, n: int) -> float:
    """Return four standard errors of a share of n rows, where `share` is the probability."""
    return 4 * math.sqrt(share * (1 - share) / n)
