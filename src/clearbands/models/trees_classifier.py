"""Gradient boosting with symmetric trees for classification."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from clearbands.engine.grains import Grains
from clearbands.engine.progress import ignore, listening
from clearbands.models.seeds import member_seeds
from clearbands.models.symmetric_trees import MAX_L2, check_trees, learning_rates
from clearbands.rows.class_labels import likeliest, positions
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_sample_weight, drop_weightless

if TYPE_CHECKING:
    from clearbands.engine.symmetric_classes import SymmetricClassBag

AUTO_TREES = 128


class SymmetricTreesClassifier(ClassifierMixin, BaseEstimator):
    """Boosted trees for classes, whose nodes of one level all ask the same question.

    These are `SymmetricTrees` with a logistic loss. Every round grows one tree for two classes, or
    one tree per class for more. Only the order of the values of a column matters.

    Parameters
    ----------
    n_trees : int or "auto"
        How many rounds of boosting there are. "auto" is 128; in a `ClearClassifier` unseen rows
        choose the number.
    max_depth : int
        How many questions a tree asks, at most 10; it has 2^max_depth leaves.
    learning_rate : float or "auto"
        The share of Newton's step that a leaf takes. "auto" depends on the numbers of rows and
        trees, as in `SymmetricTrees`.
    l2 : float
        A number that is added to the curvature of a leaf, which is at most a quarter per row.
        Larger values favour larger leaves and smaller steps.
    max_bins : int
        Columns with more distinct values than this, at most 256, are split between bins that hold
        about equal shares of the rows. The ends of the bins are drawn anew for every member of a
        bag.
    random_state : int, RandomState or None
        The seed that decides where bins end; nothing else is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 60).reshape(-1, 1)
    >>> y = np.where(X[:, 0] > 0.5, "high", "low")
    >>> model = SymmetricTreesClassifier(n_trees=20).fit(X, y)
    >>> model.predict(X[[0, -1]]).tolist()
    ['low', 'high']
    >>> model.predict_proba(X).shape
    (60, 2)
    """

    def __init__(
        self,
        *,
        n_trees: int | str = "auto",
        max_depth: int = 4,
        learning_rate: float | str = 0.15,
        l2: float = 1.0,
        max_bins: int = 128,
        random_state: Seed = None,
    ) -> None:
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.l2 = l2
        self.max_bins = max_bins
        self.random_state = random_state

    def fit(
        self, X: TableLike, y: Any, sample_weight: ArrayLike | None = None
    ) -> SymmetricTreesClassifier:
        """Fit the model; a row counts as its `sample_weight` (n,) says, by default once."""
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", ensure_min_samples=2)
        weight = check_sample_weight(sample_weight, len(y))
        X, y, weight = drop_weightless(X, y, weight)
        self.classes_, label = positions(y)
        counts = np.ones((1, len(y)), np.uint8)
        with listening(ignore):
            self.bag_ = self.fit_class_bag(X, label, len(self.classes_), counts, weight=weight)
        return self

    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Return the probabilities (n, classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return softmax(self.bag_.predict_logits(X)[:, 0], axis=-1)

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the most probable class (n,)."""
        return likeliest(self.predict_proba(X), self.classes_)

    def fit_class_bag(
        self,
        X: np.ndarray,
        label: np.ndarray,
        n_classes: int,
        counts: np.ndarray,
        *,
        weight: np.ndarray | None = None,
        n_jobs: int | None = None,
        stage: str = "fit",
    ) -> SymmetricClassBag:
        """Fit one member per row of `counts` (b, n): how often each row of X counts.

        `label` (n,) holds positions of classes, and `weight` (n,) is what a row counts each time.
        X and `weight` are checked already.
        """
        n_trees: Any = AUTO_TREES if self.n_trees == "auto" else self.n_trees
        self._check_parameters(n_trees)
        grains = Grains.of(weight)
        # Imported late: numba takes a second to load, which `import clearbands` should not.
        from clearbands.engine.symmetric_classes import fit_symmetric_class_bag

        return fit_symmetric_class_bag(
            X,
            label,
            n_classes,
            counts,
            grains,
            n_trees=n_trees,
            max_depth=self.max_depth,
            learning_rates=learning_rates(self.learning_rate, grains.drawn(counts), n_trees),
            l2=self.l2,
            max_bins=self.max_bins,
            seeds=member_seeds(self.random_state, len(counts)),
            n_jobs=n_jobs,
            stage=stage,
        )

    def _check_parameters(self, n_trees: Any) -> None:
        check_trees(self, n_trees)
        if not (isinstance(self.l2, Real) and 0 < float(self.l2) <= MAX_L2):
            raise ValueError(
                f"l2 must be a number above 0 and at most {MAX_L2:g}, got {self.l2!r}."
            )
