"""Aleatoric widths: bagged quantile models on the residuals of the center."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.engine.quantiles import present_quantiles
from clearbands.models.bagging import check_model, fit_bag
from clearbands.models.pools import residual_boosting
from clearbands.models.seeds import seed_missing
from clearbands.rows.bands import curve_widths
from clearbands.rows.checks import check_count, check_target
from clearbands.rows.chunks import chunks, concatenate
from clearbands.rows.draws import compact_unseen, draw_bootstraps
from clearbands.rows.frames import check_numeric, check_table
from clearbands.rows.levels import check_levels, curve_levels
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_sample_weight, size_of
from clearbands.uncertainty.aleatoric import ResampledPart


class ResidualQuantiles(ResampledPart):
    """Widths from any quantile model, bagged, as in the paper.

    Every member of a bag estimates the quantiles alpha/2, 1/2 and 1 - alpha/2 of the residuals. The
    width above is the median over the bag of the upper minus the middle quantile, or 0 where that
    is negative. The width below follows in the same way.

    Parameters
    ----------
    model : quantile model, optional
        Any model with `quantiles` as a parameter and `predict_quantiles`. By default it is boosting
        with shallow trees, but inside `ClearRegressor` the type of model that won the center.
    n_bootstraps : int
        How many members the bag has.
    bootstrap, block_length
        As in `PCSEnsemble`; "blocks" is for rows in the order of time.
    preprocessing : transformer, optional
        What turns X into numbers, where the encoder of `ClearRegressor` is None and X is a table.
    confidence_level : float or list of float
        The levels of the widths; `ClearRegressor` sets it.
    n_jobs, random_state
        As in scikit-learn. The result does not depend on `n_jobs`.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import LinearQuantiles, ResidualQuantiles
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> residual = X[:, 0] * np.resize([-1.0, 0.0, 1.0], 60)  # noise that grows with x
    >>> part = ResidualQuantiles(LinearQuantiles(), n_bootstraps=5, random_state=0)
    >>> widths = part.fit(X, residual).predict_widths(X)
    >>> widths.shape  # below and above the center, one level
    (60, 2, 1)
    >>> bool(widths[-1].sum() > widths[0].sum())
    True
    """

    def __init__(
        self,
        model: BaseEstimator | None = None,
        n_bootstraps: int = 100,
        *,
        bootstrap: str = "rows",
        block_length: int | None = None,
        preprocessing: Any = None,
        confidence_level: float | Sequence[float] = 0.9,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.model = model
        self.n_bootstraps = n_bootstraps
        self.bootstrap = bootstrap
        self.block_length = block_length
        self.preprocessing = preprocessing
        self.confidence_level = confidence_level
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: TableLike,
        residual: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: np.ndarray | None = None,
    ) -> ResidualQuantiles:
        """Learn from residuals; rows of one label in `groups` are drawn together.

        A row counts as many times as its `sample_weight` (n,) says, by default once.
        """
        check_count(self.n_bootstraps, "n_bootstraps")
        levels = check_levels(self.confidence_level)
        X = self._check_X(X, reset=True)
        residual = check_target(residual, X)
        weight = check_sample_weight(sample_weight, len(residual))
        if self.preprocessing is not None:
            self.preprocessing_ = clone(self.preprocessing).fit(X, residual)
        rng = check_random_state(self.random_state)
        self.quantiles_ = list(curve_levels(levels))
        size = size_of(weight, len(residual))
        model = residual_boosting(size) if self.model is None else clone(self.model)
        if "quantiles" not in model.get_params():
            raise TypeError(
                f"{type(model).__name__} has no parameter `quantiles`; the aleatoric part needs a "
                "quantile model such as BoostedQuantiles, ForestQuantiles or LinearQuantiles."
            )
        model = seed_missing(model, rng).set_params(quantiles=tuple(self.quantiles_))
        check_model(model)
        self.draws_ = draw_bootstraps(
            self.bootstrap,
            len(residual),
            self.n_bootstraps,
            rng,
            groups,
            block_length=self.block_length,
        )
        self.bag_ = fit_bag(
            model,
            self._view(X),
            residual,
            self.draws_,
            weight=weight,
            n_jobs=self.n_jobs,
            stage="aleatoric",
        )
        return self

    def predict_widths(self, X: TableLike) -> np.ndarray:
        """Return distances (n, 2, k) below and above the center at each level."""
        check_is_fitted(self, "bag_")
        X = self._view(self._check_X(X, reset=False))
        return concatenate([self._widths(rows) for rows in chunks(X, 3 * self.n_bootstraps)])

    def _check_X(self, X: TableLike, *, reset: bool) -> Any:
        check = check_numeric if self.preprocessing is None else check_table
        return check(self, X, reset=reset)

    def _view(self, X: Any) -> np.ndarray:
        """Return X as the models see it."""
        if self.preprocessing is None:
            return X
        return check_array(self.preprocessing_.transform(X), dtype=np.float64, order="C")

    def predict_unseen_widths(self, X: TableLike) -> np.ndarray:
        """Return widths (n, 2, k) of the training rows, by the members that did not see them."""
        check_is_fitted(self, "bag_")
        X = self._view(self._check_X(X, reset=False))
        reach = self._outer_distances(compact_unseen(self.bag_.predict_members(X), self.draws_))
        return present_quantiles(reach, [0.5])[..., 0]

    def _widths(self, X: np.ndarray) -> np.ndarray:
        return np.median(self._outer_distances(self.bag_.predict_members(X)), axis=-1)

    def _outer_distances(self, members: np.ndarray) -> np.ndarray:
        """Return distances (n, 2, k, b) of the members' outer quantiles from their middle."""
        return curve_widths(members, check_levels(self.confidence_level))
