"""Virtual ensembles of CatBoost: many members from one booster that is already fitted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator

from clearbands.rows.checks import check_count, check_table
from clearbands.rows.typed import TableLike
from clearbands.uncertainty.member_ensemble import GivenMembers


class CatBoostVirtualEnsemble(GivenMembers):
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

    def _check_members(self) -> None:
        check_count(self.n_members, "n_members", smallest=2)
        if not hasattr(self.model, "virtual_ensembles_predict"):
            raise TypeError(
                f"{type(self.model).__name__} has no virtual ensembles; give a fitted "
                "CatBoostRegressor, or a list of fitted models to MemberEnsemble."
            )
        if not self.model.is_fitted():
            raise ValueError("The CatBoost model is not fitted: fit it before it is given here.")

    def predict_members(self, X: TableLike) -> np.ndarray:
        members = self.model.virtual_ensembles_predict(
            check_table(self, X, reset=False),
            prediction_type="VirtEnsembles",
            virtual_ensembles_count=self.n_members,
        )
        return np.asarray(members, float)[:, :, 0]  # the variance, where it is given, comes second
