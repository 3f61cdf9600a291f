"""The paper's baselines: the same rows and parts as CLEAR, other calibrators.

Each is split conformal: the held-out rows choose one number per level and nothing else, so the
intervals have finite-sample marginal coverage. Where models compete inside PCS, it sets rows of
its own aside for that.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from clearbands.aleatoric import ResidualQuantiles
from clearbands.bagging import seed_missing
from clearbands.calibration import AdditiveCalibrator, FixedRatioCalibrator
from clearbands.epistemic.pcs import PCSEnsemble
from clearbands.interval_regressor import Components, IntervalRegressor, match_quantile_model
from clearbands.levels import curve_levels, tails
from clearbands.quantile_models.boosting import BoostedQuantiles
from clearbands.split import Rows


class SplitConformal(IntervalRegressor):
    """Parts from the training rows, one number per level from the held-out rows.

    Attributes
    ----------
    levels_ : (k,), the confidence levels in the order given
    encoder_, calibrator_ : fitted
    guarantee_ : str, what holds for the coverage
    n_train_, n_calibration_ : how many rows each step saw
    """

    random_state: Any

    @abstractmethod
    def _fit_parts(self, train: Rows, levels: list[float], rng: np.random.RandomState) -> None:
        """Fit on encoded training rows what the subclass needs."""

    @abstractmethod
    def _calibrate(self, held_out: Rows, levels: list[float]) -> Any:
        """The fitted calibrator."""

    def fit(self, X: Any, y: Any, *, X_cal: Any = None, y_cal: Any = None) -> SplitConformal:
        """Train on a part of the rows and calibrate on the rest.

        With a calibration set (`X_cal`, `y_cal`) given, all of X trains.
        """
        levels = self._check_parameters()
        rng = check_random_state(self.random_state)
        train, held_out = self._hold_out(X, y, X_cal, y_cal, rng)
        self.encoder_ = self._make_encoder().fit(train.X, train.y)
        train, held_out = self._encode(train), self._encode(held_out)
        self.levels_ = np.array(levels)
        self._fit_parts(train, levels, rng)
        self.calibrator_ = self._calibrate(held_out, levels)
        self.guarantee_ = "finite-sample marginal coverage"
        self.n_train_, self.n_calibration_ = len(train), len(held_out)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """(n,): the center."""
        return self._components(self._check_and_encode(X)).center


class CQR(SplitConformal):
    """Conformalized quantile regression (Romano et al. 2019) on one quantile model.

    The model's lower and upper quantiles move by one distance, outwards or inwards; the point
    prediction is its median.

    Parameters
    ----------
    model : quantile model, optional
        Anything with `quantiles` as a parameter and `predict_quantiles`; by default boosted trees.
    confidence_level : float or list of float
        Intervals of several levels are nested.
    calibration_size : float
        Share of the rows that is held out when `fit` is given no calibration set.
    encoder : "auto", transformer or None
        As in `ClearRegressor`.
    n_jobs, random_state
        Handed to a model that leaves its own open.
    """

    def __init__(
        self,
        model: Any = None,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        calibration_size: float = 0.25,
        encoder: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.confidence_level = confidence_level
        self.calibration_size = calibration_size
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_parts(self, train: Rows, levels: list[float], rng: np.random.RandomState) -> None:
        model = quantile_model(self.model, curve_levels(levels), rng)
        if model.get_params(deep=False).get("n_jobs", 0) is None:
            model.set_params(n_jobs=self.n_jobs)
        self.model_ = model.fit(train.X, train.y)

    def _components(self, X: Any) -> Components:
        center, lower, upper = pick_curves(self.model_.predict_quantiles(X), self.levels_.tolist())
        aleatoric = distances(center, lower, upper)
        return Components(center, aleatoric, np.ones_like(aleatoric))

    def _calibrate(self, held_out: Rows, levels: list[float]) -> Any:
        return AdditiveCalibrator(levels).fit(held_out.y, *self._components(held_out.X))


class _AroundPCS(SplitConformal):
    """Baselines around the center of an epistemic part."""

    epistemic: Any

    def _fit_parts(self, train: Rows, levels: list[float], rng: np.random.RandomState) -> None:
        self.epistemic_ = self._part(self.epistemic, PCSEnsemble(), levels, rng)
        self.epistemic_.fit(train.X, train.y)

    def predict(self, X: Any) -> np.ndarray:
        """(n,): the center."""
        encoded = self._check_and_encode(X)
        return self.epistemic_.predict(encoded)


class _EpistemicOnly(_AroundPCS):
    """One factor for widths that an epistemic part alone gives."""

    ratio: float

    def __init__(
        self,
        epistemic: Any = None,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        calibration_size: float = 0.25,
        encoder: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.epistemic = epistemic
        self.confidence_level = confidence_level
        self.calibration_size = calibration_size
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _components(self, X: Any) -> Components:
        center, epistemic = self.epistemic_.predict_with_widths(X)
        return Components(center, np.ones_like(epistemic), epistemic)

    def _calibrate(self, held_out: Rows, levels: list[float]) -> Any:
        rows = (held_out.y, *self._components(held_out.X))
        # These rows chose nothing; saying so makes too few of them give infinite bounds.
        return FixedRatioCalibrator(levels, ratio=self.ratio).fit(*rows, validation=rows)


class NaiveConformal(_EpistemicOnly):
    """Split conformal: the same distance below and above the center everywhere.

    Parameters
    ----------
    epistemic : ensemble, optional
        Gives the center; by default a `PCSEnsemble`.
    confidence_level : float or list of float
        Intervals of several levels are nested.
    calibration_size : float
        Share of the rows that is held out when `fit` is given no calibration set.
    encoder : "auto", transformer or None
        As in `ClearRegressor`.
    n_jobs, random_state
        As in scikit-learn, handed to parts that leave theirs open.
    """

    ratio = 0.0


class PCSIntervals(_EpistemicOnly):
    """PCS: the spread of the ensemble's members times one calibrated factor.

    Parameters
    ----------
    epistemic : ensemble, optional
        Gives the center and the widths; by default a `PCSEnsemble`.
    confidence_level : float or list of float
        Intervals of several levels are nested.
    calibration_size : float
        Share of the rows that is held out when `fit` is given no calibration set.
    encoder : "auto", transformer or None
        As in `ClearRegressor`.
    n_jobs, random_state
        As in scikit-learn, handed to parts that leave theirs open.
    """

    ratio = inf


class _BaggedQuantiles(_AroundPCS):
    """Additive CQR with the widths of an aleatoric part around the center of an epistemic part."""

    def __init__(
        self,
        epistemic: Any = None,
        aleatoric: Any = None,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        calibration_size: float = 0.25,
        encoder: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.epistemic = epistemic
        self.aleatoric = aleatoric
        self.confidence_level = confidence_level
        self.calibration_size = calibration_size
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    @abstractmethod
    def _target(self, train: Rows) -> np.ndarray:
        """What the quantile models learn."""

    def _fit_parts(self, train: Rows, levels: list[float], rng: np.random.RandomState) -> None:
        super()._fit_parts(train, levels, rng)
        aleatoric = self._part(self.aleatoric, ResidualQuantiles(), levels, rng)
        self.aleatoric_ = match_quantile_model(aleatoric, self.epistemic_)
        self.aleatoric_.fit(train.X, self._target(train))

    def _components(self, X: Any) -> Components:
        aleatoric = self.aleatoric_.predict_widths(X)
        return Components(self.epistemic_.predict(X), aleatoric, np.ones_like(aleatoric))

    def _calibrate(self, held_out: Rows, levels: list[float]) -> Any:
        return AdditiveCalibrator(levels).fit(held_out.y, *self._components(held_out.X))


class BootstrappedCQR(_BaggedQuantiles):
    """CQR with bagged quantile models of y, around the center of PCS: the paper's ALEATORIC.

    Parameters
    ----------
    epistemic : ensemble, optional
        Gives the center; by default a `PCSEnsemble`.
    aleatoric : optional
        Gives the widths, by default `ResidualQuantiles`, here trained on y itself.
    confidence_level : float or list of float
        Intervals of several levels are nested.
    calibration_size : float
        Share of the rows that is held out when `fit` is given no calibration set.
    encoder : "auto", transformer or None
        As in `ClearRegressor`.
    n_jobs, random_state
        As in scikit-learn, handed to parts that leave theirs open.
    """

    def _target(self, train: Rows) -> np.ndarray:
        return train.y


class ResidualCQR(_BaggedQuantiles):
    """CQR with bagged quantile models of the residuals of PCS: the paper's ALEATORIC-R.

    Parameters
    ----------
    epistemic : ensemble, optional
        Gives the center; by default a `PCSEnsemble`.
    aleatoric : optional
        Gives the widths, by default `ResidualQuantiles`.
    confidence_level : float or list of float
        Intervals of several levels are nested.
    calibration_size : float
        Share of the rows that is held out when `fit` is given no calibration set.
    encoder : "auto", transformer or None
        As in `ClearRegressor`.
    n_jobs, random_state
        As in scikit-learn, handed to parts that leave theirs open.
    """

    def _target(self, train: Rows) -> np.ndarray:
        return train.y - self.epistemic_.predict(train.X)


def pick_curves(curves: np.ndarray, levels: Sequence[float]) -> tuple[np.ndarray, ...]:
    """Median (n, ...), lower and upper (n, k, ...) out of (n, q, ...) at `curve_levels`."""
    quantiles = curve_levels(levels)
    lower, upper = zip(
        *([quantiles.index(t) for t in tails(level)] for level in levels), strict=True
    )
    return curves[:, quantiles.index(0.5)], curves[:, list(lower)], curves[:, list(upper)]


def distances(center: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """(n, 2, k): how far the center lies above `lower` (n, k) and below `upper`, at least 0."""
    return np.maximum(np.stack([center[:, None] - lower, upper - center[:, None]], axis=1), 0)


def quantile_model(given: Any, quantiles: Sequence[float], rng: np.random.RandomState) -> Any:
    """A seeded clone of the model, or of the default, at these quantile levels."""
    model = seed_missing(clone(BoostedQuantiles() if given is None else given), rng)
    if "quantiles" not in model.get_params():
        raise TypeError(
            f"{type(model).__name__} has no parameter `quantiles`; a quantile model such as "
            "BoostedQuantiles, ForestQuantiles or LinearQuantiles is needed."
        )
    return model.set_params(quantiles=tuple(quantiles))
