"""Models of a center that are fitted as bags: one of them alone is a bag of one member."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

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
    """A regressor; subclasses say how to fit a bag of them."""

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

        X, y and `weight` (n,), which says what a row counts each time, are checked already.
        """

    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """A row counts as many times as its `sample_weight` (n,) says, by default once."""
        X, y = check_rows(self, X, y)
        X, y, weight = drop_weightless(X, y, check_sample_weight(sample_weight, len(y)))
        with listening(ignore):
            self.bag_ = self.fit_bag(X, y, np.ones((1, len(y)), np.uint8), weight=weight)
        return self

    def predict(self, X: TableLike) -> np.ndarray:
        """(n,)"""
        check_is_fitted(self)
        return self.bag_.predict_members(check_numeric(self, X, reset=False))[:, 0, 0]
