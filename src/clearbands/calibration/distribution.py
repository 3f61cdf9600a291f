"""Every level after the fit: bands that contain each other, and one number per calibration row.

The calibrated distances at the fitted levels span a family of bands. Band z is, at a fitted level,
the band of that level, where z is the number of standard deviations that enclose so much of a
normal distribution; between fitted levels distances are interpolated in z, below the lowest and
above the highest they are proportional to it. Every calibration row has a position: the z of the
smallest band that contains it. The band of any other level is then the one that contains as many
calibration rows as the level needs (the rank of `conformal.py`), so its coverage is calibrated like
that of the fitted levels; and bands of rising levels contain each other, since z does not fall.

Band 0 is the median. That is the center, unless the calibration rows show otherwise: a center may
be a mean, and where noise is skewed most targets lie on one side of it. The median then divides the
distance from the center to the bound of the lowest level so that half of them lie on either side.

Inside the band of the lowest fitted level, rows may lie close to the median on one side and far
from it on the other; rows beyond the highest level may, too. Where the calibration rows show that,
z grows at a different rate below and above the median (its pace), so that a wider band takes in as
large a share of the rows below as of those above.

The bands of the fitted levels stay where calibration put them, and of skewed noise more may lie
above them than below. Where the calibration rows show that, quantiles and chances no longer count
both sides together: every quantile is then that of the signed positions of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from clearbands.calibration.conformal import (
    CalibrationWarning,
    level_of_rank,
    order_statistic,
    rank,
    rows_needed,
    weighted_rank,
)
from clearbands.engine.quantiles import weighted_quantiles
from clearbands.rows import settings
from clearbands.rows.bands import make_interval
from clearbands.rows.checks import (
    check_count,
    check_levels,
    check_quantiles,
    check_vector,
    check_weights,
)
from clearbands.rows.levels import exact, normal_distances
from clearbands.rows.messages import warn
from clearbands.rows.targets import PLAIN, Targets
from clearbands.rows.typed import Seed

SIDES = get_args(settings.Side)
SAME_BAND = 1e-12  # relative: nearer rows differ by rounding alone
FARTHEST_BAND = 1e100  # z; rows beyond it are reached by no band
APART = 1e-6  # relative: bands differ by so much at least, so that chances tell which is meant
FARTHEST = 0.9  # of the way to a bound: the median lies inside
CHANCE = 2.0  # standard errors within which the center is taken for the median
SIDES_DIFFER = 2.0  # Kolmogorov's distance between the sides, where 0.07 % are larger by chance
PACE_SHARES = np.arange(1, 8) / 8  # of the rows of a side, between which its pace is even
SAME_PACE = 1e-6  # of the first band: knots that are nearer are one
FEWEST_OF_SIDE = 40  # rows that tell a pace
FEWEST_BEYOND = 10  # of one side, beyond the highest level
N_MEAN = 200  # quantiles that a mean is taken over
STEP = 1e-4  # of the middle half of a distribution, over which its slope is taken
LEAST_STEP = 1e-12  # of a target: of smaller ones too few digits are left


@dataclass(frozen=True)
class AnyLevel:
    """What a model keeps of its calibration rows to answer at any level: 8 bytes per row, or 16.

    Distances of rows (n, 2, k) are what a calibrator's `scale` gives, both parts added up.

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

    levels: np.ndarray  # those that were fitted and are finite, rising
    columns: np.ndarray  # where they stand among the k fitted ones
    positions: np.ndarray  # (n,) z of the band that just contains the row; < 0 below the center
    weight: np.ndarray | None = None
    may_fall_short: bool = True  # whether too few rows are covered as far as they go
    median: float = 0.0  # of the distance to the bound above (or below, < 0): from the center to it
    paces: tuple[np.ndarray, np.ndarray] | None = None
    """Below and above the median (2, knots): z as distances have it, and as shares have it, rising
    from 0 to the lowest fitted level. None where both sides are alike."""
    outer_paces: tuple[np.ndarray, np.ndarray] | None = None
    """The same from the highest fitted level on, and in proportion beyond the last knot."""
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
        """Of the calibration rows: their targets (n,), centers (n,), distances (n, 2, k).

        `shape` is that of other rows, whose median, paces and skewness are taken over; by default
        these rows choose their own, and other levels than the fitted ones then cover them a little
        too well.

        `may_fall_short=False` where rows were kept apart for the guarantee: levels that need more
        rows than there are then have infinite bounds instead of those of the outermost row.
        """
        y = check_vector(y, "y")
        center = check_vector(center, "center", len(y))
        weight = None
        if sample_weight is not None:
            weight = check_weights(sample_weight, "sample_weight", len(y))
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
        positions = family._paced(even)
        return replace(
            family, positions=positions, is_skewed=leans(positions, weight, family.levels)
        )

    @property
    def highest(self) -> float:
        """The highest level for which the rows suffice."""
        size = len(self.positions) if self.weight is None else float(self.weight.sum())
        return level_of_rank(size, size)

    def intervals(
        self,
        center: np.ndarray,
        distances: np.ndarray,
        levels: float | Sequence[float],
        *,
        side: str = "both",
    ) -> np.ndarray:
        """(n, 2, q): the bounds of new rows at any levels, whose distances are (n, 2, k).

        With `side` "lower" or "upper" only that bound is finite, and its level is its own: a share
        `level` of the targets lies above the lower bound, or below the upper one.
        """
        if side not in SIDES:
            raise ValueError(f'side must be "both", "lower" or "upper", got {side!r}.')
        checked = check_levels(levels)
        distances = distances[:, :, self.columns]
        if side == "both":
            bands = [self._around(center, distances, level) for level in checked]
            return np.stack(bands, axis=2)
        sign = -1.0 if side == "lower" else 1.0
        bounds = np.full((len(center), 2, len(checked)), np.inf)
        bounds[:, 0] = -np.inf
        for j, level in enumerate(checked):
            z = self._one_sided(sign, level)
            ends = self._points(self._from_median(center, distances), np.array([z]))
            # At low levels a bound could lie beyond the center, which no interval leaves out.
            bounds[:, int(sign > 0), j] = sign * np.maximum(sign * ends[:, 0], sign * center)
        return bounds

    def between(
        self, center: np.ndarray, distances: np.ndarray, tails: tuple[float, float]
    ) -> np.ndarray:
        """(n, 2, 1): bounds with a share of the targets below and another one above.

        Each is the bound of one side at its own level, so together they hold at 1 - both shares; no
        share is an infinite bound. The center is between them.
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
        """(n, 2) twice: the two parts (n, 2, k) of the distances at another level."""
        (level,) = check_levels(level)
        columns = self.columns
        aleatoric, epistemic = aleatoric[:, :, columns], epistemic[:, :, columns]
        bounds = self._around(np.zeros(len(aleatoric)), aleatoric + epistemic, level)
        reach, ends = np.abs(bounds), np.abs(self.ends(level))
        noise, ignorance = self._mixed(aleatoric, ends), self._mixed(epistemic, ends)
        total = noise + ignorance
        share = np.divide(ignorance, total, out=np.zeros_like(total), where=total > 0)
        finite = np.where(np.isfinite(reach), reach, 0.0)
        of_parts = finite - share * finite, share * finite
        aleatoric, epistemic = (np.where(np.isfinite(reach), p, reach) for p in of_parts)
        return aleatoric, epistemic

    def quantiles(
        self, center: np.ndarray, distances: np.ndarray, levels: Sequence[float]
    ) -> np.ndarray:
        """(n, q): the bounds of the two-sided intervals of which they are the quantiles.

        The quantile at 0.05 is the lower bound of the 0.9 interval. Only where both bounds would
        lie on one side of the center, as they may at low levels, the interval reaches to it and
        the quantile does not. Where noise is skewed, each is the bound of its own side instead.
        """
        shares, distances = check_quantiles(levels), distances[:, :, self.columns]
        if self.is_skewed:
            z = np.array([self._quantile(share) for share in shares.tolist()])
            return self._points(self._from_median(center, distances), z)
        points = np.empty((len(center), len(shares)))
        for j, quantile in enumerate(shares.tolist()):
            inside = float(abs(2 * exact(quantile) - 1))
            if inside == 0:
                points[:, j] = self._middle(self._from_median(center, distances))
            else:
                bounds = self._bounds(center, distances, inside)
                points[:, j] = bounds[:, int(quantile > 0.5)]
        return points

    def distribution(self, center: np.ndarray, distances: np.ndarray) -> Distribution:
        """The distribution of the target of every row."""
        if self.is_skewed:
            around = self._from_median(center, distances[:, :, self.columns])
            return SignedDistribution(self, around, *signed_knots(self.positions, self.weight))
        order = np.argsort(np.abs(self.positions), kind="stable")
        z = np.abs(self.positions)[order]
        weight = np.ones(len(z)) if self.weight is None else self.weight[order]
        inside = level_of_rank(np.cumsum(weight), weight.sum())
        usable = (z < FARTHEST_BAND) & (weight > 0)
        knots = np.concatenate([[0.0], np.maximum(z[usable], APART)])  # one row may be the median
        shares = np.concatenate([[0.0], inside[usable]])
        around_median = self._from_median(center, distances[:, :, self.columns])
        return Distribution(self, around_median, *_strictly_rising(knots, shares))

    def _z(self, level: float) -> float:
        """The band of a level: fitted ones are themselves, others stay between them."""
        at = normal_distances(self.levels)
        (same,) = np.nonzero(np.abs(self.levels - level) < 1e-12)
        if len(same):
            return float(at[same[0]])
        below = np.max(at[self.levels < level], initial=0.0)
        above = np.min(at[self.levels > level], initial=math.inf)
        return float(np.clip(self._order(np.abs(self.positions), level), below, above))

    def ends(self, level: float) -> tuple[float, float]:
        """Where the band of a level ends: z below and above."""
        z = self._z(level)
        return -z, z

    def _one_sided(self, sign: float, level: float) -> float:
        """The z above which (sign -1) or below which (1) a share `level` of the rows lies."""
        return sign * self._order(sign * self.positions, level)

    def _quantile(self, share: float) -> float:
        """The z below which such a share of the rows lies, by rank: at 0.5 between two of them."""
        below = float(1 - exact(share))
        ends = [self._one_sided(-1.0, below)] if share <= 0.5 else []
        ends += [self._one_sided(1.0, share)] if share >= 0.5 else []
        return sum(ends) / len(ends)

    def _middle(self, around: Around) -> np.ndarray:
        """(n,): the values that half of the targets do not exceed."""
        return around.median

    def _order(self, positions: np.ndarray, level: float) -> float:
        size = len(positions) if self.weight is None else float(self.weight.sum())
        if self.weight is None:
            k: float = rank(len(positions), level)
        else:
            k = weighted_rank(self.weight, level)
        if k > size:
            ending = "of the outermost row" if self.may_fall_short else "infinite"
            warn(
                f"{size:g} calibration rows are too few for level {level:g}: at least "
                f"{rows_needed(level)} are needed. The bounds are {ending}.",
                CalibrationWarning,
            )
            k = size if self.may_fall_short else k
        return order_statistic(positions, k, self.weight)

    def _around(self, center: np.ndarray, distances: np.ndarray, level: float) -> np.ndarray:
        """(n, 2): the bounds at one level, with the center between them."""
        lower, upper = self._bounds(center, distances, level).T
        return np.stack([np.minimum(lower, center), np.maximum(upper, center)], axis=1)

    def _bounds(self, center: np.ndarray, distances: np.ndarray, level: float) -> np.ndarray:
        """(n, 2): the bounds at one level, around the median; fitted ones are themselves."""
        z, at = self._z(level), normal_distances(self.levels)
        if math.isinf(z):
            return np.tile([-math.inf, math.inf], (len(center), 1))
        (same,) = np.nonzero(at == z)
        if len(same):
            return make_interval(center, distances[:, :, same[0]])
        around = self._from_median(center, distances)
        bounds = make_interval(around.median, self._band(around, z))
        # Bounds of fitted levels are rounded from the center: none may cross them.
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

    def _from_median(self, center: np.ndarray, distances: np.ndarray) -> Around:
        """Where two levels have equal bounds, the bands of the higher one lie a little farther out;
        its bounds stay."""
        shift = self.median * distances[:, int(self.median > 0), 0]
        moved = np.maximum(distances + np.stack([shift, -shift], axis=1)[:, :, None], 0)
        for j in range(1, moved.shape[2]):
            moved[:, :, j] = np.maximum(moved[:, :, j], moved[:, :, j - 1] * (1 + APART))
        return Around(center + shift, moved, distances[:, :, -1])

    def _mixed(self, part: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """(n, 2): a part of the distances at z below and above; between levels it may fall."""
        at = normal_distances(self.levels)
        if len(at) == 1:
            return part[:, :, 0]
        sides = []
        for side, z in enumerate(ends.tolist()):
            j = int(np.clip(np.searchsorted(at, z) - 1, 0, len(at) - 2))
            share = float(np.clip((z - at[j]) / (at[j + 1] - at[j]), 0, 1))
            sides.append((1 - share) * part[:, side, j] + share * part[:, side, j + 1])
        return np.stack(sides, axis=1)

    def _band(self, around: Around, z: float) -> np.ndarray:
        """(n, 2): the distances of band z from the median."""
        at, distances = normal_distances(self.levels), around.distances
        (same,) = np.nonzero(at == z)
        if len(same):
            return distances[:, :, same[0]]
        if z < at[0]:
            return distances[:, :, 0] * (self._unpaced(z) / at[0])
        if z > at[-1]:
            return distances[:, :, -1] + around.beyond * (self._unpaced(z) / at[-1] - 1)
        j = int(np.searchsorted(at, z)) - 1
        share = (z - at[j]) / (at[j + 1] - at[j])
        low, high = distances[:, :, j], distances[:, :, j + 1]
        return np.minimum(low + share * (high - low), high)  # never falls, also where it rounds

    def _points(self, around: Around, z: np.ndarray) -> np.ndarray:
        """(n, q): the ends of the bands z (q,), below the median where z is negative."""
        points = np.empty((len(around.median), len(z)))
        for j, position in enumerate(z.tolist()):
            if math.isinf(position):
                points[:, j] = position
            else:
                reach = self._band(around, abs(position))[:, int(position > 0)]
                points[:, j] = around.median + math.copysign(1.0, position) * reach
        return points

    def positions_of(self, y: np.ndarray, center: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """(n,): the bands that just contain new rows, whose distances are (n, 2, k)."""
        return self._positions(y, self._from_median(center, distances[:, :, self.columns]))

    def _positions(self, y: np.ndarray, around: Around) -> np.ndarray:
        """(n,): z of the smallest band that contains `y`; with the sign of its side."""
        at, offset = normal_distances(self.levels), y - around.median
        side = np.where(offset < 0, 0, 1)
        reach = np.take_along_axis(around.distances, side[:, None, None], axis=1)[:, 0]  # (n, k)
        beyond = np.take_along_axis(around.beyond, side[:, None], axis=1)[:, 0]
        distance = np.abs(offset)
        with np.errstate(divide="ignore", invalid="ignore"):
            more = (distance - reach[:, -1]) / beyond
            z = np.where(distance == 0, 0.0, at[-1] * (1 + more))  # beyond the last
            for j in range(len(at) - 1, 0, -1):
                low, high = reach[:, j - 1], reach[:, j]
                between = at[j - 1] + (distance - low) / (high - low) * (at[j] - at[j - 1])
                z = np.where(distance <= high, np.where(high > low, between, at[j - 1]), z)
            first = np.where(distance == 0, 0.0, distance / reach[:, 0] * at[0])
            z = np.where(distance <= reach[:, 0], first, z)
        return self._paced(np.where(side == 0, -z, z))

    def _paced(self, z: np.ndarray) -> np.ndarray:
        """(n,): signed z as distances have it to z as shares have it."""
        size, at = np.abs(z), normal_distances(self.levels)
        if self.paces is not None:
            below, above = (_along(size, *pace) for pace in self.paces)
            z = np.where(size < at[0], np.where(z < 0, -below, above), z)
        if self.outer_paces is not None:
            below, above = (_along(size, *pace) for pace in self.outer_paces)
            z = np.where(size > at[-1], np.where(z < 0, -below, above), z)
        return z

    def _unpaced(self, z: Any) -> np.ndarray:
        """(..., 2): z as shares have it, on both sides as distances do."""
        even, at = np.stack([z, z], axis=-1), normal_distances(self.levels)
        if self.paces is not None:
            inner = np.stack([_along(z, *pace[::-1]) for pace in self.paces], axis=-1)
            even = np.where(even < at[0], inner, even)
        if self.outer_paces is not None:
            outer = np.stack([_along(z, *pace[::-1]) for pace in self.outer_paces], axis=-1)
            even = np.where(even > at[-1], outer, even)
        return even


class Around(NamedTuple):
    """Where the bands of rows lie."""

    median: np.ndarray  # (n,)
    distances: np.ndarray  # (n, 2, levels of the bands): of the bounds from the median
    beyond: np.ndarray  # (n, 2): of the last bounds from the center, by which bands go on


@dataclass(frozen=True)
class Distribution:
    """The distribution of the target of every row, which `model.predict_distribution` returns.

    It is continuous, and its quantiles are the bounds of the two-sided intervals: where an interval
    needs k of n calibration rows, the distribution has the share `level_of_rank(k, n)` inside, and
    it interpolates between these. Beyond the outermost calibration row there are no data; there the
    tails are those of a normal distribution that continues the bands.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import fast
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> model = fast(random_state=0).fit(X, X[:, 0] + np.resize([-0.1, 0.0, 0.1], 100))
    >>> distribution = model.predict_distribution(X[:3])
    >>> distribution.cdf(0.5).shape, distribution.ppf([0.1, 0.9]).shape
    ((3,), (3, 2))
    """

    bands: AnyLevel
    around: Around
    knots: np.ndarray  # z of bands, rising from 0
    shares: np.ndarray  # which share of the targets they contain
    targets: Targets = PLAIN  # how points of the model become targets
    center: np.ndarray | None = None  # (n,), of the model; None where it is the median

    @property
    def median(self) -> np.ndarray:
        """(n,), on the scale of the model."""
        return self.around.median

    def cdf(self, t: Any) -> np.ndarray:
        """(n,): the probability of a target of at most `t`, a number or one per row."""
        values, support = self._per_row(t), self.targets.support
        share = self._below(self._positions(values))
        share = np.where(values < support.low, 0.0, share)
        return np.where(values >= support.high, 1.0, share)

    def ppf(self, p: Any) -> np.ndarray:
        """(n, q): the values that the shares `p` (q,) of the targets do not exceed."""
        shares = np.atleast_1d(np.asarray(p, float))
        if shares.ndim != 1 or not np.all((shares > 0) & (shares < 1)):
            raise ValueError(f"p must lie strictly between 0 and 1, got {p!r}.")
        points = self.bands._points(self.around, self._z_below(shares))
        return self.targets.points(points, self._center)

    def logpdf(self, t: Any) -> np.ndarray:
        """(n,): the logarithm of the density at `t`, a number or one per row.

        Calibration rows are counted in bins, about twice the cube root of their number, between
        which the density is even. For whole targets it is the logarithm of the chance of `t`. Minus
        infinity where no target can be, and infinity at a bound of the support that targets have a
        chance to be equal to.
        """
        values, binned = self._per_row(t), self._binned()
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.targets.whole:
                chance = np.maximum(binned.cdf(values) - binned.cdf(values - 1), 0.0)
                return np.log(np.where(values == np.rint(values), chance, 0.0))
            middle_half = np.ptp(self.ppf([0.25, 0.75]), axis=1)
            step = np.maximum(STEP * middle_half, LEAST_STEP * np.abs(values))
            step = np.maximum(step, np.finfo(float).tiny)
            z, low, high = (self._positions(at) for at in (values, values - step, values + step))
            slope = np.nan_to_num((high - low) / (2 * step), nan=0.0, posinf=np.inf)
            log_density = binned._log_density(z) + np.log(slope)
        support = self.targets.support
        log_density = np.where(
            (values < support.low) | (values > support.high), -np.inf, log_density
        )
        is_bound = (values == support.low) | (values == support.high)
        return np.where(is_bound, np.inf, log_density)

    def mean(self) -> np.ndarray:
        """(n,): the mean, over 200 quantiles."""
        smooth = replace(self, targets=self.targets.unrounded())
        return smooth.ppf((np.arange(N_MEAN) + 0.5) / N_MEAN).mean(axis=1)

    def sample(self, n: int = 1, random_state: Seed = None) -> np.ndarray:
        """(rows, n): targets drawn from it."""
        check_count(n, "n")
        rng = check_random_state(random_state)
        shares = rng.uniform(size=(len(self.median), n))
        z = self._z_below(shares)
        drawn = [self.points_of_rows(column) for column in np.moveaxis(z, 1, 0)]
        return self.targets.points(np.stack(drawn, axis=1), self._center)

    def _per_row(self, t: Any) -> np.ndarray:
        """(n,): a number, or one per row."""
        n, values = len(self.median), np.asarray(t, float)
        return check_vector(np.full(n, values) if values.ndim == 0 else values, "t", n)

    def _positions(self, t: np.ndarray) -> np.ndarray:
        """(n,): signed z of targets t (n,)."""
        inner = self.targets.thresholds(t, self._center)
        return self.bands._positions(inner, self.around)

    def _binned(self) -> Self:
        """The same with fewer knots, which lie equal shares apart."""
        n_bins = math.ceil(2 * len(self.knots) ** (1 / 3))
        shares = np.linspace(self.shares[0], self.shares[-1], n_bins + 1)
        knots = np.interp(shares, self.shares, self.knots)
        return replace(self, knots=knots, shares=shares)

    @property
    def _center(self) -> np.ndarray:
        return self.median if self.center is None else self.center

    def points_of_rows(self, z: np.ndarray) -> np.ndarray:
        """(n,): the end of each row's own band."""
        at = np.concatenate([[0.0], normal_distances(self.bands.levels)])
        side, rows = (z > 0).astype(int), np.arange(len(z))
        reach = np.column_stack([np.zeros(len(z)), self.around.distances[rows, side]])
        size = np.abs(z)
        size = self.bands._unpaced(size)[rows, side]
        j = np.clip(np.searchsorted(at, size, side="right") - 1, 0, len(at) - 2)
        share = (size - at[j]) / (at[j + 1] - at[j])
        between = (1 - share) * reach[rows, j] + share * reach[rows, j + 1]
        beyond = reach[:, -1] + self.around.beyond[rows, side] * (size / at[-1] - 1)
        return self.median + np.sign(z) * np.where(size > at[-1], beyond, between)

    def _below(self, z: np.ndarray) -> np.ndarray:
        """Which share of the targets lies below z, on the side of its sign."""
        return 0.5 + np.sign(z) * self._inside(np.abs(z)) / 2

    def _log_density(self, z: np.ndarray) -> np.ndarray:
        """The logarithm of the density of positions."""
        beyond = tail_density(np.abs(z), self.knots[-1]) + math.log(1 - self.shares[-1])
        within = _density_between(np.abs(z), self.knots, self.shares)
        return np.where(np.abs(z) > self.knots[-1], beyond, within) - math.log(2)

    def _z_below(self, share: np.ndarray) -> np.ndarray:
        """The z below which so large a share lies."""
        return np.sign(share - 0.5) * self._z_inside(np.abs(2 * share - 1))

    def _inside(self, z: np.ndarray) -> np.ndarray:
        """Which share of the targets band z contains."""
        beyond = 1 - (1 - self.shares[-1]) * tail_share(z, self.knots[-1])
        return np.where(z > self.knots[-1], beyond, np.interp(z, self.knots, self.shares))

    def _z_inside(self, share: np.ndarray) -> np.ndarray:
        """The band that contains so large a share."""
        last = self.shares[-1]
        beyond = tail_band((1 - share) / (1 - last), self.knots[-1])
        return np.where(share > last, beyond, np.interp(share, self.shares, self.knots))


@dataclass(frozen=True)
class SignedDistribution(Distribution):
    """That of skewed or updated rows: knots are signed positions, shares those below them."""

    @property
    def median(self) -> np.ndarray:
        return self.bands._points(self.around, self._z_below(np.array([0.5])))[:, 0]

    def _below(self, z: np.ndarray) -> np.ndarray:
        first, last = self.knots[[0, -1]]
        low, high = self.shares[[0, -1]]
        shares_below = np.interp(z, self.knots, self.shares)
        shares_below = np.where(z < first, low * tail_share(-z, -first), shares_below)
        return np.where(z > last, 1 - (1 - high) * tail_share(z, last), shares_below)

    def _log_density(self, z: np.ndarray) -> np.ndarray:
        (first, last), (low, high) = self.knots[[0, -1]], self.shares[[0, -1]]
        beneath = tail_density(-z, -first) + math.log(low)
        beyond = tail_density(z, last) + math.log(1 - high)
        within = _density_between(z, self.knots, self.shares)
        return np.where(z < first, beneath, np.where(z > last, beyond, within))

    def _z_below(self, share: np.ndarray) -> np.ndarray:
        first, last = self.knots[[0, -1]]
        low, high = self.shares[[0, -1]]
        positions = np.interp(share, self.shares, self.knots)
        with np.errstate(divide="ignore", invalid="ignore"):
            beneath = -tail_band(share / low, -first)
            beyond = tail_band((1 - share) / (1 - high), last)
        return np.where(share < low, beneath, np.where(share > high, beyond, positions))


def tail_share(z: np.ndarray, last: float) -> np.ndarray:
    """Of normal values above `last` the share above z; 1 for those below.

    In logarithms, since beyond 38 deviations no float holds the share of either.
    """
    from scipy.special import log_ndtr

    return np.exp(np.minimum(log_ndtr(-z) - log_ndtr(-last), 0))


def tail_density(z: np.ndarray, last: float) -> np.ndarray:
    """The logarithm of the density of normal values above `last` at z."""
    from scipy.special import log_ndtr

    with np.errstate(over="ignore"):
        return -(z**2 + math.log(2 * math.pi)) / 2 - log_ndtr(-last)


def _density_between(z: np.ndarray, knots: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The logarithm of the density at z that is even between rising knots."""
    if len(knots) < 2:
        return np.full(len(z), -np.inf)
    j = np.clip(np.searchsorted(knots, z) - 1, 0, len(knots) - 2)
    return np.log((shares[j + 1] - shares[j]) / (knots[j + 1] - knots[j]))


def tail_band(share: np.ndarray, last: float) -> np.ndarray:
    """The z above which such a share lies of normal values above `last`: at least `last`."""
    from scipy.special import log_ndtr, ndtri_exp

    with np.errstate(divide="ignore"):
        below = np.log(np.minimum(share, 1)) + log_ndtr(-last)
    return np.maximum(-ndtri_exp(below), last)


def median_share(
    offset: np.ndarray, distances: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """How far from the center the median lies, as a share of the way to a bound; < 0 if below.

    `offset` (n,) are targets less centers, `distances` (n, 2) those of the bounds. 0 where the
    shares of the rows on either side of the center differ by no more than chance.
    """
    reach = np.where(offset < 0, distances[:, 0], distances[:, 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(offset == 0, 0.0, offset / reach)
    whole = np.ones(len(share)) if weight is None else weight
    lean = abs(float(np.sign(share) @ whole)) / whole.sum()
    if lean <= CHANCE * math.sqrt(float(whole @ whole)) / whole.sum():
        return 0.0
    order = np.argsort(share, kind="stable")
    below = np.cumsum(whole[order])
    middle = share[order[np.searchsorted(below, below[-1] / 2)]]
    return float(np.clip(middle, -FARTHEST, FARTHEST))


def leans(positions: np.ndarray, weight: np.ndarray | None, levels: np.ndarray) -> bool:
    """Whether more rows lie beyond a fitted band on one side than on the other, not by chance."""
    whole = np.ones(len(positions)) if weight is None else weight
    for level in levels:
        beyond = np.where(_lies_beyond(positions, level), whole, 0.0)
        if abs(float(np.sign(positions) @ beyond)) > CHANCE * math.sqrt(float(beyond @ beyond)):
            return True
    return False


def _lies_beyond(positions: np.ndarray, level: float) -> np.ndarray:
    """Which rows no rounding would bring back into the band of a level.

    Calibration puts the edge of a band on a row, and such a row is inside.
    """
    (reach,) = normal_distances([level])
    return np.abs(positions) > reach * (1 + SAME_BAND)


def side_paces(
    positions: np.ndarray, weight: np.ndarray | None, lowest: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """At which paces z runs below and above the median, inside the lowest fitted level.

    `positions` (n,) are those at an even pace. None where the two sides differ by no more than
    chance, or have too few rows to tell.
    """
    sides = _unlike_sides(positions, weight, ~_lies_beyond(positions, lowest), FEWEST_OF_SIDE)
    if sides is None:
        return None
    return _pace(*sides[0], lowest), _pace(*sides[1], lowest)


def side_paces_beyond(
    positions: np.ndarray, weight: np.ndarray | None, highest: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """The same for rows beyond the highest fitted level."""
    is_beyond = _lies_beyond(positions, highest) & (np.abs(positions) < FARTHEST_BAND)
    sides = _unlike_sides(positions, weight, is_beyond, FEWEST_BEYOND)
    if sides is None:
        return None
    return _pace_beyond(*sides[0], highest), _pace_beyond(*sides[1], highest)


Side: TypeAlias = "tuple[np.ndarray, np.ndarray]"  # sizes of positions, and weights of their rows


def _unlike_sides(
    positions: np.ndarray, weight: np.ndarray | None, is_meant: np.ndarray, fewest: int
) -> tuple[Side, Side] | None:
    """Those of the rows that are meant below and above; None where they differ by chance alone."""
    whole = np.ones(len(positions)) if weight is None else weight
    is_meant = is_meant & (whole > 0)
    sides = [is_meant & (positions < 0), is_meant & (positions >= 0)]
    sizes = [float(whole[side].sum()) for side in sides]
    if min(sizes) < fewest:
        return None
    below, above = ((np.abs(positions[side]), whole[side]) for side in sides)
    chance = SIDES_DIFFER * math.sqrt(1 / sizes[0] + 1 / sizes[1])
    return None if _kolmogorov(*below, *above) <= chance else (below, above)


def _pace_beyond(size: np.ndarray, weight: np.ndarray, highest: float) -> np.ndarray:
    """(2, knots) for the rows of one side beyond the highest level."""
    (last,) = normal_distances([highest])
    z = np.concatenate([[last], weighted_quantiles(size, PACE_SHARES, weight)])
    paced = normal_distances(highest + (1 - highest) * np.concatenate([[0.0], PACE_SHARES]))
    rises = np.append(True, np.diff(z) > SAME_PACE * last)
    paced[0] = last
    return np.array([z[rises], paced[rises]])


def _along(z: Any, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """From one pace to the other: even between knots, in proportion beyond the last."""
    return np.where(z > start[-1], z * (end[-1] / start[-1]), np.interp(z, start, end))


def _pace(size: np.ndarray, weight: np.ndarray, lowest: float) -> np.ndarray:
    """(2, knots) for the rows of one side, whose z at an even pace have these sizes."""
    z = np.concatenate([[0.0], weighted_quantiles(size, PACE_SHARES, weight)])
    paced = np.concatenate([[0.0], normal_distances(lowest * PACE_SHARES)])
    (first,) = normal_distances([lowest])
    rises = np.append(True, np.diff(z) > SAME_PACE * first) & (z < first * (1 - SAME_PACE))
    return np.array([[*z[rises], first], [*paced[rises], first]])


def _kolmogorov(one: np.ndarray, weight: np.ndarray, other: np.ndarray, its: np.ndarray) -> float:
    """The largest distance between two distribution functions."""
    at = np.concatenate([one, other])
    shares = []
    for values, counts in ((one, weight), (other, its)):
        order = np.argsort(values, kind="stable")
        below = np.concatenate([[0.0], np.cumsum(counts[order])])
        shares.append(below[np.searchsorted(values[order], at, side="right")] / below[-1])
    return float(np.abs(shares[0] - shares[1]).max())


def signed_knots(positions: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Signed positions, rising, and the share of new rows below each.

    Rows that lie on one band, as all those at the median do, become two knots beside each other.
    """
    order = np.argsort(positions, kind="stable")
    z = positions[order]
    whole = np.ones(len(z)) if weight is None else weight[order]
    shares = level_of_rank(np.cumsum(whole), whole.sum())
    is_reached = (np.abs(z) < FARTHEST_BAND) & (whole > 0)
    z, shares = z[is_reached], shares[is_reached]
    if len(z) == 0:
        return np.zeros(1), np.full(1, 0.5)
    gaps = np.diff(z, prepend=-np.inf)
    is_first = gaps > SAME_BAND * np.abs(z)
    is_last = np.append(is_first[1:], True)
    apart = np.minimum(APART * np.maximum(np.abs(z), 1), gaps / 2)
    knots = np.where(is_last, z, z - apart)
    is_end = is_first | is_last
    return knots[is_end], shares[is_end]


def _strictly_rising(knots: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of several rows that lie on one band, the last, which has the largest share inside."""
    last = np.append(np.diff(knots) > SAME_BAND * knots[1:], True)
    return knots[last], shares[last]
