"""The quantile loss as a function of lambda: its minimum, and its value at fixed lambdas."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from clearbands.calibration.calibration_rows import CalibrationRows
from clearbands.calibration.conformal import order_statistic
from clearbands.rows.checks import check_count, check_vector, check_widths
from clearbands.rows.levels import alpha, check_one_level
from clearbands.rows.weighting import check_sample_weight, counts_of

PAPER_LAMBDAS = np.concatenate([np.linspace(0, 0.09, 10), np.logspace(-1, 2, 4001)])
"""The paper's grid of 4,011 values."""


COUNTS = 2.0**40  # the sum of the whole numbers that other weights are rounded to


def search_grid(rows: CalibrationRows, k: float, alpha: float, lambdas: np.ndarray) -> float:
    """Return the first lambda of the grid that has the smallest loss (Algorithm 2)."""
    losses = [rows.quantile_loss(*rows.factors(lambda_, k), alpha) for lambda_ in lambdas.tolist()]
    return float(lambdas[int(np.argmin(losses))])


def search_exactly(rows: CalibrationRows, k: float, alpha: float) -> float:
    """Return the lambda in [0, inf] with the smallest loss; infinity when only gamma2 is needed."""
    from clearbands.engine.directions import best_direction

    counts, k = _counts(rows, k)
    counted = counts > 0
    reached = rows.distance == 0  # any factors reach these rows
    unreachable = ~reached & (rows.aleatoric == 0) & (rows.epistemic == 0)
    open_rows = counted & ~(reached | unreachable)
    k -= int(counts[reached].sum())
    if not 0 < k <= counts[open_rows].sum():
        return 0.0  # no factor is needed, or none suffices, so lambda does not matter
    weight = counts_of(rows.weight, len(rows))
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
    """Return how many times each row counts, in whole numbers, and the rank among them."""
    if rows.weight is None:
        return np.ones(len(rows), np.int64), int(k)
    if np.all(rows.weight == np.floor(rows.weight)) and rows.size < COUNTS:
        return rows.weight.astype(np.int64), math.ceil(k)
    scale = COUNTS / rows.size
    counts = np.rint(rows.weight * scale).astype(np.int64)
    rounded = len(counts) / 2  # the most that rounding changes the sum by
    return counts, min(math.ceil(k * scale - rounded), int(counts.sum()))


def _power_of_two(value: float) -> float:
    """Return the largest power of two up to `value`; a division by it is exact."""
    return math.ldexp(1.0, math.frexp(value)[1] - 1) if value else 1.0


N_POINTS = 129


class PathPoint(NamedTuple):
    """A lambda, the share of the mean width that it makes epistemic, and its loss."""

    lambda_: float
    share: float
    loss: float


@dataclass(frozen=True)
class LambdaPath:
    """The loss on the rows that choose lambda, which calibrate gamma1 at each lambda too.

    `share` is the epistemic part of the mean width, between 0 (lambda 0, purely aleatoric) and 1
    (lambda infinite, purely epistemic): an axis on which both ends can be shown.

    >>> from clearbands import lambda_path
    >>> y, ones = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.ones((5, 2))
    >>> path = lambda_path(y, np.zeros(5), ones, np.column_stack([y, y]), 0.8, np.inf, n_points=5)
    >>> path.shares, path.losses.round(3)
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), array([0.5  , 0.429, 0.375, 0.333, 0.3  ]))
    >>> path.ratio_one.share, path.ratio_one.loss  # lambda = 1
    (0.75, 0.333...)
    """

    confidence_level: float
    lambdas: np.ndarray  # (m,) rising from 0 to infinity
    shares: np.ndarray  # (m,)
    losses: np.ndarray  # (m,) with infinity where no factor covers enough rows
    chosen: PathPoint
    ratio_one: PathPoint  # the paper's baseline "lambda = 1"
    gamma_one: PathPoint | None  # "gamma1 = 1"; None where no lambda covers enough rows

    def ticks(self, room: float = 0.06) -> list[tuple[float, str]]:
        """Return shares and labels of 0, infinity, and powers of ten at least `room` apart."""
        at = {0.0: "0", 1.0: "∞"}
        finite = self.lambdas[np.isfinite(self.lambdas)]
        for power in sorted(range(-8, 9), key=abs):
            share = float(np.interp(10.0**power, finite, self.shares[: len(finite)]))
            if all(abs(share - other) > room for other in at):
                at[share] = f"{10.0**power:g}"
        return list(at.items())


def lambda_path(
    y: ArrayLike,
    center: ArrayLike,
    aleatoric: ArrayLike,
    epistemic: ArrayLike,
    confidence_level: float,
    lambda_: float,
    *,
    n_points: int = N_POINTS,
    sample_weight: ArrayLike | None = None,
) -> LambdaPath:
    """Return the loss at `n_points` lambdas from 0 to infinity, at even epistemic shares.

    The arrays belong to the rows that chose lambda: y and center (n,), widths (n, 2). `lambda_` is
    the value that they chose. A row counts as many times as its `sample_weight` (n,) says.

    >>> from clearbands import lambda_path
    >>> y, ones = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.ones((5, 2))
    >>> path = lambda_path(y, np.zeros(5), ones, np.column_stack([y, y]), 0.8, np.inf, n_points=3)
    >>> path.lambdas.round(3), path.losses.round(3)
    (array([0.   , 0.333,   inf]), array([0.5  , 0.375, 0.3  ]))
    >>> path.chosen.share  # of the mean width that is epistemic
    1.0
    """
    y = check_vector(y, "y")
    center = check_vector(center, "center", len(y))
    aleatoric = check_widths(aleatoric, "aleatoric", len(y))[:, :, 0]
    epistemic = check_widths(epistemic, "epistemic", len(y))[:, :, 0]
    level = check_one_level(confidence_level)
    check_count(n_points, "n_points", 2)
    weight = check_sample_weight(sample_weight, len(y))
    rows = CalibrationRows.from_widths(y, center, aleatoric, epistemic, weight)
    k = rows.capped_rank(level)
    unit = _unit(rows)

    def point(lambda_: float) -> PathPoint:
        loss = rows.quantile_loss(*rows.factors(lambda_, k), alpha(level))
        return PathPoint(lambda_, share_of(lambda_ / unit), loss)

    shares = np.linspace(0, 1, n_points)
    points = [point(unit * _odds(share)) for share in shares.tolist()]
    return LambdaPath(
        level,
        np.array([p.lambda_ for p in points]),
        shares,
        np.array([p.loss for p in points]),
        point(float(lambda_)),
        point(1.0),
        _gamma_one(rows, k, alpha(level), unit),
    )


def share_of(odds: float) -> float:
    """Return the share that belongs to odds: 1/2 for odds of 1, and 1 for infinite odds."""
    return 1.0 if math.isinf(odds) else odds / (1 + odds)


def _odds(share: float) -> float:
    return share / (1 - share) if share < 1 else math.inf


def _unit(rows: CalibrationRows) -> float:
    """Return the lambda at which both parts have the same mean width; 1 if a part has no width."""
    both = rows.total_aleatoric > 0 and rows.total_epistemic > 0
    return rows.total_aleatoric / rows.total_epistemic if both else 1.0


def _gamma_one(rows: CalibrationRows, k: float, alpha: float, unit: float) -> PathPoint | None:
    """Return the point of the baseline "gamma1 = 1".

    It lies on the curve, unless gamma1 = 1 covers more rows than needed and lambda is 0.
    """
    lambda_ = order_statistic(rows.scores_beside(1.0), k, rows.weight)
    if math.isinf(lambda_):
        return None
    return PathPoint(lambda_, share_of(lambda_ / unit), rows.quantile_loss(1.0, lambda_, alpha))
