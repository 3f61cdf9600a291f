"""Noise of one shape everywhere, whose size a model of the absolute residuals predicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.engine.quantiles import weighted_median, weighted_quantiles
from clearbands.models.bagging import check_model, predict_unseen
from clearbands.models.seeds import seed_missing
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.rows.checks import check_count, check_target
from clearbands.rows.chunks import chunks, concatenate
from clearbands.rows.frames import check_numeric
from clearbands.rows.levels import check_levels, tails
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_sample_weight
from clearbands.uncertainty.aleatoric import NestedRows, ResampledPart, fit_members

SMALLEST_SCALE = 0.05
"""The smallest scale, as a share of the median absolute residual: a model may predict 0 or less."""

SMALLEST_LOG = 0.01
"""The share of this median that is added before a logarithm, as a residual of 0 has none."""


class ScaledResiduals(ResampledPart):
    """Widths that are a scale, which depends on x, times two numbers per level, which do not.

    The scale is learned from absolute residuals. Members that did not see a row give its scale, and
    the two numbers are quantiles of the residuals divided by these scales.

    Parameters
    ----------
    model : regressor, optional
        The model of the absolute residuals; by default 100 symmetric trees of depth 4.
    learn_log : bool
        Whether the model learns the logarithm of the absolute residuals. A few large residuals then
        weigh less.
    n_folds, n_repeats : int
        The rows are divided into `n_folds` folds, `n_repeats` times, so there are n_folds x
        n_repeats members. Every row is unseen by `n_repeats` of them.
    confidence_level : float or list of float
        The levels of the widths; `ClearRegressor` sets it.
    n_jobs, random_state
        As in scikit-learn. The result does not depend on `n_jobs`.

    Attributes
    ----------
    factors_ : (2, k)
        The factors of the scale below and above the center, at each level.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 60).reshape(-1, 1)
    >>> residual = X[:, 0] * np.where(np.arange(60) % 2, 1, -2)  # grows with x, skewed
    >>> from sklearn.linear_model import LinearRegression
    >>> part = ScaledResiduals(LinearRegression(), random_state=0).fit(X, residual)
    >>> below, above = part.factors_[:, 0]
    >>> bool(below > above)
    True
    """

    def __init__(
        self,
        model: BaseEstimator | None = None,
        n_folds: int = 5,
        n_repeats: int = 2,
        *,
        learn_log: bool = False,
        confidence_level: float | Sequence[float] = 0.9,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.model = model
        self.n_folds = n_folds
        self.n_repeats = n_repeats
        self.learn_log = learn_log
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
    ) -> ScaledResiduals:
        """Learn from residuals; rows of one label in `groups` stay together.

        A row counts as many times as its `sample_weight` (n,) says, by default once. If `nested` is
        given, its folds replace those of this part.
        """
        X = check_numeric(self, X, reset=True)
        residual = check_target(residual, X)
        weight = check_sample_weight(sample_weight, len(residual))
        model, rng = self.prepare(residual, weight)
        nested = None if nested is None else nested.with_residuals(self.sizes)
        labels: dict[str, Any] = {"weight": weight, "groups": groups, "nested": nested}
        sizes = self.sizes(residual)
        self.draws_, self.bag_ = fit_members(self, model, X, sizes, rng, **labels)
        return self.finish(residual, predict_unseen(self.bag_, X, self.draws_)[:, 0], weight)

    def prepare(
        self, residual: np.ndarray, weight: np.ndarray | None = None
    ) -> tuple[Any, np.random.RandomState]:
        """Return the seeded model and the generator of the folds, before members are fitted."""
        check_count(self.n_folds, "n_folds", smallest=2)
        check_count(self.n_repeats, "n_repeats")
        check_levels(self.confidence_level)
        rng = check_random_state(self.random_state)
        typical = weighted_median(np.abs(residual), weight)
        self.smallest_ = SMALLEST_SCALE * typical
        self.offset_ = SMALLEST_LOG * typical or 1.0
        model = seed_missing(self.scale_model(), rng)
        check_model(model)
        return model, rng

    def scale_model(self) -> Any:
        """Return the unfitted model of a member: by default small trees with small steps."""
        if self.model is not None:
            return clone(self.model)
        return SymmetricTrees(n_trees=100, max_depth=4, learning_rate=0.1)

    def sizes(self, residual: np.ndarray) -> np.ndarray:
        """Return what the model learns: absolute residuals, or their logarithms."""
        return learned_sizes(residual, self.offset_ if self.learn_log else None)

    def finish(
        self, residual: np.ndarray, members: np.ndarray, weight: np.ndarray | None = None
    ) -> ScaledResiduals:
        """Compute the factors from residuals (n,) and the scales by unseen members, (n, r)."""
        self.unseen_scale_ = self._scale(members)
        ends = np.array([tails(level) for level in check_levels(self.confidence_level)]).T
        with np.errstate(divide="ignore", invalid="ignore"):
            shape = np.where(residual == 0, 0.0, residual / self.unseen_scale_)
        known = np.isfinite(shape)
        own = None if weight is None else weight[known]
        lower, upper = weighted_quantiles(shape[known], ends, own)
        self.factors_ = np.maximum([-lower, upper], 0)
        return self

    def predict_widths(self, X: TableLike) -> np.ndarray:
        check_is_fitted(self, "bag_")
        X = check_numeric(self, X, reset=False)
        pieces = chunks(X, len(self.draws_))
        scale = concatenate([self._scale(self.bag_.predict_members(rows)[:, 0]) for rows in pieces])
        return scale[:, None, None] * self.factors_

    def predict_unseen_widths(self, X: TableLike) -> np.ndarray:
        return self.unseen_scale_[:, None, None] * self.factors_

    def _scale(self, members: np.ndarray) -> np.ndarray:
        """Return the scale (n,) from the mean of the members, of which NaN are absent."""
        n_present = np.count_nonzero(~np.isnan(members), axis=1)
        mean = np.nansum(members, axis=1) / np.maximum(n_present, 1)
        scale = np.exp(mean) if self.learn_log else mean
        return np.where(n_present > 0, np.maximum(scale, self.smallest_), np.nan)


def learned_sizes(residual: np.ndarray, offset: float | None) -> np.ndarray:
    """Return absolute residuals (n,), or the logarithms of these plus `offset`."""
    size = np.abs(residual)
    return size if offset is None else np.log(size + offset)
