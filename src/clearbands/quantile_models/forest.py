"""Quantile random forests: quantiles of the targets in the leaves that a row falls into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from clearbands.bagging import Bag, member_seeds
from clearbands.engine.binning import MAX_BINS
from clearbands.progress import report
from clearbands.quantile_models.base import QuantileModel, check_quantiles

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
            return self._fit_stock_bag(X, y, counts, seeds, n_jobs, stage)
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
            value = getattr(self, name)
            if not _is_integer(value) or value < 1:
                raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")
        if not _is_integer(self.max_bins) or not 2 <= self.max_bins <= MAX_BINS:
            raise ValueError(
                f"max_bins must be an integer from 2 to {MAX_BINS}, got {self.max_bins!r}."
            )

    def _fit_stock_bag(
        self,
        X: np.ndarray,
        y: np.ndarray,
        counts: np.ndarray,
        seeds: np.ndarray,
        n_jobs: int | None,
        stage: str,
    ) -> StockForestBag:
        jobs = (
            delayed(_fit_on_rows)(self._stock_forest(int(seed)), X, y, drawn)
            for seed, drawn in zip(seeds, counts, strict=True)
        )
        members = []
        for member in Parallel(n_jobs=n_jobs, return_as="generator")(jobs):
            members.append(member)
            report(stage, len(members), len(counts))
        return StockForestBag(members)

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


@dataclass(frozen=True)
class StockForestBag:
    """One fitted RandomForestQuantileRegressor per bootstrap."""

    members: Sequence[Any]

    def predict_members(self, X: np.ndarray) -> np.ndarray:
        # A single quantile comes without its axis.
        return np.stack([m.predict(X).reshape(len(X), -1) for m in self.members], axis=-1)


def _fit_on_rows(model: Any, X: np.ndarray, y: np.ndarray, drawn: np.ndarray) -> Any:
    rows = np.repeat(np.arange(len(drawn)), drawn)
    return model.fit(X[rows], y[rows])


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
