"""The distribution of the target of every row, from bands and the calibration rows inside each."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from clearbands.calibration.conformal import level_of_rank
from clearbands.calibration.sides import FARTHEST_BAND, SAME_BAND
from clearbands.rows.checks import check_count, check_vector
from clearbands.rows.levels import normal_distances
from clearbands.rows.targets import PLAIN, Targets
from clearbands.rows.typed import Seed
from clearbands.rows.weighting import counts_of

if TYPE_CHECKING:
    from clearbands.calibration.any_level import AnyLevel

APART = 1e-6  # the least relative distance of bands, so that a probability belongs to one of them
N_MEAN = 200  # the number of quantiles that a mean is taken over
STEP = 1e-4  # the step of a numerical slope, as a share of the middle half of the distribution
LEAST_STEP = 1e-12  # the same as a share of the target; a smaller one would keep too few digits


class BandsAroundMedian(NamedTuple):
    """The medians of rows, and the distances of their bands."""

    median: np.ndarray  # (n,)
    distances: np.ndarray  # (n, 2, levels of the bands): from the median to the bounds
    beyond: np.ndarray  # (n, 2): from the center to the last bounds; outer bands are in proportion


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
    around: BandsAroundMedian
    knots: np.ndarray  # z of bands, rising from 0
    shares: np.ndarray  # the share of the targets in each of these bands
    targets: Targets = PLAIN  # the scale of the targets, and their support
    center: np.ndarray | None = None  # (n,), of the model; None where it is the median

    @property
    def median(self) -> np.ndarray:
        """The medians (n,), on the scale of the model."""
        return self.around.median

    def cdf(self, t: Any) -> np.ndarray:
        """Return the probability (n,) of a target of at most `t`, a number or one per row."""
        values, support = self._per_row(t), self.targets.support
        share = self._share_below(self._positions(values))
        share = np.where(values < support.low, 0.0, share)
        return np.where(values >= support.high, 1.0, share)

    def ppf(self, p: Any) -> np.ndarray:
        """Return the values (n, q) that the shares `p` (q,) of the targets do not exceed."""
        shares = np.atleast_1d(np.asarray(p, float))
        if shares.ndim != 1 or not np.all((shares > 0) & (shares < 1)):
            raise ValueError(f"p must lie strictly between 0 and 1, got {p!r}.")
        points = self.bands._band_ends(self.around, self._z_below(shares))
        return self.targets.points(points, self._center)

    def logpdf(self, t: Any) -> np.ndarray:
        """Return the logarithm of the density (n,) at `t`, a number or one per row.

        Calibration rows are counted in bins, about twice the cube root of their number; within a
        bin the density of positions is constant. For whole targets it is the logarithm of the
        probability of `t`. It is minus infinity where no target can be, and infinity at a bound of
        the support, which targets may equal with a positive probability.
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
        """Return the mean (n,), taken over 200 quantiles."""
        smooth = replace(self, targets=self.targets.unrounded())
        return smooth.ppf((np.arange(N_MEAN) + 0.5) / N_MEAN).mean(axis=1)

    def sample(self, n: int = 1, random_state: Seed = None) -> np.ndarray:
        """Return targets drawn from the distribution, (rows, n)."""
        check_count(n, "n")
        rng = check_random_state(random_state)
        shares = rng.uniform(size=(len(self.median), n))
        z = self._z_below(shares)
        drawn = [self.points_of_rows(column) for column in np.moveaxis(z, 1, 0)]
        return self.targets.points(np.stack(drawn, axis=1), self._center)

    def _per_row(self, t: Any) -> np.ndarray:
        """Return a value per row (n,), from one number or one per row."""
        n, values = len(self.median), np.asarray(t, float)
        return check_vector(np.full(n, values) if values.ndim == 0 else values, "t", n)

    def _positions(self, t: np.ndarray) -> np.ndarray:
        """Return the signed z (n,) of targets t (n,)."""
        inner = self.targets.thresholds(t, self._center)
        return self.bands._positions(inner, self.around)

    def _binned(self) -> Self:
        """Return the distribution with fewer knots, which lie equal shares apart."""
        n_bins = math.ceil(2 * len(self.knots) ** (1 / 3))
        shares = np.linspace(self.shares[0], self.shares[-1], n_bins + 1)
        knots = np.interp(shares, self.shares, self.knots)
        return replace(self, knots=knots, shares=shares)

    @property
    def _center(self) -> np.ndarray:
        return self.median if self.center is None else self.center

    def points_of_rows(self, z: np.ndarray) -> np.ndarray:
        """Return the points (n,) at the signed z (n,), one per row."""
        at = np.concatenate([[0.0], normal_distances(self.bands.levels)])
        side, rows = (z > 0).astype(int), np.arange(len(z))
        reach = np.column_stack([np.zeros(len(z)), self.around.distances[rows, side]])
        size = np.abs(z)
        size = self.bands._to_scale_of_distances(size)[rows, side]
        j = np.clip(np.searchsorted(at, size, side="right") - 1, 0, len(at) - 2)
        share = (size - at[j]) / (at[j + 1] - at[j])
        between = (1 - share) * reach[rows, j] + share * reach[rows, j + 1]
        beyond = reach[:, -1] + self.around.beyond[rows, side] * (size / at[-1] - 1)
        return self.median + np.sign(z) * np.where(size > at[-1], beyond, between)

    def _share_below(self, z: np.ndarray) -> np.ndarray:
        """Return the share of the targets below a signed z."""
        return 0.5 + np.sign(z) * self._share_inside(np.abs(z)) / 2

    def _log_density(self, z: np.ndarray) -> np.ndarray:
        """Return the logarithm of the density of positions at z."""
        beyond = tail_density(np.abs(z), self.knots[-1]) + math.log(1 - self.shares[-1])
        within = _density_between(np.abs(z), self.knots, self.shares)
        return np.where(np.abs(z) > self.knots[-1], beyond, within) - math.log(2)

    def _z_below(self, share: np.ndarray) -> np.ndarray:
        """Return the signed z with this share of the targets below it."""
        return np.sign(share - 0.5) * self._z_inside(np.abs(2 * share - 1))

    def _share_inside(self, z: np.ndarray) -> np.ndarray:
        """Return the share of the targets that band z contains."""
        beyond = 1 - (1 - self.shares[-1]) * tail_share(z, self.knots[-1])
        return np.where(z > self.knots[-1], beyond, np.interp(z, self.knots, self.shares))

    def _z_inside(self, share: np.ndarray) -> np.ndarray:
        """Return the z of the band that contains this share."""
        last = self.shares[-1]
        beyond = tail_band((1 - share) / (1 - last), self.knots[-1])
        return np.where(share > last, beyond, np.interp(share, self.shares, self.knots))


@dataclass(frozen=True)
class SignedDistribution(Distribution):
    """The distribution of skewed or updated rows: `shares` of targets lie below signed `knots`."""

    @property
    def median(self) -> np.ndarray:
        return self.bands._band_ends(self.around, self._z_below(np.array([0.5])))[:, 0]

    def _share_below(self, z: np.ndarray) -> np.ndarray:
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
    """Return the share of the normal values above `last` that exceeds z; 1 where z is lower.

    It is computed in logarithms, since beyond 38 standard deviations no float holds either share.
    """
    from scipy.special import log_ndtr

    return np.exp(np.minimum(log_ndtr(-z) - log_ndtr(-last), 0))


def tail_density(z: np.ndarray, last: float) -> np.ndarray:
    """Return the logarithm of the density at z of the normal values above `last`."""
    from scipy.special import log_ndtr

    with np.errstate(over="ignore"):
        return -(z**2 + math.log(2 * math.pi)) / 2 - log_ndtr(-last)


def _density_between(z: np.ndarray, knots: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the logarithm of the density at z, which is constant between rising knots."""
    if len(knots) < 2:
        return np.full(len(z), -np.inf)
    j = np.clip(np.searchsorted(knots, z) - 1, 0, len(knots) - 2)
    return np.log((shares[j + 1] - shares[j]) / (knots[j + 1] - knots[j]))


def tail_band(share: np.ndarray, last: float) -> np.ndarray:
    """Return the z that this share of the normal values above `last` exceeds; at least `last`."""
    from scipy.special import log_ndtr, ndtri_exp

    with np.errstate(divide="ignore"):
        below = np.log(np.minimum(share, 1)) + log_ndtr(-last)
    return np.maximum(-ndtri_exp(below), last)


def knots_of(sizes: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the z of bands, rising from 0, and the share of new rows inside each.

    `sizes` (n,) are positions without their signs. Where several rows lie on one band, it gets the
    largest of their shares.
    """
    z, inside = _shares_of(sizes, weight)
    knots = np.concatenate([[0.0], np.maximum(z, APART)])  # one row may be the median
    shares = np.concatenate([[0.0], inside])
    is_last = np.append(np.diff(knots) > SAME_BAND * knots[1:], True)
    return knots[is_last], shares[is_last]


def signed_knots(positions: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return signed positions, rising, and the share of new rows below each.

    Rows that lie on one band, as all rows at the median do, become two knots beside each other.
    """
    z, shares = _shares_of(positions, weight)
    if len(z) == 0:
        return np.zeros(1), np.full(1, 0.5)
    gaps = np.diff(z, prepend=-np.inf)
    is_first = gaps > SAME_BAND * np.abs(z)
    is_last = np.append(is_first[1:], True)
    apart = np.minimum(APART * np.maximum(np.abs(z), 1), gaps / 2)
    knots = np.where(is_last, z, z - apart)
    is_end = is_first | is_last
    return knots[is_end], shares[is_end]


def _shares_of(positions: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions that bands reach, rising, and the share of new rows up to each."""
    order = np.argsort(positions, kind="stable")
    z, whole = positions[order], counts_of(weight, len(positions))[order]
    shares = level_of_rank(np.cumsum(whole), whole.sum())
    is_reached = (np.abs(z) < FARTHEST_BAND) & (whole > 0)
    return z[is_reached], shares[is_reached]
