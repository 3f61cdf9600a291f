"""The base class of quantile models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clearbands.models.bag_model import BagModel
from clearbands.rows.levels import check_quantiles
from clearbands.rows.typed import TableLike


class TooLarge(ValueError):
    """The data need more memory or time than a model allows; the message says why."""


class QuantileModel(BagModel):
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

    def check_parameters(self) -> None:
        check_quantiles(self.quantiles)

    def predict_quantiles(self, X: TableLike) -> np.ndarray:
        """Return the quantiles (n, q) in the order of `quantiles`; they never cross."""
        return np.sort(self._predict_only_member(X), axis=1)

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the quantile (n,) nearest to the median."""
        return self.predict_quantiles(X)[:, nearest_to_median(self.quantiles)]


def nearest_to_median(quantiles: Sequence[float]) -> int:
    return int(np.argmin(np.abs(np.asarray(quantiles, float) - 0.5)))
