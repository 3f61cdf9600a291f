"""The rows of calibration: distances from the center, and the widths that must reach them."""

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
    """The distances and widths of the calibration rows, from which loss and ranks are computed.

    A row of weight 3 counts as three rows, in the loss as in the rank; a new row counts as one.
    Without weights, `weight` is None and ranks are whole numbers of rows; else they are sums of
    weights.
    """

    distance: np.ndarray  # (n,) |y - center|
    aleatoric: np.ndarray  # (n,) width on the side of the center where y lies
    epistemic: np.ndarray  # (n,) the same of the epistemic part
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
        """The number of rows that all rows together count as."""
        return size_of(self.weight, len(self))

    def rank(self, level: float) -> float:
        """Return how many rows, or how much weight, must be covered; this may exceed `size`."""
        return rank(len(self), level, self.weight)

    def capped_rank(self, level: float) -> float:
        """Return the rank, or all rows where they are too few for it, as in the paper."""
        return min(self.rank(level), self.size)

    def quantile_loss(self, gamma1: float, gamma2: float, alpha: float) -> float:
        """Return the mean loss over the rows and their two bounds, as in Algorithm 1."""
        if not (math.isfinite(gamma1) and math.isfinite(gamma2)):
            return math.inf
        excess = self.distance - gamma1 * self.aleatoric - gamma2 * self.epistemic
        spread = gamma1 * self.total_aleatoric + gamma2 * self.total_epistemic
        missed = _total(np.maximum(excess, 0), self.weight)
        return float(alpha / 2 * spread + missed) / (2 * self.size)

    def tell_apart(self, lambda_: float, best: float, k: float, alpha: float) -> bool:
        """Whether the loss lies more than a standard error above that of the best lambda.

        The standard error is that of the mean difference of the rows' losses. In these, both sides
        are as wide as the side where y lies.
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
        """Return the lambda at which `share` of the mean width is epistemic; 0 if a part is 0."""
        if self.total_aleatoric == 0 or self.total_epistemic == 0:
            return 0.0
        return share / (1 - share) * (self.total_aleatoric / self.total_epistemic)

    def scores(self, lambda_: float) -> tuple[np.ndarray, float, float]:
        """Return scores (n,) and two weights: a score times both weights just reaches its row.

        The weights are 1 and lambda, divided by a power of two: so no width overflows and no digit
        is lost.
        """
        weight_a, weight_e = _in_ratio(lambda_)
        width = weight_a * self.aleatoric + weight_e * self.epistemic
        return ratio_scores(self.distance, width), weight_a, weight_e

    def factors(self, lambda_: float, k: float) -> tuple[float, float]:
        """Return the smallest gamma1 and gamma2 of ratio `lambda_` that cover k rows."""
        scores, weight_a, weight_e = self.scores(lambda_)
        score = order_statistic(scores, k, self.weight)
        return times(weight_a, score), times(weight_e, score)

    def scores_beside(self, gamma1: float) -> np.ndarray:
        """Return the smallest gamma2 >= 0 with which `gamma1` reaches each row, (n,)."""
        leftover = np.maximum(self.distance - gamma1 * self.aleatoric, 0.0)
        return ratio_scores(leftover, self.epistemic)


@dataclass(frozen=True)
class TwoSidedRows(CalibrationRows):
    """Calibration rows with the widths on the other side too, where y does not lie."""

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
        """Return the multiple of the epistemic widths with which y lies within both bounds."""
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
    """Return the product; it is 0 for a weight of 0, even where the score is infinite."""
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
