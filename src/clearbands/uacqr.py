"""Uncertainty-aware CQR (Rossellini, Barber, Willett 2024): bagged quantile estimates, calibrated.

Both take B estimates of the lower and of the upper quantile, one per bootstrap. UACQR-S moves
their medians by multiples of how much they spread; UACQR-P takes order statistics of them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from clearbands.bagging import Bootstraps, fit_bag, sorted_quantiles
from clearbands.bands import check_vector
from clearbands.baselines import (
    SplitConformal,
    distances,
    pick_curves,
    quantile_model,
)
from clearbands.calibration import AdditiveCalibrator
from clearbands.conformal import CalibrationWarning, order_statistic, rank, rows_needed
from clearbands.epistemic.base import predict_in_chunks
from clearbands.interval_regressor import Components
from clearbands.levels import check_levels, curve_levels
from clearbands.quantile_models.forest import ForestQuantiles
from clearbands.split import Rows
from clearbands.tables import check_count


def interquartile_range(members: np.ndarray) -> np.ndarray:
    """Distance between the quartiles along the last axis."""
    quartiles = sorted_quantiles(members, (0.25, 0.75))
    return quartiles[..., 1] - quartiles[..., 0]


SPREADS = {"iqr": interquartile_range, "std": lambda members: np.std(members, axis=-1)}


def spread_components(
    members: np.ndarray, levels: Sequence[float], spread: str = "iqr"
) -> Components:
    """What UACQR-S calibrates, from members (n, q, B) at `curve_levels(levels)`.

    The center and the bounds are medians over the B members; the epistemic widths are the spread
    of the estimates of either bound. `AdditiveCalibrator` does the rest.
    """
    center, lower, upper = pick_curves(np.median(members, axis=-1), levels)
    _, lower_members, upper_members = pick_curves(members, levels)
    spreads = [SPREADS[spread](ends) for ends in (lower_members, upper_members)]
    return Components(center, distances(center, lower, upper), np.stack(spreads, axis=1))


class MemberRankCalibrator(BaseEstimator):
    """UACQR-P on arrays: which order statistics of B quantile estimates are the bounds.

    At t the interval reaches from the t-th largest of the lower estimates to the t-th smallest of
    the upper ones, t = 1, ..., B; at B + 1 it is infinite. The score of a row is the smallest t
    that covers it. When t = B leaves too many calibration rows out, no finite interval is valid:
    the bounds are infinite, with a `CalibrationWarning`.

    Attributes
    ----------
    order_ : int, or one per level for a list of levels
        The calibrated t.
    """

    def __init__(self, confidence_level: float | Sequence[float] = 0.9) -> None:
        self.confidence_level = confidence_level

    def fit(self, y: Any, lower: Any, upper: Any) -> MemberRankCalibrator:
        """`y` (n,); `lower` and `upper` (n, B) or, with k levels, (n, k, B)."""
        levels = check_levels(self.confidence_level)
        y = check_vector(y, "y")
        lower, upper = (
            _check_members(ends, name, len(y), len(levels))
            for ends, name in ((lower, "lower"), (upper, "upper"))
        )
        scores = member_rank_scores(y, lower, upper)
        n, n_members = len(y), lower.shape[-1]
        orders = []
        for j, level in enumerate(levels):
            k = rank(n, level)
            t = order_statistic(scores[:, j], k)
            orders.append(n_members + 1 if math.isinf(t) else int(t))
            if orders[-1] > n_members:
                _warn_infinite(level, n, k, n_members)
        self.levels_, self.orders_ = np.array(levels), np.array(orders)
        self.n_calibration_ = n
        return self

    @property
    def order_(self) -> Any:
        check_is_fitted(self, "orders_")
        return int(self.orders_[0]) if isinstance(self.confidence_level, Real) else self.orders_

    def predict_interval(self, center: Any, lower: Any, upper: Any) -> np.ndarray:
        """(n, 2); (n, 2, k) when several levels were asked for.

        A bound on the wrong side of the center, which low orders can give, moves to the center:
        that makes the interval longer. Levels are nested the same way.
        """
        check_is_fitted(self, "orders_")
        center = check_vector(center, "center")
        n, k = len(center), len(self.levels_)
        lower, upper = (
            np.sort(_check_members(ends, name, n, k), axis=-1)
            for ends, name in ((lower, "lower"), (upper, "upper"))
        )
        bounds = np.empty((n, 2, k))
        reached = np.stack([center, center], axis=1)
        for j in np.argsort(self.levels_):
            t = self.orders_[j]
            if t > lower.shape[-1]:
                reached = np.stack([np.full(n, -np.inf), np.full(n, np.inf)], axis=1)
            else:
                below = np.minimum(lower[:, j, -t], reached[:, 0])
                reached = np.stack([below, np.maximum(upper[:, j, t - 1], reached[:, 1])], axis=1)
            bounds[:, :, j] = reached
        return bounds[:, :, 0] if isinstance(self.confidence_level, Real) else bounds


def member_rank_scores(y: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """(n, k): the smallest t that covers each row, from 1 to B + 1."""
    above_y = (lower > y[:, None, None]).sum(axis=-1)
    below_y = (upper < y[:, None, None]).sum(axis=-1)
    return 1 + np.maximum(above_y, below_y)


class _UACQR(SplitConformal):
    """A bag of quantile models of y."""

    model: Any
    n_bootstraps: int

    def _fit_parts(self, train: Rows, levels: list[float], rng: np.random.RandomState) -> None:
        check_count(self.n_bootstraps, "n_bootstraps")
        default = ForestQuantiles() if self.model is None else self.model
        model = quantile_model(default, curve_levels(levels), rng)
        bootstraps = Bootstraps.draw(len(train), self.n_bootstraps, rng)
        self.bag_ = fit_bag(
            model, train.X, train.y, bootstraps, n_jobs=self.n_jobs, stage="quantiles"
        )

    def _in_chunks(self, summarise: Any, X: Any) -> np.ndarray:
        """summarise(members (n, q, B)), some rows at a time."""
        return predict_in_chunks(
            lambda chunk: summarise(self.bag_.predict_members(chunk)),
            X,
            members=len(curve_levels(self.levels_.tolist())) * self.n_bootstraps,
        )


class UACQRS(_UACQR):
    """UACQR-S: [lower - t * spread of lower, upper + t * spread of upper], t calibrated.

    lower and upper are medians of the estimates of B quantile models fitted on bootstraps, the
    spread is how much these estimates differ. t may be negative; bounds stop at the center.

    Parameters
    ----------
    model : quantile model, optional
        By default a `ForestQuantiles`.
    n_bootstraps : int
    spread : "iqr" or "std"
        Interquartile range or standard deviation of the estimates.
    confidence_level : float or list of float
        Intervals of several levels are nested.
    calibration_size : float
        Share of the rows that is held out when `fit` is given no calibration set.
    encoder : "auto", transformer or None
        As in `ClearRegressor`.
    n_jobs, random_state
        As in scikit-learn; the result does not depend on `n_jobs`.
    """

    def __init__(
        self,
        model: Any = None,
        n_bootstraps: int = 100,
        *,
        spread: str = "iqr",
        confidence_level: float | Sequence[float] = 0.9,
        calibration_size: float = 0.25,
        encoder: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.n_bootstraps = n_bootstraps
        self.spread = spread
        self.confidence_level = confidence_level
        self.calibration_size = calibration_size
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> list[float]:
        if self.spread not in SPREADS:
            raise ValueError(f'spread must be "iqr" or "std", got {self.spread!r}.')
        return super()._check_parameters()

    def _components(self, X: Any) -> Components:
        levels = self.levels_.tolist()

        def summarise(members: np.ndarray) -> np.ndarray:
            center, aleatoric, epistemic = spread_components(members, levels, self.spread)
            flat = [part.reshape(len(center), -1) for part in (aleatoric, epistemic)]
            return np.column_stack([center, *flat])

        summary, k = self._in_chunks(summarise, X), len(levels)
        aleatoric, epistemic = summary[:, 1:].reshape(-1, 2, 2, k).transpose(1, 0, 2, 3)
        return Components(summary[:, 0], aleatoric, epistemic)

    def _calibrate(self, held_out: Rows, levels: list[float]) -> Any:
        return AdditiveCalibrator(levels).fit(held_out.y, *self._components(held_out.X))


class UACQRP(_UACQR):
    """UACQR-P: order statistics of the B lower and of the B upper quantile estimates.

    The order is calibrated. Where even the smallest lower and the largest upper estimate cover
    too few calibration rows, the bounds are infinite, with a `CalibrationWarning`.

    Parameters
    ----------
    model : quantile model, optional
        By default a `ForestQuantiles`.
    n_bootstraps : int
    confidence_level : float or list of float
        Intervals of several levels are nested.
    calibration_size : float
        Share of the rows that is held out when `fit` is given no calibration set.
    encoder : "auto", transformer or None
        As in `ClearRegressor`.
    n_jobs, random_state
        As in scikit-learn; the result does not depend on `n_jobs`.
    """

    def __init__(
        self,
        model: Any = None,
        n_bootstraps: int = 100,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        calibration_size: float = 0.25,
        encoder: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.n_bootstraps = n_bootstraps
        self.confidence_level = confidence_level
        self.calibration_size = calibration_size
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _components(self, X: Any) -> Components:
        raise NotImplementedError("The bounds of UACQR-P are no multiples of widths.")

    def _calibrate(self, held_out: Rows, levels: list[float]) -> Any:
        members = self._in_chunks(lambda members: members, held_out.X)
        _, lower, upper = pick_curves(members, levels)
        return MemberRankCalibrator(levels).fit(held_out.y, lower, upper)

    def predict(self, X: Any) -> np.ndarray:
        """(n,): the median of the estimates of the median."""
        return self._points_and_bounds(X)[:, 0]

    def predict_interval(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The center (n,) and the bounds (n, 2, k): lower and upper at each of the k levels."""
        found = self._points_and_bounds(X)
        return found[:, 0], found[:, 1:].reshape(len(found), 2, -1)

    def _points_and_bounds(self, X: Any) -> np.ndarray:
        def summarise(members: np.ndarray) -> np.ndarray:
            middle, lower, upper = pick_curves(members, self.levels_.tolist())
            center = np.median(middle, axis=-1)
            bounds = self.calibrator_.predict_interval(center, lower, upper)
            return np.column_stack([center, bounds.reshape(len(center), -1)])

        return self._in_chunks(summarise, self._check_and_encode(X))


def _check_members(values: Any, name: str, n: int, n_levels: int) -> np.ndarray:
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


def _warn_infinite(level: float, n: int, k: int, n_members: int) -> None:
    if k > n:
        reason = f"{n} calibration rows are too few, at least {rows_needed(level)} are needed"
    else:
        reason = f"even the extremes of the {n_members} members cover too few calibration rows"
    warnings.warn(
        f"No finite interval is valid at level {level:g}: {reason}. The bounds are infinite.",
        CalibrationWarning,
        stacklevel=3,
    )
