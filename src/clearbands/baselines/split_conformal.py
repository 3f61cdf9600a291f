"""The base classes of the paper's baselines, and those with one factor for epistemic widths.

The baselines use the rows and parts of CLEAR with other calibrators. Each is split conformal: the
held-out rows choose one number per level and nothing else, so the intervals have finite-sample
marginal coverage. If models compete inside PCS, PCS sets aside training rows to choose between
them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state

from clearbands.calibration.additive import AdditiveCalibrator
from clearbands.calibration.calibrators import FixedRatioCalibrator
from clearbands.calibration.guarantee import Guarantee
from clearbands.models.protocol import fit_weighted
from clearbands.prediction.table_estimator import (
    TableEstimator,
    make_encoder,
    was_fitted_elsewhere,
)
from clearbands.rows.bands import Components, make_interval
from clearbands.rows.copies import check_copies
from clearbands.rows.split import Rows, hold_out
from clearbands.rows.typed import Seed, TableLike
from clearbands.uncertainty.epistemic import EpistemicPart
from clearbands.uncertainty.pairs import configured_clone
from clearbands.uncertainty.pcs_ensemble import PCSEnsemble


class SplitConformal(RegressorMixin, TableEstimator, ABC):
    """A regressor whose held-out rows calibrate one number per level.

    Attributes
    ----------
    levels_ : (k,)
        The confidence levels in the order in which they were given.
    encoder_ : transformer
        The fitted encoder.
    calibrator_ : calibrator
        The fitted calibrator.
    guarantee_ : str
        The guarantee for the coverage, in words.
    n_train_ : int
        How many rows trained.
    n_calibration_ : int
        How many rows calibrated.
    """

    random_state: Seed

    @abstractmethod
    def predict_interval(self, X: TableLike) -> tuple[np.ndarray, np.ndarray]:
        """The center (n,) and the bounds (n, 2, k): lower and upper at each of the k levels."""

    @abstractmethod
    def _fit_parts(self, train: Rows, levels: list[float], rng: np.random.RandomState) -> None:
        """Fit the parts that the subclass needs on encoded training rows."""

    @abstractmethod
    def _calibrate(self, held_out: Rows, levels: list[float]) -> BaseEstimator:
        """Return a calibrator that is fitted to encoded held-out rows."""

    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        *,
        X_cal: TableLike | None = None,
        y_cal: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> SplitConformal:
        """Train on a part of the rows and calibrate on the rest.

        With a calibration set (`X_cal`, `y_cal`) all of X trains. `sample_weight` (n,) says how
        many rows each row of X counts as, in training and in calibration; the rows of `X_cal` count
        once.
        """
        levels = self._check_parameters()
        rng = check_random_state(self.random_state)
        train, held_out = self._read_rows(X, y, X_cal, y_cal, sample_weight=sample_weight)
        if held_out is None:
            train, held_out = hold_out(train, self.calibration_size, rng)
        self.encoder_ = make_encoder(self.encoder).fit(train.X, train.y)
        train, held_out = self._encode(train), self._encode(held_out)
        has_copies = check_copies(train, [held_out], are_apart=X_cal is not None)
        self.levels_ = np.array(levels)
        self._fit_parts(train, levels, rng)
        self.calibrator_ = self._calibrate(held_out, levels)
        self.guarantee_ = self._guarantee(X_cal, has_copies, held_out.sample_weight).value
        self.n_train_, self.n_calibration_ = len(train), len(held_out)
        return self

    def _guarantee(
        self, X_cal: TableLike | None, has_copies: bool, weight: np.ndarray | None
    ) -> Guarantee:
        if was_fitted_elsewhere(
            getattr(self, "epistemic", None), has_calibration_set=X_cal is not None
        ):
            return Guarantee.UNKNOWN
        return Guarantee.COPIES if has_copies else Guarantee.of("conformal", weight)


class WidthConformal(SplitConformal):
    """Intervals that are a center and a calibrated width on either side."""

    @abstractmethod
    def _components(self, X: TableLike) -> Components:
        """Return the center and the uncalibrated widths of encoded rows."""

    def components(self, X: TableLike) -> Components:
        """Return the center (n,) and the uncalibrated aleatoric and epistemic widths (n, 2, k)."""
        return self._components(self.encode(X))

    def predict_interval(self, X: TableLike) -> tuple[np.ndarray, np.ndarray]:
        """The center (n,) and the bounds (n, 2, k): lower and upper at each of the k levels."""
        components = self.components(X)
        widths = np.add(*self.calibrator_.scale(components.aleatoric, components.epistemic))
        return components.center, make_interval(components.center, widths)


class Additive(WidthConformal):
    """Bounds moved outwards or inwards by a calibrated multiple of the epistemic widths."""

    def _calibrate(self, held_out: Rows, levels: list[float]) -> AdditiveCalibrator:
        return AdditiveCalibrator(levels).fit(
            held_out.y, *self._components(held_out.X), sample_weight=held_out.sample_weight
        )


class AroundPCS(WidthConformal):
    """Baselines around the center of an epistemic part."""

    epistemic: EpistemicPart | None

    def _fit_parts(self, train: Rows, levels: list[float], rng: np.random.RandomState) -> None:
        part = PCSEnsemble() if self.epistemic is None else self.epistemic
        self.epistemic_ = configured_clone(part, levels, self.n_jobs, rng)
        fit_weighted(self.epistemic_, train.X, train.y, train.sample_weight)

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the center (n,)."""
        encoded = self.encode(X)
        return self.epistemic_.predict(encoded)


class _EpistemicOnly(AroundPCS):
    """One calibrated factor for widths from an epistemic part alone."""

    ratio: float

    def __init__(
        self,
        epistemic: EpistemicPart | None = None,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        calibration_size: float = 0.25,
        encoder: BaseEstimator | str | None = "auto",
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.epistemic = epistemic
        self.confidence_level = confidence_level
        self.calibration_size = calibration_size
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _components(self, X: TableLike) -> Components:
        center, epistemic = self.epistemic_.predict_with_widths(X)
        return Components(center, np.ones_like(epistemic), epistemic)

    def _calibrate(self, held_out: Rows, levels: list[float]) -> BaseEstimator:
        rows = (held_out.y, *self._components(held_out.X))
        # These rows chose nothing. As validation rows, too few of them give infinite bounds.
        weight = held_out.sample_weight
        return FixedRatioCalibrator(levels, ratio=self.ratio).fit(
            *rows, validation=rows, sample_weight=weight, validation_weight=weight
        )


class NaiveConformal(_EpistemicOnly):
    """Split conformal: the same distance below and above the center everywhere.

    Parameters
    ----------
    epistemic : ensemble, optional
        The part that gives the center, by default a `PCSEnsemble`.
    confidence_level : float or list of float
        The coverage that the intervals shall have. Intervals of several levels are nested.
    calibration_size : float
        The share of the rows that is held out when `fit` is given no calibration set.
    encoder : "auto", transformer or None
        As in `ClearRegressor`.
    n_jobs, random_state
        As in scikit-learn, for parts that have none of their own.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import LinearQuantiles, NaiveConformal, PCSEnsemble
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = X[:, 0] + np.resize([-0.1, 0.0, 0.1], 60)
    >>> lines = PCSEnsemble({"line": LinearQuantiles()}, n_bootstraps=5)
    >>> model = NaiveConformal(lines, random_state=0).fit(X, y)
    >>> point, intervals = model.predict_interval(X)
    >>> float(np.ptp(intervals[:, 1, 0] - intervals[:, 0, 0]).round(9))  # one width for all
    0.0
    """

    ratio = 0.0


class PCSIntervals(_EpistemicOnly):
    """PCS: the spread of the ensemble's members times one calibrated factor.

    Parameters
    ----------
    epistemic : ensemble, optional
        The part that gives the center and the widths, by default a `PCSEnsemble`.
    confidence_level : float or list of float
        The coverage that the intervals shall have. Intervals of several levels are nested.
    calibration_size : float
        The share of the rows that is held out when `fit` is given no calibration set.
    encoder : "auto", transformer or None
        As in `ClearRegressor`.
    n_jobs, random_state
        As in scikit-learn, for parts that have none of their own.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import LinearQuantiles, PCSEnsemble, PCSIntervals
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = X[:, 0] + np.resize([-0.1, 0.0, 0.1], 60)
    >>> lines = PCSEnsemble({"line": LinearQuantiles()}, n_bootstraps=20)
    >>> point, intervals = PCSIntervals(lines, random_state=0).fit(X, y).predict_interval(X)
    >>> point.shape, intervals.shape  # rows, lower and upper, levels
    ((60,), (60, 2, 1))
    """

    ratio = inf
