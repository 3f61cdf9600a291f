"""Aleatoric widths from the laws that NGBoost fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.bagging import seed_missing
from clearbands.levels import check_levels, tails
from clearbands.tables import check_numeric, check_rows


class NGBoostAleatoric(BaseEstimator):
    """The law that an NGBoost model gives each row, by default normal; NGBoost must be installed.

    The widths reach from its median to its alpha/2 and 1 - alpha/2 quantiles.

    Parameters
    ----------
    model : NGBRegressor, optional
        By default with trees of depth 3, 500 rounds, and a normal law.
    confidence_level : float or list of float
    random_state
        As in scikit-learn, for a model that leaves its own open.
    """

    def __init__(
        self,
        model: Any = None,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.confidence_level = confidence_level
        self.random_state = random_state

    def fit(self, X: Any, residual: Any) -> NGBoostAleatoric:
        check_levels(self.confidence_level)
        X, residual = check_rows(self, X, residual)
        model = _default_ngboost() if self.model is None else clone(self.model)
        self.model_ = seed_missing(model, check_random_state(self.random_state)).fit(X, residual)
        return self

    def predict_widths(self, X: Any) -> np.ndarray:
        """(n, 2, k): distances below and above the median at each level."""
        check_is_fitted(self, "model_")
        law = self.model_.pred_dist(check_numeric(self, X, reset=False))
        ends = [tails(level) for level in check_levels(self.confidence_level)]
        middle = law.ppf(0.5)
        below = np.stack([middle - law.ppf(low) for low, _ in ends], axis=1)
        above = np.stack([law.ppf(high) - middle for _, high in ends], axis=1)
        return np.maximum(np.stack([below, above], axis=1), 0)


def _default_ngboost() -> Any:
    try:
        from ngboost import NGBRegressor
    except ImportError as error:
        raise ImportError("NGBoostAleatoric needs NGBoost: pip install ngboost.") from error
    return NGBRegressor(verbose=False)
