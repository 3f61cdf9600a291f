"""The contract of an aleatoric part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


class AleatoricPart(BaseEstimator, ABC):
    """The contract: X and residuals y - center in, aleatoric widths out.

    `confidence_level` is a parameter, which `ClearRegressor` sets.
    """

    confidence_level: float | Sequence[float]

    @abstractmethod
    def fit(self, X: Any, residual: Any) -> AleatoricPart:
        """Learn how far targets scatter around the center.

        A part that also takes `sample_weight` (n,) can be used with rows that count differently.
        """

    @abstractmethod
    def predict_widths(self, X: Any) -> np.ndarray:
        """(n, 2, k): distances below and above the center at each of the k levels."""


class ResampledPart(AleatoricPart):
    """A part whose members know which training rows they did not see, so that these calibrate.

    `fit` also takes `together`, labels of rows that are left out together.
    """

    @abstractmethod
    def fit(
        self,
        X: Any,
        residual: Any,
        sample_weight: Any = None,
        *,
        together: np.ndarray | None = None,
    ) -> ResampledPart: ...

    @abstractmethod
    def predict_unseen_widths(self, X: Any) -> np.ndarray:
        """(n, 2, k): of the training rows, in their order, by members that did not see them.

        NaN where every member saw the row.
        """
