"""Aleatoric widths: bagged quantile models on the residuals of the center."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.bagging import Bootstraps, fit_bag, seed_missing
from clearbands.epistemic.base import predict_in_chunks
from clearbands.levels import check_levels, curve_levels, tails
from clearbands.quantile_models.base import QuantileModel
from clearbands.quantile_models.boosting import BoostedQuantiles
from clearbands.quantile_models.forest import ForestQuantiles
from clearbands.tables import check_any, check_count, check_numeric, check_target

# Training rows between which the default is a forest: fewer do not bear it, and of more it
# would remember too much.
FOREST_ROWS = 3_000, 50_000


class ResidualQuantiles(BaseEstimator):
    """The contract of an aleatoric part, met with any quantile model.

    `fit(X, residual)` learns the noise around the center, `predict_widths(X)` gives its distances
    below and above as (n, 2, k), one pair for each of the k confidence levels.

    A bag of quantile models estimates alpha/2, 1/2 and 1 - alpha/2 of the residuals; the width
    above is the median over the bag of the positive part of upper minus middle, likewise below.

    Parameters
    ----------
    model : quantile model, optional
        Anything with `quantiles` as a parameter and `predict_quantiles`. Left open it is boosting
        with shallow trees, but inside `ClearRegressor` the type of model that won the center.
    n_bootstraps : int
    preprocessing : transformer, optional
        Turns X into numbers, where the encoder of `ClearRegressor` is None and X is a table.
    confidence_level : float or list of float
    n_jobs, random_state
        As in scikit-learn; the result does not depend on `n_jobs`.
    """

    def __init__(
        self,
        model: Any = None,
        n_bootstraps: int = 100,
        *,
        preprocessing: Any = None,
        confidence_level: float | Sequence[float] = 0.9,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.n_bootstraps = n_bootstraps
        self.preprocessing = preprocessing
        self.confidence_level = confidence_level
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, residual: Any) -> ResidualQuantiles:
        check_count(self.n_bootstraps, "n_bootstraps")
        levels = check_levels(self.confidence_level)
        X = self._check_X(X, reset=True)
        residual = check_target(residual, X)
        if self.preprocessing is not None:
            self.preprocessing_ = clone(self.preprocessing).fit(X, residual)
        rng = check_random_state(self.random_state)
        self.quantiles_ = list(curve_levels(levels))
        model = residual_boosting(len(residual)) if self.model is None else clone(self.model)
        if "quantiles" not in model.get_params():
            raise TypeError(
                f"{type(model).__name__} has no parameter `quantiles`; the aleatoric part needs a "
                "quantile model such as BoostedQuantiles, ForestQuantiles or LinearQuantiles."
            )
        model = seed_missing(model, rng).set_params(quantiles=tuple(self.quantiles_))
        self.bootstraps_ = Bootstraps.draw(len(residual), self.n_bootstraps, rng)
        self.bag_ = fit_bag(
            model, self._view(X), residual, self.bootstraps_, n_jobs=self.n_jobs, stage="aleatoric"
        )
        return self

    def predict_widths(self, X: Any) -> np.ndarray:
        """(n, 2, k): distances below and above at each level."""
        check_is_fitted(self, "bag_")
        X = self._view(self._check_X(X, reset=False))
        return predict_in_chunks(self._widths, X, members=3 * self.n_bootstraps)

    def _check_X(self, X: Any, *, reset: bool) -> Any:
        check = check_numeric if self.preprocessing is None else check_any
        return check(self, X, reset=reset)

    def _view(self, X: Any) -> np.ndarray:
        """X as the models see it."""
        if self.preprocessing is None:
            return X
        return check_array(self.preprocessing_.transform(X), dtype=np.float64, order="C")

    def _widths(self, X: np.ndarray) -> np.ndarray:
        members = self.bag_.predict_members(X)
        middle = members[:, self.quantiles_.index(0.5)]

        def reach(low: np.ndarray, high: np.ndarray) -> np.ndarray:
            return np.median(np.maximum(high - low, 0), axis=1)

        levels = check_levels(self.confidence_level)
        ends = [[self.quantiles_.index(tail) for tail in tails(level)] for level in levels]
        below = [reach(members[:, low], middle) for low, _ in ends]
        above = [reach(middle, members[:, high]) for _, high in ends]
        return np.stack([np.stack(below, axis=1), np.stack(above, axis=1)], axis=1)


def residual_boosting(n_rows: int) -> BoostedQuantiles:
    """Trees too shallow to fit the noise of their rows; many rows bear deeper ones."""
    depth = 3 if n_rows < FOREST_ROWS[0] else 6
    return BoostedQuantiles(n_trees=100, max_depth=depth, learning_rate=0.1)


def default_aleatoric(n_rows: int) -> ResidualQuantiles:
    """What ClearRegressor takes when it is told nothing; docs/defaults.md has the comparison."""
    fewest, most = FOREST_ROWS
    model = ForestQuantiles() if fewest <= n_rows <= most else residual_boosting(n_rows)
    return ResidualQuantiles(model, n_bootstraps=25)


def quantile_counterpart(model: Any) -> Any:
    """The quantile model of the same type as `model`; for a model of the mean, the forest."""
    return clone(model) if isinstance(model, QuantileModel) else ForestQuantiles()
