"""Bounds from a rolling window of rows: every bound is a quantile of their positions.

Positions have the sign of their side (see `any_level.py`), so errors that go to one side move
both bounds to it, and the median with them. The center stays where the fit put it: intervals reach
to it, quantiles need not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from clearbands.calibration.any_level import AnyLevel
from clearbands.calibration.conformal import CalibrationWarning, rank
from clearbands.calibration.distribution import (
    BandsAroundMedian,
    Distribution,
    SignedDistribution,
    signed_knots,
)
from clearbands.rows.bands import EPS
from clearbands.rows.levels import exact, tails
from clearbands.rows.messages import warn


def upper_end(in_window: Sequence[float], share: float) -> float:
    """Return the z that this share of the rows exceeds, from the rising positions of a window.

    Where the rows are too few for one side alone, the row farthest out on either side is the bound
    of both.
    """
    n = len(in_window)
    if share <= 0:
        return math.inf
    if share >= 1:
        return -math.inf
    k = rank(n, 1 - share)
    if k <= n:
        return in_window[k - 1]
    return max(-in_window[0], in_window[-1]) if rank(n, 1 - 2 * share) <= n else math.inf


def lower_end(in_window: Sequence[float], share: float) -> float:
    """Return the z that this share of the rows does not reach, as `upper_end` on the other side."""
    n = len(in_window)
    if share <= 0:
        return -math.inf
    if share >= 1:
        return math.inf
    k = rank(n, 1 - share)
    if k <= n:
        return in_window[n - k]
    return min(in_window[0], -in_window[-1]) if rank(n, 1 - 2 * share) <= n else -math.inf


@dataclass(frozen=True)
class WindowShares:
    """Shares of new rows below a bound, and the shares of the window that stand for them.

    The alphas give them at the levels of the fit; they are interpolated in between.
    """

    shares: np.ndarray  # (q,): shares of new rows, rising from 0 to 1
    needed: np.ndarray  # (q,): shares of the window, rising

    @classmethod
    def of(cls, levels: np.ndarray, alphas: np.ndarray) -> WindowShares:
        """Build the shares from alphas (k, 2); sides that have crossed meet in the middle."""
        order = np.argsort(levels)
        nested = np.minimum.accumulate(alphas[order])
        low, high = nested[::-1, 0], 1 - nested[:, 1]  # rising
        middle = float(
            np.clip(0.5, low[-1], high[0]) if low[-1] <= high[0] else (low[-1] + high[0]) / 2
        )
        low, high = np.minimum(low, middle), np.maximum(high, middle)
        outer = np.array([tails(level) for level in levels[order].tolist()])
        return cls(
            np.concatenate([[0.0], outer[::-1, 0], [0.5], outer[:, 1], [1.0]]),
            np.concatenate([[min(0.0, low[0])], low, [middle], high, [max(1.0, high[-1])]]),
        )

    def share_of_window(self, share: float) -> float:
        (same,) = np.nonzero(np.abs(self.shares - share) < 1e-12)
        if len(same):
            return float(self.needed[same[0]])
        return float(np.interp(share, self.shares, self.needed))

    def share_of_new_rows(self, in_window: np.ndarray) -> np.ndarray:
        return np.interp(in_window, self.needed, self.shares)


@dataclass(frozen=True)
class RollingLevels(AnyLevel):
    """Bands whose bounds are quantiles of the rows of a window, at shares that have adapted."""

    shares: WindowShares = field(
        default_factory=lambda: WindowShares(np.arange(2.0), np.arange(2.0))
    )

    @cached_property
    def in_window(self) -> list[float]:
        """The positions in rising order."""
        return np.sort(self.positions).tolist()

    def distribution(self, center: np.ndarray, distances: np.ndarray) -> Distribution:
        knots, shares = signed_knots(self.positions, None)
        around = self._bands_around_median(center, distances[:, :, self.columns])
        return SignedDistribution(self, around, knots, self.shares.share_of_new_rows(shares))

    def ends(self, level: float) -> tuple[float, float]:
        below, above = tails(level)
        return self._lower_end(below, level), self._upper_end(above, level)

    def _one_sided(self, sign: float, level: float) -> float:
        if sign < 0:
            return self._lower_end(float(1 - exact(level)), level)
        return self._upper_end(level, level)

    def _medians(self, around: BandsAroundMedian) -> np.ndarray:
        share = self.shares.share_of_window(0.5)
        z = (lower_end(self.in_window, share) + upper_end(self.in_window, 1 - share)) / 2
        return self._band_ends(around, np.array([z]))[:, 0]

    def _bounds(self, center: np.ndarray, distances: np.ndarray, level: float) -> np.ndarray:
        around = self._bands_around_median(center, distances)
        lower, upper = self.ends(level)
        return np.stack(
            [self._round_outwards(around, lower, -1), self._round_outwards(around, upper, 1)],
            axis=1,
        )

    def _round_outwards(self, around: BandsAroundMedian, z: float, sign: int) -> np.ndarray:
        """Return the bounds at z (n,), rounded down (sign -1) or up (sign 1).

        So they include the row that lies there, as with `make_interval`.
        """
        if math.isinf(z):
            return np.full(len(around.median), z)
        reach = self._band_distances(around, abs(z))[:, int(z > 0)]
        reach = reach * (1 + sign * math.copysign(8 * EPS, z))
        bounds = around.median + math.copysign(1.0, z) * reach
        return np.where(reach > 0, np.nextafter(bounds, sign * np.inf), bounds)

    def _lower_end(self, share: float, level: float) -> float:
        return self._warn_if_infinite(
            lower_end(self.in_window, self.shares.share_of_window(share)), level
        )

    def _upper_end(self, share: float, level: float) -> float:
        return self._warn_if_infinite(
            upper_end(self.in_window, 1 - self.shares.share_of_window(share)), level
        )

    def _warn_if_infinite(self, z: float, level: float) -> float:
        if math.isinf(z):
            warn(
                f"After the misses among the last rows, level {level:g} asks for more than the "
                f"{len(self.positions)} rows of the window can tell: bounds are infinite.",
                CalibrationWarning,
            )
        return z
