"""Uncertainty-aware CQR (Rossellini, Barber, Willett 2024) calibrates bagged quantile estimates.

Both variants take B estimates of the lower and of the upper quantile, one per bootstrap. UACQR-S
moves their medians by multiples of their spread; UACQR-P takes order statistics of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.base import BaseEstimator

from clearbands.baselines.cqr import quantile_model
from clearbands.baselines.split_conformal import Additive, SplitConformal
from clearbands.calibration.member_rank import MemberRankCalibrator
from clearbands.engine.quantiles import sorted_quantiles
from clearbands.models.bagging import check_model, fit_bag
from clearbands.models.forest_quantiles import ForestQuantiles
from clearbands.rows.bands import Components, distances
from clearbands.rows.checks import check_count
from clearbands.rows.chunks import chunks, concatenate
from clearbands.rows.draws import Bootstraps
from clearbands.rows.levels import curve_levels, pick_curves
from clearbands.rows.split import Rows
from clearbands.rows.typed import Seed, TableLike


def interquartile_range(members: np.ndarray) -> np.ndarray:
    """Return the distance between the quartiles along the last axis."""
    quartiles = sorted_quantiles(members, (0.25, 0.75))
    return quartiles[..., 1] - quartiles[..., 0]


SPREADS = {"iqr": interquartile_range, "std": lambda members: np.std(members, axis=-1)}


def spread_components(
    members: np.ndarray, levels: Sequence[float], spread: str = "iqr"
) -> Components:
    """Return the components that UACQR-S calibrates, from members (n, q, B).

    The members are quantiles at `curve_levels(levels)`. The center and the bounds are medians over
    the B members; the epistemic widths are the spread of the estimates of either bound.
    `AdditiveCalibrator` does the rest.
    """
    center, lower, upper = pick_curves(np.median(members, axis=-1), levels)
    _, lower_members, upper_members = pick_curves(members, levels)
    spreads = [SPREADS[spread](ends) for ends in (lower_members, upper_members)]
    return Components(center, distances(center, lower, upper), np.stack(spreads, axis=1))


class _UACQR(SplitConformal):
    """A bag of quantile models of y."""

    model: BaseEstimator
    n_bootstraps: int

    def _fit_parts(self, train: Rows, levels: list[float], rng: np.random.RandomState) -> None:
        check_count(self.n_bootstraps, "n_bootstraps")
        default = ForestQuantiles() if self.model is None else self.model
        model = quantile_model(default, curve_levels(levels), rng)
        check_model(model)
        bootstraps = Bootstraps.draw(len(train), self.n_bootstraps, rng)
        self.bag_ = fit_bag(
            model,
            train.X,
            train.y,
            bootstraps,
            weight=train.sample_weight,
            n_jobs=self.n_jobs,
            stage="quantiles",
        )

    def _members(self, X: TableLike) -> Iterator[np.ndarray]:
        """Yield the estimates (n, q, B) of all models, for some rows at a time."""
        n_numbers = len(curve_levels(self.levels_.tolist())) * self.n_bootstraps
        return map(self.bag_.predict_members, chunks(X, n_numbers))


class UACQRS(_UACQR, Additive):
    """UACQR-S: [lower - t * spread of lower, upper + t * spread of upper], t calibrated.

    Here lower and upper are medians of the estimates of B quantile models that were fitted on
    bootstraps, and the spread says how much these estimates differ. t may be negative; bounds stop
    at the center. In the program of its authors, medians are an option, and by default the bounds
    come from one model of all rows.

    Parameters
    ----------
    model : quantile model, optional
        The model that is bagged, by default a `ForestQuantiles`.
    n_bootstraps : int
        How many members the bag has.
    spread : "iqr" or "std"
        Whether the interquartile range or the standard deviation measures the spread.
    confidence_level : float or list of float
        The coverage that the intervals shall have. Intervals of several levels are nested.
    calibration_size : float
        The share of the rows that is held out when `fit` is given no calibration set.
    encoder : "auto", transformer or None
        As in `ClearRegressor`.
    n_jobs, random_state
        As in scikit-learn. The result does not depend on `n_jobs`.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import UACQRS, LinearQuantiles
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = X[:, 0] + np.resize([-0.1, 0.0, 0.1], 60)
    >>> model = UACQRS(LinearQuantiles(), n_bootstraps=10, random_state=0).fit(X, y)
    >>> point, intervals = model.predict_interval(X)
    >>> point.shape, intervals.shape  # rows, lower and upper, levels
    ((60,), (60, 2, 1))
    """

    def __init__(
        self,
        model: BaseEstimator | None = None,
        n_bootstraps: int = 100,
        *,
        spread: str = "iqr",
        confidence_level: float | Sequence[float] = 0.9,
        calibration_size: float = 0.25,
        encoder: BaseEstimator | str | None = "auto",
        n_jobs: int | None = None,
        random_state: Seed = None,
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

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the median (n,) of the estimates of the median."""
        return self.components(X).center

    def _components(self, X: TableLike) -> Components:
        levels = self.levels_.tolist()
        parts = [spread_components(each, levels, self.spread) for each in self._members(X)]
        return Components(*map(concatenate, zip(*parts, strict=True)))


class UACQRP(_UACQR):
    """UACQR-P: order statistics of the B lower and of the B upper quantile estimates.

    The order is calibrated. Where even the smallest lower and the largest upper estimate cover
    too few calibration rows, the bounds are infinite, with a `CalibrationWarning`.

    Parameters
    ----------
    model : quantile model, optional
        The model that is bagged, by default a `ForestQuantiles`.
    n_bootstraps : int
    confidence_level : float or list of float
        The coverage that the intervals shall have. Intervals of several levels are nested.
    calibration_size : float
        The share of the rows that is held out when `fit` is given no calibration set.
    encoder : "auto", transformer or None
        As in `ClearRegressor`.
    n_jobs, random_state
        As in scikit-learn. The result does not depend on `n_jobs`.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import UACQRP, LinearQuantiles
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = X[:, 0] + np.resize([-0.1, 0.0, 0.1], 60)
    >>> model = UACQRP(LinearQuantiles(), 30, confidence_level=0.5, random_state=0).fit(X, y)
    >>> point, intervals = model.predict_interval(X)
    >>> point.shape, intervals.shape  # rows, lower and upper, levels
    ((60,), (60, 2, 1))
    """

    def __init__(
        self,
        model: BaseEstimator | None = None,
        n_bootstraps: int = 100,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        calibration_size: float = 0.25,
        encoder: BaseEstimator | str | None = "auto",
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.model = model
        self.n_bootstraps = n_bootstraps
        self.confidence_level = confidence_level
        self.calibration_size = calibration_size
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _calibrate(self, held_out: Rows, levels: list[float]) -> BaseEstimator:
        members = concatenate(list(self._members(held_out.X)))
        _, lower, upper = pick_curves(members, levels)
        return MemberRankCalibrator(levels).fit(
            held_out.y, lower, upper, sample_weight=held_out.sample_weight
        )

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the median (n,) of the estimates of the median."""
        return self.predict_interval(X)[0]

    def predict_interval(self, X: TableLike) -> tuple[np.ndarray, np.ndarray]:
        """The center (n,) and the bounds (n, 2, k): lower and upper at each of the k levels."""
        centers, bounds = [], []
        for members in self._members(self.encode(X)):
            middle, lower, upper = pick_curves(members, self.levels_.tolist())
            centers.append(np.median(middle, axis=-1))
            bounds.append(self.calibrator_.predict_interval(centers[-1], lower, upper))
        return concatenate(centers), concatenate(bounds)
