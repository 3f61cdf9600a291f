"""Bounds at every level after the fit, from nested bands and one number per calibration row.

The calibrated distances at the fitted levels span a family of bands. Band z is, at a fitted level,
the band of that level, where z is the number of standard deviations that enclose this share of a
normal distribution. Distances are interpolated in z between fitted levels; below the lowest and
above the highest level they are proportional to z. Every calibration row has a position: the z of
the smallest band that contains it. The band of any other level is then the one that contains as
many calibration rows as the level needs (the rank of `conformal.py`), so its coverage is calibrated
like that of the fitted levels; and bands of rising levels contain each other, since z does not
fall.

Band 0 is the median. That is the center, unless the calibration rows show otherwise: a center may
be a mean, and where noise is skewed most targets lie on one side of it. The median then divides the
distance from the center to the bound of the lowest level so that half of the targets lie on either
side of it.

Inside the band of the lowest fitted level, rows may lie close to the median on one side and far
from it on the other; rows beyond the highest level may, too. Where the calibration rows show that,
z grows at a different rate below and above the median (its pace), so that a wider band takes in as
large a share of the rows below as of those above.

The bands of the fitted levels stay where calibration put them. If the noise is skewed, more targets
may lie above such a band than below it. Where the calibration rows show that, quantiles and chances
no longer count both sides together: every quantile is then one of the signed positions of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clearbands.calibration.conformal import (
    CalibrationWarning,
    level_of_rank,
    order_statistic,
    rank,
    rows_needed,
)
from clearbands.calibration.distribution import (
    APART,
    BandsAroundMedian,
    Distribution,
    SignedDistribution,
    knots_of,
    signed_knots,
)
from clearbands.calibration.sides import (
    are_skewed,
    change_pace,
    median_share,
    side_paces,
    side_paces_beyond,
)
from clearbands.rows.bands import make_interval
from clearbands.rows.checks import check_side, check_vector
from clearbands.rows.levels import check_levels, check_quantiles, exact, normal_distances
from clearbands.rows.messages import warn
from clearbands.rows.settings import SIDES
from clearbands.rows.weighting import check_sample_weight, size_of


@dataclass(frozen=True)
class AnyLevel:
    """The positions of calibration rows, which give bounds at any level: 8 or 16 bytes per row.

    The distances (n, 2, k) of rows are the sum of both parts that a calibrator's `scale` returns.

    Examples
    --------
    Ninety-nine rows whose targets lie 0.01, 0.02, ... off a center of 0, in turns below and above,
    calibrated at 0.9 with distances that are all 1:

    >>> import numpy as np
    >>> from clearbands import FixedRatioCalibrator
    >>> y, ones = np.resize([-0.01, 0.01], 99) * np.arange(1, 100), np.ones((99, 2))
    >>> calibrator = FixedRatioCalibrator([0.9], ratio=0).fit(y, 0 * y, ones, ones)
    >>> distances = np.add(*calibrator.scale(ones, ones))
    >>> bands = AnyLevel.of(calibrator.levels_, y, 0 * y, distances)
    >>> bands.intervals(np.zeros(1), distances[:1], [0.5, 0.9]).round(6)  # (n, 2, levels)
    array([[[-0.5, -0.9],
            [ 0.5,  0.9]]])
    >>> bands.distribution(np.zeros(1), distances[:1]).cdf(0.5).round(6)
    array([0.75])
    """

    levels: np.ndarray  # the fitted levels with finite bounds, rising
    columns: np.ndarray  # the positions of these levels among the k fitted ones
    positions: np.ndarray  # (n,) z of the band that just contains the row; < 0 below the center
    weight: np.ndarray | None = None
    may_fall_short: bool = True  # whether too few rows give bounds of the outermost
    median: float = 0.0  # a signed share of the way from the center to the lowest level's bound
    paces: tuple[np.ndarray, np.ndarray] | None = None
    """Arrays (2, knots) for the sides below and above the median: z by distance, and z by share of
    rows. Both rise from 0 to the z of the lowest fitted level. None where the sides are alike."""
    outer_paces: tuple[np.ndarray, np.ndarray] | None = None
    """The same arrays beyond the highest fitted level; after the last knot z is proportional."""
    is_skewed: bool = False  # whether unlike shares of the rows lie below and above fitted bands

    @classmethod
    def of(
        cls,
        levels: Sequence[float] | np.ndarray,
        y: ArrayLike,
        center: ArrayLike,
        distances: np.ndarray,
        *,
        sample_weight: ArrayLike | None = None,
        may_fall_short: bool = True,
        shape: AnyLevel | None = None,
    ) -> AnyLevel:
        """Build the bands from the targets (n,), centers (n,) and distances (n, 2, k) of the rows.

        `shape` holds the bands of other rows, whose median, paces and skewness are used. By default
        these rows choose their own, and levels that were not fitted then cover them a little too
        well.

        Set `may_fall_short=False` where rows were kept apart for the guarantee: levels that need
        more rows than there are then have infinite bounds instead of those of the outermost row.
        """
        y = check_vector(y, "y")
        center = check_vector(center, "center", len(y))
        weight = check_sample_weight(sample_weight, len(y))
        fitted = np.array(check_levels(list(np.asarray(levels, float))))
        distances = np.asarray(distances, float)
        order = np.argsort(fitted)
        columns = order[np.isfinite(distances[:, :, order]).all(axis=(0, 1))]
        if len(columns) == 0:
            raise ValueError(
                "No fitted level has finite bounds, so there is nothing to interpolate: "
                f"{rows_needed(float(fitted.min()))} calibration rows would be needed."
            )
        family = cls(fitted[columns], columns, np.zeros(0), weight, may_fall_short)
        if shape is not None:
            family = replace(
                family,
                median=shape.median,
                paces=shape.paces,
                outer_paces=shape.outer_paces,
                is_skewed=shape.is_skewed,
            )
            return replace(family, positions=family.positions_of(y, center, distances))
        median = median_share(y - center, distances[:, :, columns[0]], weight)
        family = replace(family, median=median)
        even = family.positions_of(y, center, distances)
        family = replace(
            family,
            paces=side_paces(even, weight, float(family.levels[0])),
            outer_paces=side_paces_beyond(even, weight, float(family.levels[-1])),
        )
        positions = family._to_scale_of_shares(even)
        return replace(
            family, positions=positions, is_skewed=are_skewed(positions, weight, family.levels)
        )

    @property
    def highest(self) -> float:
        """The highest level for which the rows suffice."""
        size = size_of(self.weight, len(self.positions))
        return level_of_rank(size, size)

    def intervals(
        self,
        center: np.ndarray,
        distances: np.ndarray,
        levels: float | Sequence[float],
        *,
        side: str = "both",
    ) -> np.ndarray:
        """Return the bounds (n, 2, q) of new rows with distances (n, 2, k), at any levels.

        With `side` "lower" or "upper" only that bound is finite, and its level is its own: a share
        `level` of the targets lies above the lower bound, or below the upper one.
        """
        check_side(side)
        checked = check_levels(levels)
        distances = distances[:, :, self.columns]
        if side == "both":
            bands = [self._bounds_with_center(center, distances, level) for level in checked]
            return np.stack(bands, axis=2)
        sign = -1.0 if side == "lower" else 1.0
        bounds = np.full((len(center), 2, len(checked)), np.inf)
        bounds[:, 0] = -np.inf
        for j, level in enumerate(checked):
            z = self._one_sided(sign, level)
            ends = self._band_ends(self._bands_around_median(center, distances), np.array([z]))
            # At low levels a bound could lie beyond the center, which no interval leaves out.
            bounds[:, int(sign > 0), j] = sign * np.maximum(sign * ends[:, 0], sign * center)
        return bounds

    def between(
        self, center: np.ndarray, distances: np.ndarray, tails: tuple[float, float]
    ) -> np.ndarray:
        """Return bounds (n, 2, 1) with one share of the targets below them and another one above.

        Each is the bound of one side at its own level, so the interval holds at the level of 1 less
        both shares. A share of 0 gives an infinite bound. The center lies between the bounds.
        """
        bounds = np.tile([-math.inf, math.inf], (len(center), 1))
        for j, (share, side) in enumerate(zip(tails, SIDES[1:], strict=True)):
            if share > 0:
                level = float(1 - exact(share))
                bounds[:, j] = self.intervals(center, distances, level, side=side)[:, j, 0]
        return bounds[:, :, None]

    def parts(
        self, aleatoric: np.ndarray, epistemic: np.ndarray, level: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return both parts of the distances at another level, each of shape (n, 2)."""
        (level,) = check_levels(level)
        columns = self.columns
        aleatoric, epistemic = aleatoric[:, :, columns], epistemic[:, :, columns]
        bounds = self._bounds_with_center(np.zeros(len(aleatoric)), aleatoric + epistemic, level)
        reach, ends = np.abs(bounds), np.abs(self.ends(level))
        noise, ignorance = self._interpolate(aleatoric, ends), self._interpolate(epistemic, ends)
        total = noise + ignorance
        share = np.divide(ignorance, total, out=np.zeros_like(total), where=total > 0)
        finite = np.where(np.isfinite(reach), reach, 0.0)
        of_parts = finite - share * finite, share * finite
        aleatoric, epistemic = (np.where(np.isfinite(reach), p, reach) for p in of_parts)
        return aleatoric, epistemic

    def quantiles(
        self, center: np.ndarray, distances: np.ndarray, levels: Sequence[float]
    ) -> np.ndarray:
        """Return the quantiles (n, q), which are bounds of the two-sided intervals.

        The quantile at 0.05 is the lower bound of the 0.9 interval. They differ only where both
        bounds would lie on one side of the center, as may happen at low levels: the interval then
        reaches to the center, the quantile does not. Where noise is skewed, each quantile is the
        bound of its own side instead.
        """
        shares, distances = check_quantiles(levels), distances[:, :, self.columns]
        if self.is_skewed:
            z = np.array([self._quantile(share) for share in shares.tolist()])
            return self._band_ends(self._bands_around_median(center, distances), z)
        points = np.empty((len(center), len(shares)))
        for j, quantile in enumerate(shares.tolist()):
            inside = float(abs(2 * exact(quantile) - 1))
            if inside == 0:
                points[:, j] = self._medians(self._bands_around_median(center, distances))
            else:
                bounds = self._bounds(center, distances, inside)
                points[:, j] = bounds[:, int(quantile > 0.5)]
        return points

    def distribution(self, center: np.ndarray, distances: np.ndarray) -> Distribution:
        """The distribution of the target of every row."""
        around = self._bands_around_median(center, distances[:, :, self.columns])
        if self.is_skewed:
            return SignedDistribution(self, around, *signed_knots(self.positions, self.weight))
        return Distribution(self, around, *knots_of(np.abs(self.positions), self.weight))

    def _band_of_level(self, level: float) -> float:
        """Return the z of a level, which stays between those of the fitted levels around it."""
        at = normal_distances(self.levels)
        (same,) = np.nonzero(np.abs(self.levels - level) < 1e-12)
        if len(same):
            return float(at[same[0]])
        below = np.max(at[self.levels < level], initial=0.0)
        above = np.min(at[self.levels > level], initial=math.inf)
        return float(np.clip(self._order_statistic(np.abs(self.positions), level), below, above))

    def ends(self, level: float) -> tuple[float, float]:
        """Return the z at which the band of a level ends, below and above the median."""
        z = self._band_of_level(level)
        return -z, z

    def _one_sided(self, sign: float, level: float) -> float:
        """Return the z with a share `level` of the rows above it (sign -1) or below it (sign 1)."""
        return sign * self._order_statistic(sign * self.positions, level)

    def _quantile(self, share: float) -> float:
        """Return the z with this share of the rows below it; at 0.5 the mean of two such z."""
        below = float(1 - exact(share))
        ends = [self._one_sided(-1.0, below)] if share <= 0.5 else []
        ends += [self._one_sided(1.0, share)] if share >= 0.5 else []
        return sum(ends) / len(ends)

    def _medians(self, around: BandsAroundMedian) -> np.ndarray:
        """Return the medians of the targets (n,)."""
        return around.median

    def _order_statistic(self, positions: np.ndarray, level: float) -> float:
        size = size_of(self.weight, len(positions))
        k: float = rank(len(positions), level, self.weight)
        if k > size:
            ending = "of the outermost row" if self.may_fall_short else "infinite"
            warn(
                f"{size:g} calibration rows are too few for level {level:g}: at least "
                f"{rows_needed(level)} are needed. The bounds are {ending}.",
                CalibrationWarning,
            )
            k = size if self.may_fall_short else k
        return order_statistic(positions, k, self.weight)

    def _bounds_with_center(
        self, center: np.ndarray, distances: np.ndarray, level: float
    ) -> np.ndarray:
        """Return the bounds (n, 2) at one level, with the center between them."""
        lower, upper = self._bounds(center, distances, level).T
        return np.stack([np.minimum(lower, center), np.maximum(upper, center)], axis=1)

    def _bounds(self, center: np.ndarray, distances: np.ndarray, level: float) -> np.ndarray:
        """Return the bounds (n, 2) at one level, around the median; fitted levels keep theirs."""
        z, at = self._band_of_level(level), normal_distances(self.levels)
        if math.isinf(z):
            return np.tile([-math.inf, math.inf], (len(center), 1))
        (same,) = np.nonzero(at == z)
        if len(same):
            return make_interval(center, distances[:, :, same[0]])
        around = self._bands_around_median(center, distances)
        bounds = make_interval(around.median, self._band_distances(around, z))
        # The bounds of fitted levels were rounded as distances from the center, so bounds that are
        # computed from the median could cross them.
        j = int(np.searchsorted(at, z))
        if j < len(at):
            limit = make_interval(center, distances[:, :, j])
            bounds = np.stack(
                [np.maximum(bounds[:, 0], limit[:, 0]), np.minimum(bounds[:, 1], limit[:, 1])], 1
            )
        if j > 0:
            limit = make_interval(center, distances[:, :, j - 1])
            bounds = np.stack(
                [np.minimum(bounds[:, 0], limit[:, 0]), np.maximum(bounds[:, 1], limit[:, 1])], 1
            )
        return bounds

    def _bands_around_median(self, center: np.ndarray, distances: np.ndarray) -> BandsAroundMedian:
        """Return the bands with distances that are measured from the median.

        Where two levels have equal bounds, the band of the higher one lies a little farther out;
        its bounds stay.
        """
        shift = self.median * distances[:, int(self.median > 0), 0]
        moved = np.maximum(distances + np.stack([shift, -shift], axis=1)[:, :, None], 0)
        for j in range(1, moved.shape[2]):
            moved[:, :, j] = np.maximum(moved[:, :, j], moved[:, :, j - 1] * (1 + APART))
        return BandsAroundMedian(center + shift, moved, distances[:, :, -1])

    def _interpolate(self, part: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return a part of the distances (n, 2) at each side's z, interpolated between levels."""
        at = normal_distances(self.levels)
        if len(at) == 1:
            return part[:, :, 0]
        sides = []
        for side, z in enumerate(ends.tolist()):
            j = int(np.clip(np.searchsorted(at, z) - 1, 0, len(at) - 2))
            share = float(np.clip((z - at[j]) / (at[j + 1] - at[j]), 0, 1))
            sides.append((1 - share) * part[:, side, j] + share * part[:, side, j + 1])
        return np.stack(sides, axis=1)

    def _band_distances(self, around: BandsAroundMedian, z: float) -> np.ndarray:
        """Return the distances (n, 2) of the ends of band z from the median."""
        at, distances = normal_distances(self.levels), around.distances
        (same,) = np.nonzero(at == z)
        if len(same):
            return distances[:, :, same[0]]
        if z < at[0]:
            return distances[:, :, 0] * (self._to_scale_of_distances(z) / at[0])
        if z > at[-1]:
            return distances[:, :, -1] + around.beyond * (
                self._to_scale_of_distances(z) / at[-1] - 1
            )
        j = int(np.searchsorted(at, z)) - 1
        share = (z - at[j]) / (at[j + 1] - at[j])
        low, high = distances[:, :, j], distances[:, :, j + 1]
        return np.minimum(low + share * (high - low), high)  # despite rounding

    def _band_ends(self, around: BandsAroundMedian, z: np.ndarray) -> np.ndarray:
        """Return the ends (n, q) of the bands z (q,), which lie below the median where z < 0."""
        points = np.empty((len(around.median), len(z)))
        for j, position in enumerate(z.tolist()):
            if math.isinf(position):
                points[:, j] = position
            else:
                reach = self._band_distances(around, abs(position))[:, int(position > 0)]
                points[:, j] = around.median + math.copysign(1.0, position) * reach
        return points

    def positions_of(self, y: np.ndarray, center: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """Return the positions (n,) of new rows, whose distances are (n, 2, k)."""
        return self._positions(y, self._bands_around_median(center, distances[:, :, self.columns]))

    def _positions(self, y: np.ndarray, around: BandsAroundMedian) -> np.ndarray:
        """Return the z (n,) of the smallest bands that contain `y`, negative below the median."""
        at, offset = normal_distances(self.levels), y - around.median
        side = np.where(offset < 0, 0, 1)
        reach = np.take_along_axis(around.distances, side[:, None, None], axis=1)[:, 0]  # (n, k)
        beyond = np.take_along_axis(around.beyond, side[:, None], axis=1)[:, 0]
        distance = np.abs(offset)
        with np.errstate(divide="ignore", invalid="ignore"):
            more = (distance - reach[:, -1]) / beyond
            z = np.where(distance == 0, 0.0, at[-1] * (1 + more))  # beyond the highest level
            for j in range(len(at) - 1, 0, -1):
                low, high = reach[:, j - 1], reach[:, j]
                between = at[j - 1] + (distance - low) / (high - low) * (at[j] - at[j - 1])
                z = np.where(distance <= high, np.where(high > low, between, at[j - 1]), z)
            first = np.where(distance == 0, 0.0, distance / reach[:, 0] * at[0])
            z = np.where(distance <= reach[:, 0], first, z)
        return self._to_scale_of_shares(np.where(side == 0, -z, z))

    def _to_scale_of_shares(self, z: np.ndarray) -> np.ndarray:
        """Turn signed z by distance (n,) into signed z by share of rows."""
        size, at = np.abs(z), normal_distances(self.levels)
        if self.paces is not None:
            below, above = (change_pace(size, *pace) for pace in self.paces)
            z = np.where(size < at[0], np.where(z < 0, -below, above), z)
        if self.outer_paces is not None:
            below, above = (change_pace(size, *pace) for pace in self.outer_paces)
            z = np.where(size > at[-1], np.where(z < 0, -below, above), z)
        return z

    def _to_scale_of_distances(self, z: Any) -> np.ndarray:
        """Turn z by share of rows into z by distance (..., 2), for each side."""
        even, at = np.stack([z, z], axis=-1), normal_distances(self.levels)
        if self.paces is not None:
            inner = np.stack([change_pace(z, *pace[::-1]) for pace in self.paces], axis=-1)
            even = np.where(even < at[0], inner, even)
        if self.outer_paces is not None:
            outer = np.stack([change_pace(z, *pace[::-1]) for pace in self.outer_paces], axis=-1)
            even = np.where(even > at[-1], outer, even)
        return even
