"""The quantile loss over every lambda, and where the chosen and the fixed ones lie on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from clearbands.calibration.calibration_rows import CalibrationRows
from clearbands.calibration.conformal import order_statistic
from clearbands.rows.checks import (
    check_count,
    check_one_level,
    check_vector,
    check_weights,
    check_widths,
)
from clearbands.rows.levels import alpha

N_POINTS = 129


class PathPoint(NamedTuple):
    """One lambda: how much of the mean width it makes epistemic, and its loss."""

    lambda_: float
    share: float
    loss: float


@dataclass(frozen=True)
class LambdaPath:
    """The loss on the rows that choose lambda, each gamma1 being calibrated on them too.

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
    losses: np.ndarray  # (m,) infinite where no factor covers enough rows
    chosen: PathPoint
    ratio_one: PathPoint  # the paper's baseline "lambda = 1"
    gamma_one: PathPoint | None  # "gamma1 = 1"; None where no lambda covers enough rows

    def ticks(self, room: float = 0.06) -> list[tuple[float, str]]:
        """Shares and names of 0, infinity, and the powers of ten that keep `room` between them."""
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
    """The loss at `n_points` lambdas from 0 to infinity, spread evenly over the epistemic share.

    The arrays are those that chose lambda: y and center (n,), widths (n, 2). `lambda_` is what
    was chosen on them; a row counts as many times as its `sample_weight` (n,) says.

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
    weight = None
    if sample_weight is not None:
        weight = check_weights(sample_weight, "sample_weight", len(y))
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
    """1/2 of 1, 1 of infinity."""
    return 1.0 if math.isinf(odds) else odds / (1 + odds)


def _odds(share: float) -> float:
    return share / (1 - share) if share < 1 else math.inf


def _unit(rows: CalibrationRows) -> float:
    """The lambda at which both parts are equally wide on average; 1 where one part has no width."""
    both = rows.total_aleatoric > 0 and rows.total_epistemic > 0
    return rows.total_aleatoric / rows.total_epistemic if both else 1.0


def _gamma_one(rows: CalibrationRows, k: float, alpha: float, unit: float) -> PathPoint | None:
    """Beside the curve only where gamma1 = 1 covers more rows than needed, and lambda is 0."""
    lambda_ = order_statistic(rows.scores_beside(1.0), k, rows.weight)
    if math.isinf(lambda_):
        return None
    return PathPoint(lambda_, share_of(lambda_ / unit), rows.quantile_loss(1.0, lambda_, alpha))
