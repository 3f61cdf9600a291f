"""The contract of a model that is fitted in bags, many members at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from clearbands.engine.progress import ignore, listening
from clearbands.rows.frames import check_numeric, check_rows
from clearbands.rows.typed import TableLike
from clearbands.rows.weighting import check_sample_weight, drop_weightless


class Bag(Protocol):
    """Members fitted on the bootstraps of one training set."""

    def predict_members(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions (n, q, b) of the members; a plain regressor has one quantile."""


class BagModel(RegressorMixin, BaseEstimator, ABC):
    """A regressor that is fitted in bags; `fit` makes a bag of one member."""

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
        """Fit one member per row of `counts` (b, n): how often each row of X counts.

        `weight` (n,) is what a row counts each time. The arguments and the parameters are checked
        already. The result equals a fit to rows that are repeated `counts` times `weight` times.
        """

    def check_parameters(self) -> None:
        """Raise for invalid parameters. Callers of `fit_bag` check once before, as `fit` does."""

    def finer(self, n_columns: int) -> Self:
        """Return the model with more steps or landmarks, where it has a finer form."""
        return self

    def coarser(self) -> Self:
        """Return the model in a form that is cheaper to judge, where it has one."""
        return self

    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model; a row counts as its `sample_weight` (n,) says, by default once."""
        self.check_parameters()
        X, y = check_rows(self, X, y)
        X, y, weight = drop_weightless(X, y, check_sample_weight(sample_weight, len(y)))
        with listening(ignore):
            self.bag_ = self.fit_bag(X, y, np.ones((1, len(y)), np.uint8), weight=weight)
        return self

    def _predict_only_member(self, X: TableLike) -> np.ndarray:
        """Return the predictions (n, q) of the only member."""
        check_is_fitted(self)
        return self.bag_.predict_members(check_numeric(self, X, reset=False))[:, :, 0]
