"""One model on repeated folds: most rows train each member, and each row is unseen by a few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.models.bagging import check_model, fit_bag, predict_unseen
from clearbands.models.protocol import repeated
from clearbands.models.quantile_model import QuantileModel
from clearbands.models.seeds import seed_missing
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.rows.checks import check_choice, check_count, check_target
from clearbands.rows.draws import Draws, Folds
from clearbands.rows.frames import check_numeric
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_sample_weight
from clearbands.uncertainty.epistemic import SPREADS, ResampledEnsemble


class FoldedEnsemble(ResampledEnsemble):
    """An ensemble in which each member leaves out one fold of the rows, in several repeats.

    A member sees 1 - 1 / n_folds of the rows, while a bootstrap sees only 63 %, so its center is
    better. Every row is unseen by exactly `n_repeats` members.

    Parameters
    ----------
    model : regressor, optional
        The model of every member, by default `SymmetricTrees()`. Of a quantile model only the
        median is used.
    n_folds, n_repeats : int
        The rows are divided into `n_folds` folds, `n_repeats` times, so there are n_folds x
        n_repeats members. If there are fewer rows than folds, each row is a fold.
    spread : "gaussian" or "quantiles"
        How the widths follow from the members. "gaussian": they are the standard deviation of the
        members times a quantile of the normal distribution, and their mean does not depend on how
        many members there are. "quantiles": they reach to the alpha/2 and 1 - alpha/2 points of the
        members.
    confidence_level : float or list of float
        The levels of the widths; `ClearRegressor` sets it.
    n_jobs, random_state
        As in scikit-learn. The result does not depend on `n_jobs`.

    Attributes
    ----------
    model_ : regressor
        The model, seeded and unfitted.
    draws_ : Folds
        Which member saw which training row.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 60).reshape(-1, 1)
    >>> from sklearn.linear_model import LinearRegression
    >>> part = FoldedEnsemble(LinearRegression(), n_folds=5, n_repeats=2, random_state=0)
    >>> said = part.fit(X, 2 * X[:, 0]).predict_unseen(X)
    >>> said.center.shape, said.widths.shape
    ((60,), (60, 2, 1))
    """

    learns_categories = True

    def __init__(
        self,
        model: BaseEstimator | None = None,
        n_folds: int = 10,
        n_repeats: int = 6,
        *,
        spread: str = "gaussian",
        confidence_level: float | Sequence[float] = 0.9,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.model = model
        self.n_folds = n_folds
        self.n_repeats = n_repeats
        self.spread = spread
        self.confidence_level = confidence_level
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation: tuple[Any, Any] | None = None,
        groups: np.ndarray | None = None,
    ) -> FoldedEnsemble:
        """Train on X and y; rows of one label in `groups` are left out together.

        A row counts as many times as its `sample_weight` (n,) says, by default once. `validation`
        is not needed, because there is nothing to choose between.
        """
        check_count(self.n_folds, "n_folds", smallest=2)
        check_count(self.n_repeats, "n_repeats")
        check_choice(self.spread, "spread", SPREADS)
        X = check_numeric(self, X, reset=True)
        y = check_target(y, X)
        weight = check_sample_weight(sample_weight, len(y))
        rng = check_random_state(self.random_state)
        self.model_ = seed_missing(self.center_model(), rng)
        if isinstance(self.model_, QuantileModel):
            self.model_.set_params(quantiles=(0.5,))
        check_model(self.model_)
        self.draws_ = Folds.draw(len(y), self.n_folds, self.n_repeats, rng, groups)
        self.bag_ = fit_bag(
            self.model_,
            X,
            y,
            self.draws_,
            weight=weight,
            groups=groups,
            n_jobs=self.n_jobs,
            stage="epistemic",
        )
        return self

    def center_model(self) -> Any:
        """Return the unfitted model of a member."""
        return clone(SymmetricTrees() if self.model is None else self.model)

    def lighter(self) -> FoldedEnsemble:
        """Return the same part, unfitted, with a third of the repeats if widths stay as large."""
        n_repeats = self.n_repeats
        if self.spread == "gaussian":
            n_repeats = min(n_repeats, max(2, n_repeats // 3))  # the spread needs two members
        model = None if self.model is None else repeated(self.model, self.n_repeats / n_repeats)
        return clone(self).set_params(n_repeats=n_repeats, model=model)

    def predict_members(self, X: TableLike) -> np.ndarray:
        check_is_fitted(self, "bag_")
        return self.bag_.predict_members(check_numeric(self, X, reset=False))[:, 0]

    def _predict_unseen_members(self, X: TableLike, draws: Draws) -> np.ndarray:
        return predict_unseen(self.bag_, check_numeric(self, X, reset=False), draws)[:, 0]
