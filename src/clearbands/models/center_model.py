"""Models of a center that are fitted as bags: one of them alone is a bag of one member."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from clearbands.engine.progress import ignore, listening
from clearbands.models.bagging import Bag
from clearbands.rows.checks import check_numeric, check_rows
from clearbands.rows.typed import TableLike
from clearbands.rows.weighting import check_sample_weight, drop_weightless


class CenterModel(RegressorMixin, BaseEstimator, ABC):
    """A regressor that can be fitted in bags; its subclasses say how, and what else they can do.

    Attributes
    ----------
    supports_monotone : bool
        Whether the model has a parameter `monotone`, as `SymmetricTrees` has, and keeps to it.
        Models without it do not compete where columns have a direction.
    streams_files : bool
        Whether members can be grown from the bins of a table in files, which `scaling/members.py`
        does for `SymmetricTrees` and their subclasses. Models without it do not compete there.
    """

    supports_monotone: ClassVar[bool] = False
    streams_files: ClassVar[bool] = False

    @abstractmethod
    def fit_bag(
        self,
        X: np.ndarray,
        y: np.ndarray,
        counts: np.ndarray,
        *,
        weight: np.ndarray | None = None,
        n_jobs: int | None = None,
        stage: str = "fit",
    ) -> Bag:
        """One member per row of `counts` (b, n): how often each row of X is to count.

        X, y, `weight` (n,), which says what a row counts each time, and the parameters are checked
        already.
        """

    def check_parameters(self) -> None:
        """Raise for parameters that make no sense; who fits bags asks once, as `fit` does."""

    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model; a row counts as its `sample_weight` (n,) says, by default once."""
        self.check_parameters()
        X, y = check_rows(self, X, y)
        X, y, weight = drop_weightless(X, y, check_sample_weight(sample_weight, len(y)))
        with listening(ignore):
            self.bag_ = self.fit_bag(X, y, np.ones((1, len(y)), np.uint8), weight=weight)
        return self

    def predict(self, X: TableLike) -> np.ndarray:
        """(n,)"""
        check_is_fitted(self)
        return self.bag_.predict_members(check_numeric(self, X, reset=False))[:, 0, 0]


Capability = Literal["supports_monotone", "streams_files"]


def has(model: Any, capability: Capability) -> bool:
    """Whether a model, of this package or of others, says that it can do this.

    >>> from sklearn.linear_model import LinearRegression
    >>> from clearbands import SymmetricTrees
    >>> has(SymmetricTrees(), "streams_files"), has(LinearRegression(), "streams_files")
    (True, False)
    """
    return bool(getattr(model, capability, False))


def those_with(capability: Capability, pool: Mapping[str, Any], what: str) -> dict[str, Any]:
    """The models of a pool that can do this; an error that names `what` where none can."""
    able = {name: model for name, model in pool.items() if has(model, capability)}
    if not able:
        kinds = ", ".join(sorted({type(model).__name__ for model in pool.values()}))
        raise ValueError(
            f"{what} needs a center whose class says `{capability} = True`, as SymmetricTrees "
            f"does; the search has {kinds}. Leave `search` open, or add such a center to it."
        )
    return able
