"""Quantile random forests: quantiles of the targets in the leaves that a row falls into."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator

from clearbands._compat import require
from clearbands.engine.binning import MAX_BINS
from clearbands.engine.grains import Grains
from clearbands.models.bag_model import Bag
from clearbands.models.bagging import fit_models
from clearbands.models.quantile_model import QuantileModel
from clearbands.models.seeds import member_seeds
from clearbands.rows.checks import check_count

BACKENDS = ("native", "quantile-forest")
GROWN_ON = ("target", "magnitude")


class ForestQuantiles(QuantileModel):
    """Trees on bootstraps, split by squared error, with every column tried at every node.

    With more than 128 to 512 columns, depending on the number of rows, the native trees of a
    bootstrap see only the most promising ones.

    Parameters
    ----------
    quantiles : sequence of float
        The levels to predict, rising and between 0 and 1. One forest predicts all of them.
    n_trees : int
        How many trees a forest has.
    min_samples_leaf : int
        How many rows a leaf holds at least. The native backend decides by weight: by the number of
        draws that this many different rows of a bootstrap stand for, which is 16 for 10 rows.
    samples_per_leaf : int
        How many targets, drawn at random, a leaf keeps.
    grow_on : "target" or "magnitude"
        Whether splits separate rows by their targets or by their absolute targets. "magnitude"
        suits residuals. The leaves keep the targets either way.
    max_bins : int
        How many values of a column the native backend can tell apart, at most 256.
    backend : "native" or "quantile-forest"
        "native" grows all forests of a bag on shared bins; "quantile-forest" fits
        `quantile_forest.RandomForestQuantileRegressor` on the rows of one bootstrap after another.
    random_state : int, RandomState or None
        The seed, as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 400).reshape(-1, 1)
    >>> y = np.where(X[:, 0] < 0.5, 0.0, 10.0) + np.tile([-1.0, 0.0, 1.0, 0.0], 100)
    >>> model = ForestQuantiles(quantiles=(0.1, 0.5, 0.9), random_state=0).fit(X, y)
    >>> model.predict_quantiles([[0.2], [0.9]]).round(1)
    array([[-1.,  0.,  1.],
           [ 9., 10., 11.]])
    """

    def __init__(
        self,
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        *,
        n_trees: int = 100,
        min_samples_leaf: int = 10,
        samples_per_leaf: int = 1,
        grow_on: str = "target",
        max_bins: int = MAX_BINS,
        backend: str = "native",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.quantiles = quantiles
        self.n_trees = n_trees
        self.min_samples_leaf = min_samples_leaf
        self.samples_per_leaf = samples_per_leaf
        self.grow_on = grow_on
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
        seeds = member_seeds(self.random_state, len(counts))
        if self.backend == "quantile-forest":
            forests = map(self._stock_forest, seeds.tolist())
            return fit_models(forests, X, y, counts, weight=weight, n_jobs=n_jobs, stage=stage)
        # Loading numba takes a second; only those who fit or predict here should wait for it.
        from clearbands.engine.forest import fit_forest_bag

        return fit_forest_bag(
            X,
            np.abs(y) if self.grow_on == "magnitude" else y,
            counts,
            np.asarray(self.quantiles, float),
            Grains.of(weight),
            leaf_targets=y,
            n_trees=self.n_trees,
            min_samples_leaf=self.min_samples_leaf,
            samples_per_leaf=self.samples_per_leaf,
            max_bins=self.max_bins,
            seeds=seeds,
            n_jobs=n_jobs,
            stage=stage,
        )

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.backend not in BACKENDS:
            raise ValueError(f"backend must be one of {BACKENDS}, got {self.backend!r}.")
        if self.grow_on not in GROWN_ON:
            raise ValueError(f"grow_on must be one of {GROWN_ON}, got {self.grow_on!r}.")
        if self.grow_on != "target" and self.backend != "native":
            raise ValueError('grow_on="magnitude" needs the native backend.')
        for name in ("n_trees", "min_samples_leaf", "samples_per_leaf"):
            check_count(getattr(self, name), name)
        check_count(self.max_bins, "max_bins", smallest=2, largest=MAX_BINS)

    def _stock_forest(self, seed: int) -> BaseEstimator:
        what = 'ForestQuantiles(backend="quantile-forest")'
        stock = require("quantile_forest", what=what, extra="forest")
        return stock.RandomForestQuantileRegressor(
            n_estimators=self.n_trees,
            min_samples_leaf=self.min_samples_leaf,
            max_samples_leaf=self.samples_per_leaf,
            default_quantiles=list(map(float, self.quantiles)),
            random_state=seed,
        )
