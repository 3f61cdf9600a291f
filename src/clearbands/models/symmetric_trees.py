"""Gradient boosting with symmetric trees, which are fast to fit and faster to predict."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from clearbands.engine.binning import MAX_BINS
from clearbands.engine.grains import Grains
from clearbands.models.center_model import CenterModel
from clearbands.models.monotone import Monotone, check_monotone, directions
from clearbands.models.seeds import member_seeds
from clearbands.rows.checks import check_count
from clearbands.rows.typed import Seed

if TYPE_CHECKING:
    from clearbands.engine.symmetric import GrowingBag, SymmetricBag

LOSSES = ("squared", "absolute")
MAX_DEPTH = 10
MAX_L2 = 1e6
MANY_COLUMNS = 64  # with so many columns, half of them are enough for each tree
RATE_BY_TREES = 0.61  # the learning rate falls with this power of the number of trees


class SymmetricTrees(CenterModel):
    """Boosted trees whose nodes of one level all ask the same question.

    Only the order of the values of a column matters, so a rising transformation of a column changes
    nothing except the points between training values at which trees split.

    Parameters
    ----------
    loss : {"squared", "absolute"}
        The loss that the trees make small: with "squared" leaves hold means of residuals, and with
        "absolute" they hold medians.
    n_trees : int
        How many trees are grown.
    max_depth : int
        How many questions a tree asks, at most 10; it has 2^max_depth leaves.
    learning_rate : float or "auto"
        How far a leaf moves the prediction, as a share of the way to its mean or median. "auto"
        rises slowly with the number of rows and falls with the number of trees; it is twice what
        CatBoost takes, because a bag forgives larger steps.
    l2 : float
        A number that is added to the number of rows in the score of a split and, for squared loss,
        in the mean of a leaf. Larger values favour larger leaves and smaller steps.
    max_bins : int
        Columns with more distinct values than this, at most 256, are split between bins that hold
        about equal shares of the rows. The ends of the bins are drawn anew for every member of a
        bag.
    column_share : float
        The share of the columns that the questions of a tree may be about; they are drawn anew for
        every tree. A smaller share makes trees cheaper, and less alike.
    monotone : dict or sequence, optional
        Columns with which the prediction rises (1) or falls (-1), other things being equal: by name
        or number as in {0: 1}, or one of -1, 0, 1 per column. This holds for any two rows.
    random_state : int, RandomState or None
        The seed that decides where bins end, and which columns trees ask about.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 60).reshape(-1, 1)
    >>> SymmetricTrees(n_trees=20).fit(X, X[:, 0] ** 2).predict(X).shape
    (60,)

    With `monotone`, a prediction rises although the target falls in places:

    >>> rising = SymmetricTrees(n_trees=20, monotone={0: 1}).fit(X, np.sin(9 * X[:, 0]))
    >>> bool((np.diff(rising.predict(X)) >= 0).all())
    True
    """

    supports_monotone = True
    streams_files = True

    def __init__(
        self,
        loss: str = "squared",
        *,
        n_trees: int = 400,
        max_depth: int = 6,
        learning_rate: float | str = "auto",
        l2: float = 3.0,
        max_bins: int = 128,
        column_share: float = 1.0,
        monotone: Monotone = None,
        random_state: Seed = None,
    ) -> None:
        self.loss = loss
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.l2 = l2
        self.max_bins = max_bins
        self.column_share = column_share
        self.monotone = monotone
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
    ) -> SymmetricBag:
        """Fit one member per row of `counts` (b, n): how often each row of X counts.

        `weight` (n,) is what a row counts each time. The arguments and the parameters are checked
        already.
        """
        return self.start_bag(X, y, counts, weight=weight).grow(
            self.n_trees, n_jobs=n_jobs, stage=stage, goes_on=False
        )

    def start_bag(
        self,
        X: np.ndarray,
        y: np.ndarray,
        counts: np.ndarray,
        *,
        weight: np.ndarray | None = None,
        n_jobs: int | None = None,
        stage: str = "fit",
    ) -> GrowingBag:
        """Return the members before their first tree; trees are added a few at a time."""
        names = getattr(self, "feature_names_in_", range(X.shape[1]))
        grains = Grains.of(weight)
        # Imported late: numba takes a second to load, which `import clearbands` should not.
        from clearbands.engine.symmetric import GrowingBag, Rule

        return GrowingBag.start(
            X,
            y,
            counts,
            grains,
            rule=Rule(
                0, self.max_depth, 0.0, float(self.l2) * grains.per_one, self.loss == "absolute"
            ),
            learning_rates=self._learning_rates(grains.drawn(counts)),
            max_bins=self.max_bins,
            column_share=self.column_share,
            seeds=member_seeds(self.random_state, len(counts)),
            direction=directions(self.monotone, list(names)),
        )

    def shortened(self, n_trees: int, n_rows: float) -> SymmetricTrees:
        """Return the model with only its first trees, at the learning rate for so many rows."""
        rate = self._learning_rates(np.array([n_rows]))[0]
        return clone(self).set_params(n_trees=n_trees, learning_rate=float(rate))

    def finer(self, n_columns: int) -> SymmetricTrees:
        """Return the model, unfitted, with twice the trees and smaller steps, as "auto" sets them.

        If there are many columns, each tree asks about half of them and costs half as much.
        """
        rate, share = self.learning_rate, self.column_share
        return clone(self).set_params(
            n_trees=2 * self.n_trees,
            learning_rate=rate if isinstance(rate, str) else float(rate) * 0.5**RATE_BY_TREES,
            column_share=share / 2 if n_columns >= MANY_COLUMNS else share,
        )

    def _learning_rates(self, n_rows: np.ndarray) -> np.ndarray:
        return learning_rates(self.learning_rate, n_rows, self.n_trees)

    def check_parameters(self) -> None:
        if self.loss not in LOSSES:
            allowed = " or ".join(map(repr, LOSSES))
            raise ValueError(f"loss must be {allowed}, got {self.loss!r}.")
        check_trees(self, self.n_trees)
        check_monotone(self.monotone)
        share = self.column_share
        if not (isinstance(share, Real) and 0 < float(share) <= 1):
            raise ValueError(f"column_share must be above 0 and at most 1, got {share!r}.")
        if not (isinstance(self.l2, Real) and 0 <= float(self.l2) <= MAX_L2):
            raise ValueError(f"l2 must be a number from 0 to {MAX_L2:g}, got {self.l2!r}.")


def check_trees(model: BaseEstimator, n_trees: Any) -> None:
    """Raise for invalid parameters that symmetric trees of any loss have."""
    check_count(n_trees, "n_trees")
    check_count(model.max_depth, "max_depth", largest=MAX_DEPTH)
    check_count(model.max_bins, "max_bins", smallest=2, largest=MAX_BINS)
    rate = model.learning_rate
    if rate != "auto" and not (isinstance(rate, Real) and 0 < float(rate) <= 1):
        raise ValueError(
            f'learning_rate must be "auto" or a number above 0 and at most 1, got {rate!r}.'
        )


def learning_rates(rate: float | str, n_rows: np.ndarray, n_trees: int) -> np.ndarray:
    """Return the learning rates (b,) of members that see `n_rows` (b,) rows, as these count."""
    return np.full(len(n_rows), float(rate)) if rate != "auto" else automatic_rate(n_rows, n_trees)


def automatic_rate(n_rows: np.ndarray, n_trees: int) -> np.ndarray:
    """Return twice CatBoost's learning rate for as many rows and trees, but at most 0.5."""
    catboost = np.exp(0.157 * np.log(n_rows) - 4.062) * (1000 / n_trees) ** RATE_BY_TREES
    return np.minimum(0.5, 2 * catboost)
