"""Aleatoric widths from the distributions that NGBoost fits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.models.protocol import fit_weighted
from clearbands.models.seeds import seed_missing
from clearbands.rows.bands import curve_widths
from clearbands.rows.frames import check_numeric, check_rows
from clearbands.rows.levels import check_levels, curve_levels
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_sample_weight
from clearbands.uncertainty.aleatoric import AleatoricPart


class NGBoostAleatoric(AleatoricPart):
    """Noise from NGBoost, which gives each row a distribution of its own, by default a normal one.

    The widths reach from its median to its alpha/2 and 1 - alpha/2 quantiles. NGBoost must be
    installed.

    Parameters
    ----------
    model : NGBRegressor, optional
        The model, by default with trees of depth 3, 500 rounds, and a normal distribution.
    confidence_level : float or list of float
        The levels of the widths; `ClearRegressor` sets it.
    random_state : int, RandomState or None
        The seed for a model that has none of its own, as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import NGBoostAleatoric
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> residual = X[:, 0] * np.resize([-1.0, 0.0, 1.0], 60)  # noise that grows with x
    >>> from ngboost import NGBRegressor
    >>> part = NGBoostAleatoric(NGBRegressor(n_estimators=10, verbose=False), random_state=0)
    >>> part.fit(X, residual).predict_widths(X).shape
    (60, 2, 1)
    """

    def __init__(
        self,
        model: BaseEstimator | None = None,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        random_state: Seed = None,
    ) -> None:
        self.model = model
        self.confidence_level = confidence_level
        self.random_state = random_state

    def fit(
        self, X: TableLike, residual: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> NGBoostAleatoric:
        """Learn from residuals; each counts as its `sample_weight` (n,) says."""
        check_levels(self.confidence_level)
        X, residual = check_rows(self, X, residual)
        weight = check_sample_weight(sample_weight, len(residual))
        model = _default_ngboost() if self.model is None else clone(self.model)
        model = seed_missing(model, check_random_state(self.random_state))
        self.model_ = fit_weighted(model, X, residual, weight)
        return self

    def predict_widths(self, X: TableLike) -> np.ndarray:
        """Return distances (n, 2, k) below and above the median at each level."""
        check_is_fitted(self, "model_")
        law = self.model_.pred_dist(check_numeric(self, X, reset=False))
        levels = check_levels(self.confidence_level)
        return curve_widths(np.stack([law.ppf(q) for q in curve_levels(levels)], axis=1), levels)


def _default_ngboost() -> BaseEstimator:
    try:
        from ngboost import NGBRegressor
    except ImportError as error:
        raise ImportError("NGBoostAleatoric needs NGBoost: pip install ngboost.") from error
    return NGBRegressor(verbose=False)
