"""Bounds of the residuals, or of the target, by quantile models on repeated folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.engine.quantiles import present_quantiles
from clearbands.models.bagging import check_model, predict_unseen
from clearbands.models.pools import residual_boosting
from clearbands.models.seeds import seed_missing
from clearbands.rows.bands import distances
from clearbands.rows.checks import check_count, check_target
from clearbands.rows.chunks import chunks, concatenate
from clearbands.rows.frames import check_numeric
from clearbands.rows.levels import check_levels, curve_levels, pick_curves
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_sample_weight, size_of
from clearbands.uncertainty.aleatoric import NestedRows, ResampledPart, fit_members


class FoldedBounds(ResampledPart):
    """Bounds whose distances from the center are medians over members of the outer quantiles.

    The outer quantiles are those at alpha/2 and 1 - alpha/2.

    `ResidualQuantiles` measures widths from the middle of the residuals, as the paper does. Where
    the center is biased, distances from the center itself make better intervals. The models may
    also learn y instead of the residuals; then `origin` says where the center lies.

    Parameters
    ----------
    model : quantile model, optional
        Any model with `quantiles` as a parameter; by default boosting with shallow trees.
    n_folds, n_repeats : int
        The rows are divided into `n_folds` folds, `n_repeats` times, so there are n_folds x
        n_repeats members. Every row is unseen by `n_repeats` of them.
    confidence_level : float or list of float
        The levels of the widths; `ClearRegressor` sets it.
    n_jobs, random_state
        As in scikit-learn. The result does not depend on `n_jobs`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 60).reshape(-1, 1)
    >>> from clearbands import LinearQuantiles
    >>> part = FoldedBounds(LinearQuantiles(), confidence_level=[0.5, 0.9], random_state=0)
    >>> part.fit(X, np.sin(99 * X[:, 0])).predict_widths(X).shape
    (60, 2, 2)
    """

    def __init__(
        self,
        model: BaseEstimator | None = None,
        n_folds: int = 5,
        n_repeats: int = 2,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.model = model
        self.n_folds = n_folds
        self.n_repeats = n_repeats
        self.confidence_level = confidence_level
        self.n_jobs = n_jobs
        self.random_state = random_state

    takes_nested = True
    learns_categories = True

    def fit(
        self,
        X: TableLike,
        residual: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: np.ndarray | None = None,
        nested: NestedRows | None = None,
    ) -> FoldedBounds:
        """Learn from residuals, or from y; rows of one label in `groups` stay together.

        A row counts as many times as its `sample_weight` (n,) says, by default once. If `nested` is
        given, its folds replace those of this part.
        """
        check_count(self.n_folds, "n_folds", smallest=2)
        check_count(self.n_repeats, "n_repeats")
        X = check_numeric(self, X, reset=True)
        residual = check_target(residual, X)
        weight = check_sample_weight(sample_weight, len(residual))
        rng = check_random_state(self.random_state)
        self.levels_ = check_levels(self.confidence_level)
        size = size_of(weight, len(residual))
        model = residual_boosting(size) if self.model is None else clone(self.model)
        model = seed_missing(model, rng).set_params(quantiles=curve_levels(self.levels_))
        check_model(model)
        labels: dict[str, Any] = {"weight": weight, "groups": groups, "nested": nested}
        self.draws_, self.bag_ = fit_members(self, model, X, residual, rng, **labels)
        return self

    def predict_widths(self, X: TableLike, origin: np.ndarray | None = None) -> np.ndarray:
        """Return distances (n, 2, k), at least 0, from `origin` (n,) or 0 to the bounds."""
        check_is_fitted(self, "bag_")
        X = check_numeric(self, X, reset=False)
        members = len(self.draws_) * len(curve_levels(self.levels_))
        bounds = concatenate(
            [self._bounds(self.bag_.predict_members(rows)) for rows in chunks(X, members)]
        )
        return _distances_from(origin, bounds)

    def predict_unseen_widths(self, X: TableLike, origin: np.ndarray | None = None) -> np.ndarray:
        """Return distances for the training rows, by the members that did not see them."""
        X = check_numeric(self, X, reset=False)
        return _distances_from(origin, self._bounds(predict_unseen(self.bag_, X, self.draws_)))

    def _bounds(self, members: np.ndarray) -> np.ndarray:
        """Return medians (n, 2, k) over members (n, q, m) of the lower and the upper quantiles."""
        middle = present_quantiles(members, [0.5])[..., 0]
        _, lower, upper = pick_curves(middle, self.levels_)
        return np.stack([lower, upper], axis=1)


def _distances_from(origin: np.ndarray | None, bounds: np.ndarray) -> np.ndarray:
    center = np.zeros(len(bounds)) if origin is None else origin
    return distances(center, bounds[:, 0], bounds[:, 1])
