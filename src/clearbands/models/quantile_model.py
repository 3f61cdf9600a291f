"""What every quantile model shares: a single fit is a bag of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from clearbands.engine.progress import ignore, listening
from clearbands.models.bagging import Bag
from clearbands.rows.checks import check_quantiles
from clearbands.rows.typed import TableLike
from clearbands.rows.weighting import check_sample_weight, drop_weightless


class TooLarge(ValueError):
    """The data ask for more memory or time than a model allows itself; the message says why."""


class QuantileModel(RegressorMixin, BaseEstimator, ABC):
    """A regressor that predicts several quantiles of the target of every row.

    `BoostedQuantiles`, `ForestQuantiles`, `ExpectileGAM`, `LinearQuantiles` and `NetworkQuantiles`
    are such models. A subclass writes `fit_bag`, which fits many members at once.

    Examples
    --------
    >>> from clearbands import LinearQuantiles, QuantileModel
    >>> isinstance(LinearQuantiles(), QuantileModel)
    True
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> LinearQuantiles([0.1, 0.9]).fit(X, [0.0, 1.0, 2.0, 3.0]).predict_quantiles(X).shape
    (4, 2)
    """

    quantiles: Sequence[float]

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
        """Fit one member per row of `counts` (b, n): how often each row of X is to count.

        X, y, `weight` (n,), which says what a row counts each time, and the parameters are checked
        already. The result equals a fit to rows that are repeated `counts` times `weight` times.
        """

    def check_parameters(self) -> None:
        """Raise for parameters that make no sense; who fits bags asks once, as `fit` does."""
        check_quantiles(self.quantiles)

    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model; a row counts as its `sample_weight` (n,) says, by default once."""
        X, target = validate_data(
            self, X, y, dtype=np.float64, order="C", y_numeric=True, ensure_min_samples=2
        )
        self.check_parameters()
        weight = check_sample_weight(sample_weight, len(target))
        X, target, weight = drop_weightless(X, np.asarray(target, np.float64), weight)
        with listening(ignore):
            self.bag_ = self.fit_bag(X, target, np.ones((1, len(target)), np.uint8), weight=weight)
        return self

    def predict_quantiles(self, X: TableLike) -> np.ndarray:
        """(n, q): the conditional quantiles in the order of `quantiles`, never crossing."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return np.sort(self.bag_.predict_members(X)[:, :, 0], axis=1)

    def predict(self, X: TableLike) -> np.ndarray:
        """(n,): the quantile nearest to the median."""
        return self.predict_quantiles(X)[:, nearest_to_median(self.quantiles)]


def nearest_to_median(quantiles: Sequence[float]) -> int:
    return int(np.argmin(np.abs(np.asarray(quantiles, float) - 0.5)))
