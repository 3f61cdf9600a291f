"""A wrapper of clearbands for ScoringBench (github.com/jonaslandsgesell/ScoringBench).

To take part, put this file into `scoringbench/univariate/wrappers/`, list ("ClearbandsWrapper",
"scoringbench_wrapper") among the optional wrappers of its `__init__.py`, import ClearbandsWrapper
from there in `scoringbench/univariate/models.py`, and add to its `MODELS`:

    "clearbands_v0_1": lambda: ClearbandsWrapper(),

The name contains the version, as that benchmark asks. The wrapper predicts 99 quantiles per row.
"""

from __future__ import annotations

import numpy as np
from scoringbench.univariate.wrappers.base import DistributionPrediction, ProbabilisticWrapper

LEVELS = np.arange(1, 100) / 100


class ClearbandsWrapper(ProbabilisticWrapper):
    """Intervals and distributions by CLEAR (arXiv 2507.08150); MIT license."""

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X, y) -> ClearbandsWrapper:
        from clearbands import ClearRegressor

        y = np.asarray(y, float).reshape(-1)
        known = np.isfinite(y)
        self._set_train_range(y[known])
        self.model_ = ClearRegressor(random_state=self.random_state)
        self.model_.fit(np.asarray(X, float)[known], y[known])
        return self

    def predict(self, X) -> np.ndarray:
        return self.model_.predict(np.asarray(X, float))

    def predict_distribution(self, X) -> DistributionPrediction:
        quantiles = self.model_.predict_quantiles(np.asarray(X, float), LEVELS)
        return DistributionPrediction.from_multi_quantile(
            quantiles, LEVELS, train_range=self._y_train_range
        )
