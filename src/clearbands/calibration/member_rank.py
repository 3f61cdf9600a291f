"""UACQR-P on arrays: bounds that are order statistics of the members' estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from clearbands.calibration.conformal import (
    CalibrationWarning,
    order_statistic,
    per_heaviest,
    rank,
    rows_needed,
)
from clearbands.rows.bands import nest
from clearbands.rows.checks import check_vector
from clearbands.rows.levels import check_levels
from clearbands.rows.messages import warn
from clearbands.rows.weighting import check_sample_weight, size_of


class MemberRankCalibrator(BaseEstimator):
    """UACQR-P on arrays: it chooses which order statistics of B quantile estimates are the bounds.

    At t the interval reaches from the t-th largest of the lower estimates to the t-th smallest of
    the upper ones, t = 1, ..., B; at B + 1 it is infinite. The score of a row is the smallest t
    that covers it. When t = B leaves too many calibration rows out, no finite interval is valid:
    the bounds are infinite, with a `CalibrationWarning`.

    Attributes
    ----------
    order_ : int, or one per level for a list of levels
        The calibrated t.

    Examples
    --------
    Four rows with three estimates of either bound; the first of them reach only two rows:

    >>> from clearbands import MemberRankCalibrator
    >>> lower, upper = [[-1.0, -2.0, -3.0]] * 4, [[1.0, 2.0, 3.0]] * 4
    >>> calibrator = MemberRankCalibrator(0.6).fit([0.5, -1.0, 1.5, 2.5], lower, upper)
    >>> calibrator.order_
    2
    >>> calibrator.predict_interval([0.0], lower[:1], upper[:1])
    array([[-2.,  2.]])
    """

    def __init__(self, confidence_level: float | Sequence[float] = 0.9) -> None:
        self.confidence_level = confidence_level

    def fit(
        self,
        y: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> MemberRankCalibrator:
        """Choose the order on rows that trained no member.

        `y` has shape (n,), `lower` and `upper` (n, B) or, with k levels, (n, k, B). `sample_weight`
        (n,) is how many rows each row counts as; a new row counts as much as the heaviest.
        """
        levels = check_levels(self.confidence_level)
        y = check_vector(y, "y")
        lower, upper = (
            _check_members(ends, name, len(y), len(levels))
            for ends, name in ((lower, "lower"), (upper, "upper"))
        )
        scores = member_rank_scores(y, lower, upper)
        n, n_members = len(y), lower.shape[-1]
        weight = check_sample_weight(sample_weight, n)
        if weight is not None:
            weight = per_heaviest(weight)
        orders = []
        for j, level in enumerate(levels):
            k = rank(n, level, weight)
            t = order_statistic(scores[:, j], k, weight)
            orders.append(n_members + 1 if math.isinf(t) else int(t))
            if orders[-1] > n_members:
                _warn_infinite(level, size_of(weight, n), k, n_members)
        self.levels_, self.orders_ = np.array(levels), np.array(orders)
        self.n_calibration_ = n
        return self

    @property
    def order_(self) -> float | np.ndarray:
        check_is_fitted(self, "orders_")
        return int(self.orders_[0]) if isinstance(self.confidence_level, Real) else self.orders_

    def predict_interval(self, center: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> np.ndarray:
        """Return lower and upper bounds (n, 2), or (n, 2, k) for k levels.

        Low orders can give a bound on the wrong side of the center. Such a bound moves to the
        center, which makes the interval longer. Levels are nested in the same way.
        """
        check_is_fitted(self, "orders_")
        center = check_vector(center, "center")
        n, k = len(center), len(self.levels_)
        lower, upper = (
            np.sort(_check_members(ends, name, n, k), axis=-1)
            for ends, name in ((lower, "lower"), (upper, "upper"))
        )
        outwards = np.full((n, 2, k), np.inf)  # the negative lower bounds, and the upper bounds
        for j, t in enumerate(self.orders_):
            if t <= lower.shape[-1]:
                outwards[:, 0, j] = np.maximum(-lower[:, j, -t], -center)
                outwards[:, 1, j] = np.maximum(upper[:, j, t - 1], center)
        nest(self.levels_, outwards)
        bounds = outwards * [[-1], [1]]
        return bounds[:, :, 0] if isinstance(self.confidence_level, Real) else bounds


def member_rank_scores(y: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return the smallest t that covers each row (n, k), from 1 to B + 1."""
    above_y = (lower > y[:, None, None]).sum(axis=-1)
    below_y = (upper < y[:, None, None]).sum(axis=-1)
    return 1 + np.maximum(above_y, below_y)


def _check_members(values: ArrayLike, name: str, n: int, n_levels: int) -> np.ndarray:
    members = np.asarray(values, float)
    if members.ndim == 2 and n_levels == 1:
        members = members[:, None, :]
    if members.ndim != 3 or members.shape[:2] != (n, n_levels) or members.shape[2] == 0:
        raise ValueError(
            f"{name} must hold the estimates of B members for every row and level, shape "
            f"({n}, {n_levels}, B); got {np.shape(values)}."
        )
    if not np.isfinite(members).all():
        raise ValueError(f"{name} contains NaN or infinity.")
    return members


def _warn_infinite(level: float, size: float, k: float, n_members: int) -> None:
    if k > size:
        reason = f"{size:g} calibration rows are too few, at least {rows_needed(level)} are needed"
    else:
        reason = f"even the extremes of the {n_members} members cover too few calibration rows"
    warn(
        f"No finite interval is valid at level {level:g}: {reason}. The bounds are infinite.",
        CalibrationWarning,
    )
