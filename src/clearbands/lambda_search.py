"""The lambda with the smallest quantile loss: over all of [0, inf], or over a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from clearbands.bands import on_side_of
from clearbands.conformal import order_statistic, ratio_scores

PAPER_LAMBDAS = np.concatenate([np.linspace(0, 0.09, 10), np.logspace(-1, 2, 4001)])
"""The paper's grid of 4,011 values."""


@dataclass(frozen=True)
class CalibrationRows:
    """What the quantile loss needs to know of the calibration rows."""

    distance: np.ndarray  # (n,) |y - center|
    aleatoric: np.ndarray  # (n,) width on the side of the center where y lies
    epistemic: np.ndarray  # (n,)
    total_aleatoric: float  # both sides, summed over the rows
    total_epistemic: float

    @classmethod
    def from_widths(
        cls, y: np.ndarray, center: np.ndarray, aleatoric: np.ndarray, epistemic: np.ndarray
    ) -> CalibrationRows:
        return cls(
            np.abs(y - center),
            on_side_of(y, center, aleatoric),
            on_side_of(y, center, epistemic),
            float(aleatoric.sum()),
            float(epistemic.sum()),
        )

    def __len__(self) -> int:
        return len(self.distance)

    def quantile_loss(self, gamma1: float, gamma2: float, alpha: float) -> float:
        """Mean over the rows and the two bounds, as in Algorithm 1."""
        if not (math.isfinite(gamma1) and math.isfinite(gamma2)):
            return math.inf
        excess = self.distance - gamma1 * self.aleatoric - gamma2 * self.epistemic
        spread = gamma1 * self.total_aleatoric + gamma2 * self.total_epistemic
        return float(alpha / 2 * spread + np.maximum(excess, 0).sum()) / (2 * len(self))

    def factors(self, lambda_: float, k: int) -> tuple[float, float]:
        """The smallest (gamma1, gamma2) of ratio `lambda_` that cover k rows."""
        if math.isinf(lambda_):
            return 0.0, order_statistic(ratio_scores(self.distance, self.epistemic), k)
        width = self.aleatoric + lambda_ * self.epistemic
        gamma1 = order_statistic(ratio_scores(self.distance, width), k)
        return gamma1, lambda_ * gamma1 if lambda_ else 0.0

    def gamma2_beside(self, gamma1: float, k: int) -> float:
        """The smallest gamma2 from 0 up that covers k rows together with `gamma1`."""
        leftover = np.maximum(self.distance - gamma1 * self.aleatoric, 0.0)
        return order_statistic(ratio_scores(leftover, self.epistemic), k)


def search_grid(rows: CalibrationRows, k: int, alpha: float, lambdas: np.ndarray) -> float:
    """The first lambda of the grid that has the smallest loss (Algorithm 2)."""
    losses = [rows.quantile_loss(*rows.factors(lambda_, k), alpha) for lambda_ in lambdas.tolist()]
    return float(lambdas[int(np.argmin(losses))])


def search_exactly(rows: CalibrationRows, k: int, alpha: float) -> float:
    """The lambda in [0, inf] that has the smallest loss; infinite when only gamma2 is needed."""
    from clearbands.engine.directions import best_direction  # numba costs half a second

    reached = rows.distance == 0  # by any factors
    unreachable = ~reached & (rows.aleatoric == 0) & (rows.epistemic == 0)
    open_rows = ~(reached | unreachable)
    k = k - int(np.count_nonzero(reached))
    if not 0 < k <= np.count_nonzero(open_rows):
        return 0.0  # no factor is needed, or none suffices: lambda does not matter
    # Mean widths of one make the search, and so its answer, independent of any unit.
    unit_a = rows.total_aleatoric / len(rows) or 1.0
    unit_e = rows.total_epistemic / len(rows) or 1.0
    t = best_direction(
        rows.distance[open_rows],
        rows.aleatoric[open_rows] / unit_a,
        rows.epistemic[open_rows] / unit_e,
        alpha / 2 * rows.total_aleatoric / unit_a,
        alpha / 2 * rows.total_epistemic / unit_e,
        k,
        float(rows.distance[unreachable].sum()),
    )
    return t / (1 - t) * (unit_a / unit_e) if t < 1 else math.inf
