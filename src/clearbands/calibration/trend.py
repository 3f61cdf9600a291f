"""A trend of the widths, so that long intervals cover as often as short ones.

Calibration makes the intervals of all rows together cover the level. The rows may still show that
long intervals cover less often than short ones, or high predictions less often than low ones. A
trend multiplies both widths of a row by

    1 + a * (rank of its interval's length) + b * (rank of its center)

where ranks go from -1 to 1 among the rows that calibrate. These rows choose a and b, by a quantile
regression of the factors at which their widths would just reach them (a rectified score, as in
Plassier et al. 2025). Both are then shrunk by what chance may have done (as by James and Stein):
they are multiplied by 1 - CHANCE / S, where S says how much coverage changes with the two ranks,
and by 0 where S is at most CHANCE. So without a trend nothing changes in 19 of 20 fits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from clearbands.calibration.calibrators import ClearCalibrator
from clearbands.calibration.conformal import CalibrationWarning, ratio_scores
from clearbands.rows.bands import Components, on_side_of
from clearbands.rows.messages import suppress_warnings

CHANCE = -2 * math.log(0.05)
"""The 95 % point of S without a trend: of chi-squared with two degrees of freedom."""

MOST = 2.0  # the largest factor by which a width grows or shrinks
MOST_SCORE = 10.0  # larger scores, in calibrated widths, count as this
KNOTS = 65  # the number of values for which ranks are stored
STEPS, FINEST = 40, 1e-4  # the steps of the regression, and the error of the last one


class Ranks(NamedTuple):
    """The ranks of values among those of the rows, from -1 to 1; equal values share a rank."""

    values: np.ndarray  # (knots,) rising
    ranks: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, weight: np.ndarray) -> Self:
        distinct, place = np.unique(values, return_inverse=True)
        share = np.bincount(place, weight) / weight.sum()
        ranks = 2 * np.cumsum(share) - share - 1
        some = np.unique(np.searchsorted(ranks, np.linspace(ranks[0], ranks[-1], KNOTS)))
        return cls(distinct[some], ranks[some])

    def __call__(self, values: np.ndarray) -> np.ndarray:
        return np.interp(values, self.values, self.ranks)


@dataclass(frozen=True)
class Trend:
    """The factor that corrects widths, from the length of an interval and from its center.

    Examples
    --------
    The widths of a thousand rows are right in the middle, but the noise grows faster than they do:

    >>> import numpy as np
    >>> rng, width = np.random.default_rng(0), np.linspace(1, 2, 1000)
    >>> y = width**2 * rng.normal(size=1000)
    >>> widths = np.tile(width[:, None, None], (1, 2, 1))
    >>> components = Components(np.zeros(1000), widths, 0 * widths)
    >>> trend = Trend.of(y, components, [0.9])
    >>> (trend(components).aleatoric / widths)[[0, 500, 999], 0, 0].round(2)
    array([0.72, 1.  , 1.28])
    """

    factors: np.ndarray  # (2, k): gamma1 and gamma2, with which lengths are computed
    lengths: tuple[Ranks, ...]  # the ranks of lengths at each level
    centers: Ranks  # the ranks of centers
    slopes: np.ndarray  # (k, 2): a and b at each level

    @classmethod
    def of(
        cls,
        y: np.ndarray,
        components: Components,
        levels: Sequence[float],
        *,
        weight: np.ndarray | None = None,
        groups: np.ndarray | None = None,
    ) -> Trend | None:
        """Learn the trend from rows that trained neither center nor widths; None if there is none.

        `weight` (n,) is what each row counts, and `groups` (n,) are labels of rows that belong
        together: such rows are not independent, so they show a trend less clearly.
        """
        with suppress_warnings(CalibrationWarning):  # the rows are calibrated once more
            calibrator = ClearCalibrator(list(levels)).fit(y, *components, sample_weight=weight)
        factors = np.stack([calibrator.gamma1_, calibrator.gamma2_])
        if not np.isfinite(factors).all():
            return None
        counts = np.ones(len(y)) if weight is None else weight
        centers = Ranks.of(components.center, counts)
        lengths, slopes = [], np.zeros((len(levels), 2))
        for j, level in enumerate(levels):
            reach = _reach(components, factors)[:, :, j]
            length = reach.sum(axis=1)
            lengths.append(Ranks.of(length, counts))
            ranks = np.column_stack([lengths[-1](length), centers(components.center)])
            distance = np.abs(y - components.center)
            scores = ratio_scores(distance, on_side_of(y, components.center, reach))
            strength = _strength(ranks, scores <= 1, level, counts, groups)
            if strength > CHANCE:
                slopes[j] = (1 - CHANCE / strength) * _slopes(ranks, scores, level, counts)
        return cls(factors, tuple(lengths), centers, slopes) if slopes.any() else None

    def __call__(self, components: Components) -> Components:
        """Return the components with corrected widths; centers stay."""
        length = _reach(components, self.factors).sum(axis=1)
        ranks = np.column_stack([of(length[:, j]) for j, of in enumerate(self.lengths)])
        change = ranks * self.slopes[:, 0]
        change += self.centers(components.center)[:, None] * self.slopes[:, 1]
        times = np.clip(1 + change, 1 / MOST, MOST)[:, None]
        center, aleatoric, epistemic = components
        return Components(center, times * aleatoric, times * epistemic)


def _reach(components: Components, factors: np.ndarray) -> np.ndarray:
    """Return the distances (n, 2, k) of the bounds."""
    return factors[0] * components.aleatoric + factors[1] * components.epistemic


def _strength(
    ranks: np.ndarray,
    inside: np.ndarray,
    level: float,
    counts: np.ndarray,
    groups: np.ndarray | None,
) -> float:
    """Return S: how much coverage changes with the ranks, chi-squared if only by chance."""
    pulls = ranks * (counts * (inside - level))[:, None]
    if groups is not None:
        _, label = np.unique(groups, return_inverse=True)
        pulls = np.column_stack([np.bincount(label, pull) for pull in pulls.T])
    pull = pulls.sum(axis=0)
    return float(pull @ np.linalg.pinv(pulls.T @ pulls, hermitian=True) @ pull)


def _slopes(ranks: np.ndarray, scores: np.ndarray, level: float, counts: np.ndarray) -> np.ndarray:
    """Return how the quantile of the scores changes with the ranks, relative to ranks of 0.

    It is fitted by weighted least squares, whose weights tend to those of the quantile loss.
    """
    functions = np.column_stack([np.ones(len(ranks)), ranks])
    scores = np.minimum(scores, MOST_SCORE)
    fit = np.array([1.0, 0.0, 0.0])
    for error in np.geomspace(1.0, FINEST, STEPS):
        residual = scores - functions @ fit
        side = np.where(residual > 0, level, 1 - level)
        weighed = functions * (counts * side / np.maximum(np.abs(residual), error))[:, None]
        fit = np.linalg.lstsq(weighed.T @ functions, weighed.T @ scores, rcond=None)[0]
    return fit[1:] / fit[0] if fit[0] > 0 else np.zeros(2)
