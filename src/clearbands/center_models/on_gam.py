"""Smooth curves first, then trees on what they leave over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from clearbands.bagging import Bag, Draws, compact_unseen
from clearbands.center_models.symmetric import SymmetricTrees
from clearbands.checks import check_numeric, check_rows
from clearbands.progress import ignore, listening
from clearbands.quantile_models.gam import ExpectileGAM
from clearbands.weighting import check_sample_weight, drop_weightless


class TreesOnGAM(RegressorMixin, BaseEstimator):
    """A GAM, and symmetric trees on its residuals.

    Trees need many steps for what is a line; curves cannot tell what happens only together. Every
    member of a bag has a GAM and trees of its own, on the rows that it drew.

    Parameters
    ----------
    trees : SymmetricTrees, optional
    gam : ExpectileGAM, optional
        By default of the mean.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 60).reshape(-1, 1)
    >>> model = TreesOnGAM(SymmetricTrees(n_trees=20, max_depth=2))
    >>> model.fit(X, X[:, 0] ** 2).predict(X).shape
    (60,)
    """

    def __init__(
        self, trees: SymmetricTrees | None = None, gam: ExpectileGAM | None = None
    ) -> None:
        self.trees = trees
        self.gam = gam

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TreesOnGAM:
        """A row counts as many times as its `sample_weight` (n,) says, by default once."""
        X, y = check_rows(self, X, y)
        X, y, weight = drop_weightless(X, y, check_sample_weight(sample_weight, len(y)))
        with listening(ignore):
            self.bag_ = self.fit_bag(X, y, np.ones((1, len(y)), np.uint8), weight=weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """(n,)"""
        check_is_fitted(self)
        return self.bag_.predict_members(check_numeric(self, X, reset=False))[:, 0, 0]

    def fit_bag(
        self,
        X: np.ndarray,
        y: np.ndarray,
        counts: np.ndarray,
        *,
        weight: np.ndarray | None = None,
        n_jobs: int | None = None,
        stage: str = "fit",
    ) -> SumBag:
        """One member per row of `counts` (b, n): how often each row of X is to count."""
        gam = clone(ExpectileGAM() if self.gam is None else self.gam)
        options: dict[str, Any] = {"weight": weight, "n_jobs": n_jobs, "stage": stage}
        curves = gam.set_params(quantiles=(0.5,)).fit_bag(X, y, counts, **options)
        left_over = y - curves.predict_members(X)[:, 0].T
        trees = self._trees().fit_bag(X, left_over, counts, **options)
        return SumBag(curves, trees)

    def shortened(self, n_trees: int, n_rows: float) -> TreesOnGAM:
        """The same with the first trees alone, which had been fitted on so many rows."""
        return clone(self).set_params(trees=self._trees().shortened(n_trees, n_rows))

    def _trees(self) -> SymmetricTrees:
        return SymmetricTrees() if self.trees is None else self.trees


@dataclass(frozen=True)
class SumBag:
    """What two bags on the same draws predict, added member by member."""

    curves: Bag
    trees: Any  # SymmetricBag

    def predict_members(self, X: np.ndarray) -> np.ndarray:
        """(n, 1, b)"""
        return self.curves.predict_members(X) + self.trees.predict_members(X)

    def predict_unseen(self, X: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """(n, r), as `SymmetricBag.predict_unseen`."""
        curves = compact_unseen(self.curves.predict_members(X)[:, 0], Draws(counts))
        return curves + self.trees.predict_unseen(X, counts)

    def first(self, n_trees: int) -> SumBag:
        """The same with the first trees only."""
        return replace(self, trees=self.trees.first(n_trees))
