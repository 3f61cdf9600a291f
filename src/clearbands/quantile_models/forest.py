"""Quantile random forests: quantiles of the targets in the leaves that a row falls into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearbands.bagging import Bag, fit_models, member_seeds
from clearbands.engine.binning import MAX_BINS
from clearbands.quantile_models.base import QuantileModel, check_quantiles
from clearbands.tables import check_count

BACKENDS = ("native", "quantile-forest")


class ForestQuantiles(QuantileModel):
    """Trees on bootstraps, split by squared error, with every column tried at every node.

    Parameters
    ----------
    quantiles : rising levels between 0 and 1; one forest serves them all.
    n_trees : trees per forest.
    min_samples_leaf : rows that a leaf holds at least. The native backend decides by weight: the
        number of draws that this many different rows of a bootstrap stand for, 16 for 10 rows.
    samples_per_leaf : how many random targets a leaf keeps.
    max_bins : values that the native backend tells apart per column, at most 256.
    backend : "native" grows all forests of a bag on shared bins; "quantile-forest" fits
        quantile_forest.RandomForestQuantileRegressor on the rows of one bootstrap after another.
    random_state : None, a seed or a RandomState.
    """

    def __init__(
        self,
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        *,
        n_trees: int = 100,
        min_samples_leaf: int = 10,
        samples_per_leaf: int = 1,
        max_bins: int = MAX_BINS,
        backend: str = "native",
        random_state: Any = None,
    ) -> None:
        self.quantiles = quantiles
        self.n_trees = n_trees
        self.min_samples_leaf = min_samples_leaf
        self.samples_per_leaf = samples_per_leaf
        self.max_bins = max_bins
        self.backend = backend
        self.random_state = random_state

    def fit_bag(
        self,
        X: np.ndarray,
        y: np.ndarray,
        counts: np.ndarray,
        *,
        n_jobs: int | None = None,
        stage: str = "fit",
    ) -> Bag:
        self._check_parameters()
        seeds = member_seeds(self.random_state, len(counts))
        if self.backend == "quantile-forest":
            forests = map(self._stock_forest, seeds.tolist())
            return fit_models(forests, X, y, counts, n_jobs=n_jobs, stage=stage)
        # Loading numba takes a second; only those who fit or predict here should wait for it.
        from clearbands.engine.forest import fit_forest_bag

        return fit_forest_bag(
            X,
            y,
            counts,
            check_quantiles(self.quantiles),
            n_trees=self.n_trees,
            min_samples_leaf=self.min_samples_leaf,
            samples_per_leaf=self.samples_per_leaf,
            max_bins=self.max_bins,
            seeds=seeds,
            n_jobs=n_jobs,
            stage=stage,
        )

    def _check_parameters(self) -> None:
        if self.backend not in BACKENDS:
            raise ValueError(f"backend must be one of {BACKENDS}, got {self.backend!r}.")
        for name in ("n_trees", "min_samples_leaf", "samples_per_leaf"):
            check_count(getattr(self, name), name)
        check_count(self.max_bins, "max_bins", smallest=2, largest=MAX_BINS)

    def _stock_forest(self, seed: int) -> Any:
        try:
            from quantile_forest import RandomForestQuantileRegressor
        except ImportError as error:
            raise ImportError(
                'ForestQuantiles(backend="quantile-forest") needs quantile-forest: '
                'pip install "clearbands[forest]".'
            ) from error
        return RandomForestQuantileRegressor(
            n_estimators=self.n_trees,
            min_samples_leaf=self.min_samples_leaf,
            max_samples_leaf=self.samples_per_leaf,
            default_quantiles=check_quantiles(self.quantiles).tolist(),
            random_state=seed,
        )
