"""The lambda with the smallest quantile loss: over all of [0, inf], or over a grid."""

from __future__ import annotations

import math

import numpy as np

from clearbands.calibration.calibration_rows import CalibrationRows

PAPER_LAMBDAS = np.concatenate([np.linspace(0, 0.09, 10), np.logspace(-1, 2, 4001)])
"""The paper's grid of 4,011 values."""


COUNTS = 2.0**40  # that weights which are no whole numbers are rounded to, in all


def search_grid(rows: CalibrationRows, k: float, alpha: float, lambdas: np.ndarray) -> float:
    """The first lambda of the grid that has the smallest loss (Algorithm 2)."""
    losses = [rows.quantile_loss(*rows.factors(lambda_, k), alpha) for lambda_ in lambdas.tolist()]
    return float(lambdas[int(np.argmin(losses))])


def search_exactly(rows: CalibrationRows, k: float, alpha: float) -> float:
    """The lambda in [0, inf] that has the smallest loss; infinite when only gamma2 is needed."""
    from clearbands.engine.directions import best_direction

    counts, k = _counts(rows, k)
    counted = counts > 0
    reached = rows.distance == 0  # by any factors
    unreachable = ~reached & (rows.aleatoric == 0) & (rows.epistemic == 0)
    open_rows = counted & ~(reached | unreachable)
    k -= int(counts[reached].sum())
    if not 0 < k <= counts[open_rows].sum():
        return 0.0  # no factor is needed, or none suffices: lambda does not matter
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    # Mean widths near one make the search, and so its answer, independent of any unit.
    unit_a = _power_of_two(rows.total_aleatoric / rows.size)
    unit_e = _power_of_two(rows.total_epistemic / rows.size)
    weight_a, weight_e = best_direction(
        rows.distance[open_rows],
        rows.aleatoric[open_rows] / unit_a,
        rows.epistemic[open_rows] / unit_e,
        alpha / 2 * rows.total_aleatoric / unit_a,
        alpha / 2 * rows.total_epistemic / unit_e,
        k,
        float(rows.distance[unreachable] @ weight[unreachable]),
        weight[open_rows],
        counts[open_rows],
    )
    if weight_a == 0:
        return math.inf
    lambda_ = weight_e / weight_a * (unit_a / unit_e)
    if weight_e and not 0 < lambda_ < math.inf:
        raise ValueError(
            f"The mean widths, about {unit_a:g} aleatoric and {unit_e:g} epistemic, are too far "
            "apart for one factor between them. Give both in the same unit."
        )
    return lambda_


def _counts(rows: CalibrationRows, k: float) -> tuple[np.ndarray, int]:
    """How many times each row counts, in whole numbers, and the rank among them."""
    if rows.weight is None:
        return np.ones(len(rows), np.int64), int(k)
    if np.all(rows.weight == np.floor(rows.weight)) and rows.size < COUNTS:
        return rows.weight.astype(np.int64), math.ceil(k)
    scale = COUNTS / rows.size
    counts = np.rint(rows.weight * scale).astype(np.int64)
    rounded = len(counts) / 2  # at most, in all
    return counts, min(math.ceil(k * scale - rounded), int(counts.sum()))


def _power_of_two(value: float) -> float:
    """The one at or below: dividing by it costs no digit."""
    return math.ldexp(1.0, math.frexp(value)[1] - 1) if value else 1.0
