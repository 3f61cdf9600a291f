"""A smooth model with trees on its residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from clearbands.models.center_model import CenterModel
from clearbands.models.gam import ExpectileGAM
from clearbands.models.kernel_ridge import SurfaceBag
from clearbands.models.mixture import MixedBag
from clearbands.models.quantile_model import QuantileModel
from clearbands.models.symmetric_trees import SymmetricTrees

if TYPE_CHECKING:
    from clearbands.engine.symmetric import GrowingBag


@dataclass(frozen=True)
class GrowingOnSmooth:
    """A fitted smooth model, and trees on its residuals that are grown some at a time."""

    smooth: Any
    trees: GrowingBag

    def grow(
        self, n_trees: int, *, n_jobs: int | None, stage: str, goes_on: bool = True
    ) -> MixedBag:
        """Grow the trees as `GrowingBag.grow` does, and return the sum of both models."""
        trees = self.trees.grow(n_trees, n_jobs=n_jobs, stage=stage, goes_on=goes_on)
        return MixedBag([self.smooth, trees], np.ones(2))


class TreesOnSmooth(CenterModel):
    """A smooth model, and symmetric trees on its residuals.

    Trees need many steps to follow a line, and a smooth model cannot jump; together they can do
    both. Every member of a bag has a smooth model and trees of its own, fitted to the rows that it
    drew.

    Parameters
    ----------
    smooth : ExpectileGAM or KernelRidge, optional
        The smooth model, by default a GAM of the mean. With a `KernelRidge`, the trees learn from
        residuals of predictions that did not see the row.
    trees : SymmetricTrees, optional
        The trees that learn the residuals of the smooth model.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 60).reshape(-1, 1)
    >>> model = TreesOnSmooth(trees=SymmetricTrees(n_trees=20, max_depth=2))
    >>> model.fit(X, X[:, 0] ** 2).predict(X).shape
    (60,)
    """

    def __init__(self, smooth: Any = None, trees: SymmetricTrees | None = None) -> None:
        self.smooth = smooth
        self.trees = trees

    def check_parameters(self) -> None:
        self.smooth_model().check_parameters()
        self._trees().check_parameters()

    def fit_bag(
        self,
        X: np.ndarray,
        y: np.ndarray,
        counts: np.ndarray,
        *,
        weight: np.ndarray | None = None,
        n_jobs: int | None = None,
        stage: str = "fit",
    ) -> MixedBag:
        """Fit one member per row of `counts` (b, n): how often each row of X counts."""
        growing = self.start_bag(X, y, counts, weight=weight, n_jobs=n_jobs, stage=stage)
        return growing.grow(self._trees().n_trees, n_jobs=n_jobs, stage=stage, goes_on=False)

    def start_bag(
        self,
        X: np.ndarray,
        y: np.ndarray,
        counts: np.ndarray,
        *,
        weight: np.ndarray | None = None,
        n_jobs: int | None = None,
        stage: str = "fit",
    ) -> GrowingOnSmooth:
        """Return the members before their first tree; trees are added a few at a time."""
        options: dict[str, Any] = {"weight": weight, "n_jobs": n_jobs, "stage": stage}
        smooth: Any = self.smooth_model().fit_bag(X, y, counts, **options)
        if isinstance(smooth, SurfaceBag):
            left_over = (y - smooth.predict_training(X)[:, 0].T) / (1 - smooth.leverage)
        else:
            left_over = y - smooth.predict_members(X)[:, 0].T
        return GrowingOnSmooth(smooth, self._trees().start_bag(X, left_over, counts, **options))

    def smooth_model(self) -> Any:
        """Return the smooth model, unfitted."""
        smooth = clone(ExpectileGAM() if self.smooth is None else self.smooth)
        return smooth.set_params(quantiles=(0.5,)) if isinstance(smooth, QuantileModel) else smooth

    def shortened(self, n_trees: int, n_rows: float) -> TreesOnSmooth:
        """Return the model with only its first trees, at the learning rate for so many rows."""
        return clone(self).set_params(trees=self._trees().shortened(n_trees, n_rows))

    def finer(self, n_columns: int) -> TreesOnSmooth:
        """Return the model, unfitted, with both of its models in their finer form."""
        smooth, trees = self.smooth_model().finer(n_columns), self._trees().finer(n_columns)
        return clone(self).set_params(smooth=smooth, trees=trees)

    def coarser(self) -> TreesOnSmooth:
        """Return the model, unfitted, with a smooth model that is cheap to fit."""
        return clone(self).set_params(smooth=self.smooth_model().coarser())

    def with_choices_of(self, bag: GrowingOnSmooth | MixedBag) -> TreesOnSmooth:
        """Return the model, unfitted, with what the smooth model of a bag chose for itself."""
        model = self.smooth_model()
        if not hasattr(model, "with_choices_of"):
            return self
        smooth = bag.bags[0] if isinstance(bag, MixedBag) else bag.smooth
        return clone(self).set_params(smooth=model.with_choices_of(smooth))

    def _trees(self) -> SymmetricTrees:
        return SymmetricTrees() if self.trees is None else self.trees
