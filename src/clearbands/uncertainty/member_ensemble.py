"""Ensembles of models that were fitted elsewhere: listed, or virtual ones of CatBoost."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from clearbands.rows.checks import check_count, check_predictions, check_target
from clearbands.rows.frames import check_table, is_frame
from clearbands.rows.typed import TableLike
from clearbands.rows.weighting import check_sample_weight
from clearbands.uncertainty.epistemic import Ensemble


class GivenMembers(Ensemble):
    """An ensemble of models that were fitted elsewhere: `fit` only remembers the columns of X."""

    fitted_elsewhere = True

    @abstractmethod
    def _check_members(self) -> None:
        """Raise an error if the members cannot predict."""

    def __sklearn_clone__(self) -> Self:
        # The members are the data of this estimator: a clone without them would be empty.
        return type(self)(**self.get_params(deep=False))

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(
        self,
        X: TableLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        validation: tuple[Any, Any] | None = None,
    ) -> Self:
        """Remember the columns of X; nothing here trains the members."""
        self._check_members()
        X = check_table(self, X, reset=True)
        if y is not None:
            check_target(y, X)
        check_sample_weight(sample_weight, len(X))
        return self


class MemberEnsemble(GivenMembers):
    """An ensemble of models that are already fitted: nothing here trains them again.

    Parameters
    ----------
    members : list
        The fitted models: objects with `predict(X) -> (n,)`, such functions, or torch modules.
    confidence_level : float or list of float
        The levels of the widths; `ClearRegressor` sets it.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import MemberEnsemble
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = X[:, 0] + np.resize([-0.1, 0.0, 0.1], 60)
    >>> members = [lambda X: X[:, 0], lambda X: X[:, 0] + 1, lambda X: X[:, 0] + 5]
    >>> ensemble = MemberEnsemble(members, confidence_level=0.9).fit(X, y)
    >>> ensemble.predict(X[:1])  # the median of the members
    array([1.])
    """

    def __init__(
        self, members: Sequence[BaseEstimator], *, confidence_level: float | Sequence[float] = 0.9
    ) -> None:
        self.members = members
        self.confidence_level = confidence_level

    def _check_members(self) -> None:
        if len(self.members) < 2:
            raise ValueError(
                f"An ensemble needs at least 2 members to differ, got {len(self.members)}."
            )

    def predict_members(self, X: TableLike) -> np.ndarray:
        X = check_table(self, X, reset=False)
        finite = not isinstance(X, np.ndarray) or not np.isnan(X).any()
        predictions = [
            check_predictions(_predict(member, X), len(X), f"Member {i}", finite=finite)
            for i, member in enumerate(self.members)
        ]
        return np.stack(predictions, axis=1)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # the members may accept missing values
        return tags


def _predict(member: BaseEstimator, X: TableLike) -> np.ndarray:
    if is_module(member):
        return predict_module(member, X)
    return np.asarray(member.predict(X) if hasattr(member, "predict") else member(X))


class CatBoostVirtualEnsemble(GivenMembers):
    """A fitted CatBoostRegressor; its members are its first trees, in growing numbers.

    Train it with `posterior_sampling=True`, and with the loss `RMSEWithUncertainty` if it shall
    give the noise as well. The members are then samples of the models that the training might have
    given.

    Parameters
    ----------
    model : CatBoostRegressor
        The fitted model; nothing here trains it again.
    n_members : int
        How many members are made from it.
    confidence_level : float or list of float
        The levels of the widths; `ClearRegressor` sets it.

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
        return np.asarray(members, float)[:, :, 0]  # a variance, if there is one, comes second


def is_module(model: Any) -> bool:
    """Whether `model` is a torch module; torch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def predict_module(module: Any, X: TableLike) -> np.ndarray:
    """Return what the module predicts, often (n,), for X as a tensor of its type and on its device.

    The module predicts in evaluation mode, and is then set back to the mode it was in.
    """
    import torch

    # The copy is writable, which torch asks for.
    values = np.array(nw.from_native(X, eager_only=True).to_numpy() if is_frame(X) else X, float)
    first = next(module.parameters(), torch.empty(0))
    was_training = module.training
    module.eval()
    try:
        with torch.no_grad():
            output = module(torch.as_tensor(values, dtype=first.dtype, device=first.device))
    finally:
        module.train(was_training)
    prediction = output.cpu().numpy().astype(float)
    return prediction[:, 0] if prediction.ndim == 2 and prediction.shape[1] == 1 else prediction
