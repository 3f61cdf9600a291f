"""Conformalized quantile regression with one model, or with bags around a center."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator, clone

from clearbands.baselines.split_conformal import Additive, AroundPCS
from clearbands.models.boosted_quantiles import BoostedQuantiles
from clearbands.models.pools import match_quantile_model
from clearbands.models.protocol import fit_weighted
from clearbands.models.seeds import seed_missing
from clearbands.rows.bands import Components, distances
from clearbands.rows.levels import curve_levels, pick_curves
from clearbands.rows.split import Rows
from clearbands.rows.typed import Seed, TableLike
from clearbands.uncertainty.aleatoric import AleatoricPart
from clearbands.uncertainty.epistemic import EpistemicPart
from clearbands.uncertainty.pairs import configured_clone
from clearbands.uncertainty.residual_quantiles import ResidualQuantiles


class CQR(Additive):
    """Conformalized quantile regression (Romano et al. 2019) on one quantile model.

    The model's lower and upper quantiles are moved by one distance, outwards or inwards. The point
    prediction is the model's median.

    Parameters
    ----------
    model : quantile model, optional
        Any model with `quantiles` as a parameter and `predict_quantiles`; by default boosted trees.
    confidence_level : float or list of float
        The coverage that the intervals shall have. Intervals of several levels are nested.
    calibration_size : float
        The share of the rows that is held out when `fit` is given no calibration set.
    encoder : "auto", transformer or None
        As in `ClearRegressor`.
    n_jobs, random_state
        As in scikit-learn, for a model that has none of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import CQR, LinearQuantiles
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = X[:, 0] + np.resize([-0.1, 0.0, 0.1], 60)
    >>> model = CQR(LinearQuantiles(), confidence_level=0.8, random_state=0).fit(X, y)
    >>> point, intervals = model.predict_interval(X)
    >>> point.shape, intervals.shape  # rows, lower and upper, levels
    ((60,), (60, 2, 1))
    """

    def __init__(
        self,
        model: BaseEstimator | None = None,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        calibration_size: float = 0.25,
        encoder: BaseEstimator | str | None = "auto",
        n_jobs: int | None = None,
        random_state: Seed = None,
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
        self.model_ = fit_weighted(model, train.X, train.y, train.sample_weight)

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the median (n,)."""
        return self.components(X).center

    def _components(self, X: TableLike) -> Components:
        center, lower, upper = pick_curves(self.model_.predict_quantiles(X), self.levels_.tolist())
        aleatoric = distances(center, lower, upper)
        return Components(center, aleatoric, np.ones_like(aleatoric))


class _BaggedQuantiles(Additive, AroundPCS):
    """Additive CQR with the widths of an aleatoric part around the center of an epistemic part."""

    def __init__(
        self,
        epistemic: EpistemicPart | None = None,
        aleatoric: AleatoricPart | None = None,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        calibration_size: float = 0.25,
        encoder: BaseEstimator | str | None = "auto",
        n_jobs: int | None = None,
        random_state: Seed = None,
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
        """Return what the quantile models learn."""

    def _fit_parts(self, train: Rows, levels: list[float], rng: np.random.RandomState) -> None:
        super()._fit_parts(train, levels, rng)
        part = ResidualQuantiles() if self.aleatoric is None else self.aleatoric
        aleatoric = configured_clone(part, levels, self.n_jobs, rng)
        self.aleatoric_ = match_quantile_model(aleatoric, self.epistemic_)
        fit_weighted(self.aleatoric_, train.X, self._target(train), train.sample_weight)

    def _components(self, X: TableLike) -> Components:
        aleatoric = self.aleatoric_.predict_widths(X)
        return Components(self.epistemic_.predict(X), aleatoric, np.ones_like(aleatoric))


class BootstrappedCQR(_BaggedQuantiles):
    """CQR with bagged quantile models of y, around the center of PCS: the paper's ALEATORIC.

    Parameters
    ----------
    epistemic : ensemble, optional
        The part that gives the center, by default a `PCSEnsemble`.
    aleatoric : optional
        The part that gives the widths, by default `ResidualQuantiles`; it learns y itself.
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
    >>> from clearbands import (
    ...     BootstrappedCQR, LinearQuantiles, PCSEnsemble, ResidualQuantiles
    ... )
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = X[:, 0] + np.resize([-0.1, 0.0, 0.1], 60)
    >>> line = LinearQuantiles()
    >>> model = BootstrappedCQR(
    ...     PCSEnsemble({"line": line}, n_bootstraps=5), ResidualQuantiles(line, 5), random_state=0
    ... ).fit(X, y)
    >>> model.guarantee_
    'finite-sample marginal coverage'
    """

    def _target(self, train: Rows) -> np.ndarray:
        return train.y


class ResidualCQR(_BaggedQuantiles):
    """CQR with bagged quantile models of the residuals of PCS: the paper's ALEATORIC-R.

    Parameters
    ----------
    epistemic : ensemble, optional
        The part that gives the center, by default a `PCSEnsemble`.
    aleatoric : optional
        The part that gives the widths, by default `ResidualQuantiles`.
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
    >>> from clearbands import (
    ...     LinearQuantiles, PCSEnsemble, ResidualCQR, ResidualQuantiles
    ... )
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = X[:, 0] + np.resize([-0.1, 0.0, 0.1], 60)
    >>> line = LinearQuantiles()
    >>> model = ResidualCQR(
    ...     PCSEnsemble({"line": line}, n_bootstraps=5), ResidualQuantiles(line, 5), random_state=0
    ... ).fit(X, y)
    >>> model.guarantee_
    'finite-sample marginal coverage'
    """

    def _target(self, train: Rows) -> np.ndarray:
        return train.y - self.epistemic_.predict(train.X)


def quantile_model(
    model: BaseEstimator | None, quantiles: Sequence[float], rng: np.random.RandomState
) -> BaseEstimator:
    """Return a seeded clone of the model, or of the default, at these quantile levels."""
    model = seed_missing(clone(BoostedQuantiles() if model is None else model), rng)
    if "quantiles" not in model.get_params():
        raise TypeError(
            f"{type(model).__name__} has no parameter `quantiles`; a quantile model such as "
            "BoostedQuantiles, ForestQuantiles or LinearQuantiles is needed."
        )
    return model.set_params(quantiles=tuple(quantiles))
