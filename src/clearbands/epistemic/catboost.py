"""Virtual ensembles of CatBoost: many members from one booster that is already fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from clearbands.checks import check_count, check_table, check_target
from clearbands.epistemic.base import Ensemble
from clearbands.rows.weighting import check_sample_weight
from clearbands.typed import TableLike


class CatBoostVirtualEnsemble(Ensemble):
    """A fitted CatBoostRegressor, whose members are its first trees, more of them each time.

    Train it with `posterior_sampling=True` (and, for noise as well, the loss
    `RMSEWithUncertainty`): then the members are samples of what the trees might have been.

    Parameters
    ----------
    model : CatBoostRegressor, fitted: nothing here trains it again
    n_members : int
    confidence_level : float or list of float

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import CatBoostVirtualEnsemble
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = X[:, 0] + np.resize([-0.1, 0.0, 0.1], 60)
    >>> from catboost import CatBoostRegressor
    >>> trees = CatBoostRegressor(
    ...     iterations=50, posterior_sampling=True, verbose=False, allow_writing_files=False
    ... ).fit(X, y)
    >>> CatBoostVirtualEnsemble(trees, 5).fit(X, y).predict_members(X[:4]).shape
    (4, 5)
    """

    fitted_elsewhere = True

    def __init__(
        self,
        model: BaseEstimator,
        n_members: int = 10,
        *,
        confidence_level: float | Sequence[float] = 0.9,
    ) -> None:
        self.model = model
        self.n_members = n_members
        self.confidence_level = confidence_level

    def __sklearn_clone__(self) -> CatBoostVirtualEnsemble:
        # The booster is the data of this estimator: a clone without it would be empty.
        return CatBoostVirtualEnsemble(
            self.model, self.n_members, confidence_level=self.confidence_level
        )

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(
        self,
        X: TableLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        validation: tuple[Any, Any] | None = None,
    ) -> CatBoostVirtualEnsemble:
        """Remember the columns of X; nothing here trains the booster."""
        check_count(self.n_members, "n_members", smallest=2)
        if not hasattr(self.model, "virtual_ensembles_predict"):
            raise TypeError(
                f"{type(self.model).__name__} has no virtual ensembles; give a fitted "
                "CatBoostRegressor, or a list of fitted models to MemberEnsemble."
            )
        if not self.model.is_fitted():
            raise ValueError("The CatBoost model is not fitted: fit it before it is given here.")
        X = check_table(self, X, reset=True)
        if y is not None:
            check_target(y, X)
        check_sample_weight(sample_weight, len(X))
        return self

    def predict_members(self, X: TableLike) -> np.ndarray:
        members = self.model.virtual_ensembles_predict(
            check_table(self, X, reset=False),
            prediction_type="VirtEnsembles",
            virtual_ensembles_count=self.n_members,
        )
        return np.asarray(members, float)[:, :, 0]  # the variance, where it is given, comes second
