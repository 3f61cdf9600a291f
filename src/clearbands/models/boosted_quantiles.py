"""Trees boosted on the pinball loss, grown as XGBoost's `reg:quantileerror` grows them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from clearbands._compat import require
from clearbands.engine.binning import MAX_BINS
from clearbands.engine.grains import Grains
from clearbands.models.bag_model import Bag
from clearbands.models.bagging import fit_clones
from clearbands.models.quantile_model import QuantileModel
from clearbands.rows.checks import check_count

BACKENDS = ("native", "xgboost")
MAX_DEPTH = 12


class BoostedQuantiles(QuantileModel):
    """Quantile boosting with histogram trees; the defaults are the paper's.

    With more than 128 to 512 columns, depending on the number of rows, the native trees of a
    bootstrap see only the most promising ones.

    Parameters
    ----------
    quantiles : sequence of float
        The levels to predict, rising and strictly between 0 and 1.
    n_trees : int
        How many trees are grown for each quantile.
    max_depth : int
        How many levels of splits a tree has, at most 12.
    learning_rate : float
        How far a leaf moves the prediction, as a share of the way to the quantile of its residuals.
    min_child_weight : float
        A split must leave at least this many rows on each side; repeated rows count repeatedly.
    reg_lambda : float
        A number that is added to the number of rows in the score of a split. Larger values favour
        larger children.
    max_bins : int
        Columns with more distinct values than this, at most 256, are split between bins that hold
        equal shares of a bootstrap.
    backend : {"native", "xgboost"}
        Whether the kernels of this package grow the trees, or stock XGBoost, which is equally good
        and several times slower.
    random_state : int, RandomState or None
        The seed that XGBoost gets. The kernels of this package draw nothing, because they sample
        neither rows nor columns.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.RandomState(0)
    >>> X = rng.uniform(size=(2000, 1))
    >>> y = 10 * (X[:, 0] > 0.5) + rng.uniform(-1, 1, size=2000)
    >>> model = BoostedQuantiles(quantiles=(0.1, 0.5, 0.9), n_trees=20).fit(X, y)
    >>> model.predict_quantiles([[0.7]]).round()
    array([[ 9., 10., 11.]])
    """

    def __init__(
        self,
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        *,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.3,
        min_child_weight: float = 10,
        reg_lambda: float = 1.0,
        max_bins: int = 256,
        backend: str = "native",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.quantiles = quantiles
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.min_child_weight = min_child_weight
        self.reg_lambda = reg_lambda
        self.max_bins = max_bins
        self.backend = backend
        self.random_state = random_state

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
        if self.backend == "xgboost":
            return fit_clones(
                self._stock_model(), X, y, counts, weight=weight, n_jobs=n_jobs, stage=stage
            )
        # Imported late: numba takes a second to load, which `import clearbands` should not.
        from clearbands.engine.boosting import fit_boosted_bag

        return fit_boosted_bag(
            X,
            y,
            counts,
            np.asarray(self.quantiles, float),
            Grains.of(weight),
            max_bins=self.max_bins,
            n_trees=self.n_trees,
            max_depth=self.max_depth,
            learning_rate=self.learning_rate,
            min_child_weight=self.min_child_weight,
            reg_lambda=self.reg_lambda,
            n_jobs=n_jobs,
            stage=stage,
        )

    def check_parameters(self) -> None:
        super().check_parameters()
        check_count(self.n_trees, "n_trees")
        check_count(self.max_depth, "max_depth", largest=MAX_DEPTH)
        check_count(self.max_bins, "max_bins", smallest=2, largest=MAX_BINS)
        _check_real("min_child_weight", self.min_child_weight)
        _check_real("reg_lambda", self.reg_lambda)
        rate = self.learning_rate
        if not (isinstance(rate, Real) and 0 < float(rate) <= 1):
            raise ValueError(f"learning_rate must be above 0 and at most 1, got {rate!r}.")
        if self.backend not in BACKENDS:
            allowed = " or ".join(map(repr, BACKENDS))
            raise ValueError(f"backend must be {allowed}, got {self.backend!r}.")

    def _stock_model(self) -> StockBoosting:
        settings = {
            "n_estimators": self.n_trees,
            "max_depth": self.max_depth,
            "learning_rate": self.learning_rate,
            "min_child_weight": self.min_child_weight,
            "reg_lambda": self.reg_lambda,
            "max_bin": self.max_bins,
            "random_state": self.random_state,
        }
        return StockBoosting(self.quantiles, settings)


class StockBoosting(BaseEstimator):
    """One XGBoost model per quantile, each on one thread."""

    def __init__(self, quantiles: Sequence[float], settings: dict[str, Any]) -> None:
        self.quantiles = quantiles
        self.settings = settings

    def fit(
        self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None
    ) -> StockBoosting:
        what = 'BoostedQuantiles(backend="xgboost")'
        regressor = require("xgboost", what=what, extra="boost").XGBRegressor
        self.models_ = [
            regressor(
                objective="reg:quantileerror",
                quantile_alpha=float(level),
                tree_method="hist",
                n_jobs=1,
                **self.settings,
            ).fit(X, y, sample_weight=sample_weight)
            for level in self.quantiles
        ]
        return self

    def predict_quantiles(self, X: np.ndarray) -> np.ndarray:
        return np.column_stack([model.predict(X) for model in self.models_]).astype(np.float64)


def _check_real(name: str, value: object) -> None:
    if not (isinstance(value, Real) and 0 <= float(value) < np.inf):
        raise ValueError(f"{name} must be a finite number and not negative, got {value!r}.")
