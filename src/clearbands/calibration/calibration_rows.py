"""What calibration knows of its rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from clearbands.calibration.conformal import (
    order_statistic,
    rank,
    ratio_scores,
    signed_scores,
)
from clearbands.rows.bands import on_side_of
from clearbands.rows.weighting import error_of_mean, size_of


@dataclass(frozen=True)
class CalibrationRows:
    """What the quantile loss needs to know of the calibration rows.

    A row of weight 3 counts as three rows, in the loss as in the rank, beside a new row that counts
    one. Without weights, `weight` is None and ranks are whole numbers of rows; else they are sums
    of weights.
    """

    distance: np.ndarray  # (n,) |y - center|
    aleatoric: np.ndarray  # (n,) width on the side of the center where y lies
    epistemic: np.ndarray  # (n,)
    total_aleatoric: float  # both sides, summed over the rows
    total_epistemic: float
    weight: np.ndarray | None  # (n,)

    @classmethod
    def from_widths(
        cls,
        y: np.ndarray,
        center: np.ndarray,
        aleatoric: np.ndarray,
        epistemic: np.ndarray,
        weight: np.ndarray | None = None,
    ) -> CalibrationRows:
        return cls(
            np.abs(y - center),
            on_side_of(y, center, aleatoric),
            on_side_of(y, center, epistemic),
            _total(aleatoric, weight),
            _total(epistemic, weight),
            weight,
        )

    def __len__(self) -> int:
        return len(self.distance)

    @property
    def size(self) -> float:
        """How many rows they count as."""
        return size_of(self.weight, len(self))

    def rank(self, level: float) -> float:
        """How many rows, or how much weight, must be covered; more than `size` if there is less."""
        return rank(len(self), level, self.weight)

    def capped_rank(self, level: float) -> float:
        """The rank, or all rows where they are too few for it: the paper's choice."""
        return min(self.rank(level), self.size)

    def quantile_loss(self, gamma1: float, gamma2: float, alpha: float) -> float:
        """Mean over the rows and the two bounds, as in Algorithm 1."""
        if not (math.isfinite(gamma1) and math.isfinite(gamma2)):
            return math.inf
        excess = self.distance - gamma1 * self.aleatoric - gamma2 * self.epistemic
        spread = gamma1 * self.total_aleatoric + gamma2 * self.total_epistemic
        missed = _total(np.maximum(excess, 0), self.weight)
        return float(alpha / 2 * spread + missed) / (2 * self.size)

    def tell_apart(self, lambda_: float, best: float, k: float, alpha: float) -> bool:
        """Whether the loss lies more than a standard error above that of the best lambda.

        The error is that of differences from row to row, in which both sides are as wide as the
        one where y lies.
        """
        factors = self.factors(lambda_, k), self.factors(best, k)
        if not np.isfinite(factors).all():
            return False
        loss, least = (self.quantile_loss(*each, alpha) for each in factors)
        widths = [g1 * self.aleatoric + g2 * self.epistemic for g1, g2 in factors]
        losses = [alpha * width + np.maximum(self.distance - width, 0) for width in widths]
        unit = least or 1.0  # squares of very small or large losses would be 0 or infinite
        difference = (losses[0] - losses[1]) / (2 * unit)
        return (loss - least) / unit > error_of_mean(difference, self.weight)

    def lambda_of_share(self, share: float) -> float:
        """The lambda that makes `share` of the mean width epistemic; 0 where one part is 0."""
        if self.total_aleatoric == 0 or self.total_epistemic == 0:
            return 0.0
        return share / (1 - share) * (self.total_aleatoric / self.total_epistemic)

    def scores(self, lambda_: float) -> tuple[np.ndarray, float, float]:
        """(n,): the multiple of two weights of ratio `lambda_` that reaches each row; and these.

        The weights differ from 1 and lambda by a power of two: no width overflows, no digit is
        lost.
        """
        weight_a, weight_e = _in_ratio(lambda_)
        width = weight_a * self.aleatoric + weight_e * self.epistemic
        return ratio_scores(self.distance, width), weight_a, weight_e

    def factors(self, lambda_: float, k: float) -> tuple[float, float]:
        """The smallest (gamma1, gamma2) of ratio `lambda_` that cover k rows."""
        scores, weight_a, weight_e = self.scores(lambda_)
        score = order_statistic(scores, k, self.weight)
        return times(weight_a, score), times(weight_e, score)

    def scores_beside(self, gamma1: float) -> np.ndarray:
        """(n,): the smallest gamma2 from 0 up that reaches each row together with `gamma1`."""
        leftover = np.maximum(self.distance - gamma1 * self.aleatoric, 0.0)
        return ratio_scores(leftover, self.epistemic)


@dataclass(frozen=True)
class TwoSidedRows(CalibrationRows):
    """Rows that also know the widths on the side where y does not lie."""

    other_aleatoric: np.ndarray  # (n,)
    other_epistemic: np.ndarray  # (n,)

    @classmethod
    def from_widths(
        cls,
        y: np.ndarray,
        center: np.ndarray,
        aleatoric: np.ndarray,
        epistemic: np.ndarray,
        weight: np.ndarray | None = None,
    ) -> TwoSidedRows:
        near = CalibrationRows.from_widths(y, center, aleatoric, epistemic, weight)
        far = CalibrationRows.from_widths(y, center, aleatoric[:, ::-1], epistemic[:, ::-1])
        return cls(**vars(near), other_aleatoric=far.aleatoric, other_epistemic=far.epistemic)

    def added(self) -> np.ndarray:
        """The multiple of the epistemic widths at which the further of the two bounds is met."""
        near = signed_scores(self.distance - self.aleatoric, self.epistemic)
        far = signed_scores(-self.distance - self.other_aleatoric, self.other_epistemic)
        return np.maximum(near, far)

    def quantile_loss(self, gamma1: float, gamma2: float, alpha: float) -> float:
        if math.isinf(gamma2):
            return math.inf
        near = np.maximum(gamma1 * self.aleatoric + gamma2 * self.epistemic, 0)
        far = np.maximum(gamma1 * self.other_aleatoric + gamma2 * self.other_epistemic, 0)
        missed = _total(np.maximum(self.distance - near, 0), self.weight)
        return float(alpha / 2 * _total(near + far, self.weight) + missed) / (2 * self.size)


def times(weight: float, score: float) -> float:
    """0 for a weight of 0, also where the score is infinite."""
    return weight * score if weight else 0.0


def _in_ratio(lambda_: float) -> tuple[float, float]:
    if math.isinf(lambda_):
        return 0.0, 1.0
    power = max(math.frexp(lambda_)[1], 0)
    return math.ldexp(1.0, -power), math.ldexp(lambda_, -power)


def _total(values: np.ndarray, weight: np.ndarray | None) -> float:
    if weight is None:
        return float(values.sum())
    return float((values if values.ndim == 1 else values.sum(axis=1)) @ weight)
