"""Extremely randomised trees, whose mean is smoother than the steps of boosted trees."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from clearbands.engine.grains import Grains
from clearbands.models.center_model import CenterModel
from clearbands.models.seeds import member_seeds
from clearbands.rows.checks import check_count
from clearbands.rows.typed import Seed

if TYPE_CHECKING:
    from clearbands.engine.random_trees import RandomTreesBag


class RandomTrees(CenterModel):
    """The mean of trees that choose, at every node, the best of a few random cuts.

    At every node one cut per column is drawn at random. Every tree sees all rows. Only the order of
    the values of a column matters.

    Parameters
    ----------
    n_trees : int
        How many trees are averaged.
    min_samples_leaf : int
        How many rows a leaf holds at least.
    random_state : int, RandomState or None
        The seed by which cuts are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 60).reshape(-1, 1)
    >>> RandomTrees(n_trees=20, random_state=0).fit(X, X[:, 0] ** 2).predict(X).shape
    (60,)
    """

    def __init__(
        self, n_trees: int = 100, *, min_samples_leaf: int = 1, random_state: Seed = None
    ) -> None:
        self.n_trees = n_trees
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def check_parameters(self) -> None:
        check_count(self.n_trees, "n_trees")
        check_count(self.min_samples_leaf, "min_samples_leaf")

    def repeated(self, times: float) -> RandomTrees:
        """Return the model, unfitted, with `times` as many trees."""
        return clone(self).set_params(n_trees=ceil(times * self.n_trees))

    def fit_bag(
        self,
        X: np.ndarray,
        y: np.ndarray,
        counts: np.ndarray,
        *,
        weight: np.ndarray | None = None,
        n_jobs: int | None = None,
        stage: str = "fit",
    ) -> RandomTreesBag:
        # Imported late: numba takes a second to load, which `import clearbands` should not.
        from clearbands.engine.random_trees import fit_random_trees_bag

        return fit_random_trees_bag(
            X,
            y,
            counts,
            Grains.of(weight),
            n_trees=self.n_trees,
            min_samples_leaf=self.min_samples_leaf,
            seeds=member_seeds(self.random_state, len(counts)),
            n_jobs=n_jobs,
            stage=stage,
        )
