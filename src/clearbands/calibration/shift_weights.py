"""Weights for rows with known targets, learned from the X of new rows."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.utils import Tags, _safe_indexing, check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.models.seeds import seed_missing
from clearbands.rows.checks import check_count
from clearbands.rows.draws import Folds
from clearbands.rows.frames import check_table
from clearbands.rows.typed import Seed, TableLike
from clearbands.tables.encoder import TableEncoder, encode


class ShiftWeights(BaseEstimator):
    """Weights for rows with known targets, so that they represent new rows.

    A classifier tells old rows from new ones. The weight of a row that is as frequent among the new
    rows as among the old ones is 1; where it is three times as frequent, the weight is 3. Every old
    row is judged by a classifier that did not see it. Only X may have changed: if the same X now
    has other targets, no weight helps.

    Give `weights_` as `calibration_weight` to `ClearRegressor.fit`. They are estimates, so the
    coverage of new rows comes near the level, without a guarantee.

    Parameters
    ----------
    classifier : optional
        A classifier of scikit-learn with `predict_proba`; by default shallow boosted trees.
    most : float
        Weights are clipped to between 1 / most and most, so that intervals never depend on a few
        rows alone.
    smallest : int
        The least effective number of rows, (sum of the weights)^2 / sum of their squares. `fit`
        refuses fewer, since hardly any old row is then like the new ones.
    n_folds : int
        How many classifiers there are; each of them sees all rows but one fold.
    encoder : transformer, optional
        Turns tables into numbers; by default a `TableEncoder`.
    random_state
        As in scikit-learn.

    Attributes
    ----------
    weights_ : (n,), the weights of the old rows, which are 1 on average
    effective_size_ : float, the number of rows without weights that would tell as much
    auc_ : float
        How well classifiers tell old rows from new ones that they did not see: 0.5 is by chance.

    Examples
    --------
    New rows have larger x, so the old rows with larger x count more.

    >>> import numpy as np
    >>> from clearbands import ShiftWeights
    >>> rng = np.random.default_rng(0)
    >>> X, X_new = rng.normal(0, 1, (400, 1)), rng.normal(1, 1, (400, 1))
    >>> shift = ShiftWeights(random_state=0).fit(X, X_new)
    >>> large = X[:, 0] > 1
    >>> bool(shift.weights_[large].mean() > 3 * shift.weights_[~large].mean())
    True
    >>> bool(30 < shift.effective_size_ < 400)
    True
    """

    def __init__(
        self,
        classifier: BaseEstimator | None = None,
        *,
        most: float = 20.0,
        smallest: int = 30,
        n_folds: int = 5,
        encoder: BaseEstimator | None = None,
        random_state: Seed = None,
    ) -> None:
        self.classifier = classifier
        self.most = most
        self.smallest = smallest
        self.n_folds = n_folds
        self.encoder = encoder
        self.random_state = random_state

    def fit(self, X: TableLike, X_new: TableLike) -> ShiftWeights:
        """Compare old rows with new rows of the same columns; neither needs targets."""
        self._check_parameters()
        X = check_table(self, X, reset=True)
        X_new = check_table(self, X_new, reset=False)
        encoder = TableEncoder() if self.encoder is None else clone(self.encoder)
        self.encoder_ = encoder.set_output(transform="default").fit(X)
        old, new = (np.asarray(encode(self.encoder_, rows), float) for rows in (X, X_new))
        rng = check_random_state(self.random_state)
        model = _boosting() if self.classifier is None else clone(self.classifier)
        model = seed_missing(model, rng)
        n = len(old)
        rows, is_new = np.concatenate([old, new]), np.repeat([0, 1], [n, len(new)])
        folds = np.concatenate([_fold_of(size, self.n_folds, rng) for size in (n, len(new))])
        self.prior_ = n / len(new)
        self.classifiers_, chance = [], np.empty(len(rows))
        for fold in range(folds.max() + 1):
            seen = folds != fold
            fitted = clone(model).fit(_safe_indexing(rows, np.flatnonzero(seen)), is_new[seen])
            chance[~seen] = _chance_of_new(fitted, rows[~seen])
            self.classifiers_.append(fitted)
        self.auc_ = float(roc_auc_score(is_new, chance))
        weights = self._ratio(chance[:n])
        self.scale_ = float(weights.mean())
        self.weights_ = weights / self.scale_
        self.effective_size_ = float(self.weights_.sum() ** 2 / np.sum(self.weights_**2))
        self._check_size(n)
        return self

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the weights (n,) of other rows, in the unit of `weights_`, by all classifiers."""
        check_is_fitted(self, "weights_")
        X = check_table(self, X, reset=False)
        encoded = np.asarray(encode(self.encoder_, X), float)
        chance = np.mean([_chance_of_new(each, encoded) for each in self.classifiers_], axis=0)
        return self._ratio(chance) / self.scale_

    def _check_parameters(self) -> None:
        check_count(self.n_folds, "n_folds", smallest=2)
        check_count(self.smallest, "smallest")
        if not 1 < self.most < np.inf:
            raise ValueError(f"most must be a finite number above 1, got {self.most!r}.")

    def _ratio(self, chance: np.ndarray) -> np.ndarray:
        """Return how many times more often such rows occur among new ones; clipped."""
        with np.errstate(divide="ignore"):
            odds = chance / (1 - chance)
        return np.clip(odds * self.prior_, 1 / self.most, self.most)

    def _check_size(self, n: int) -> None:
        if self.effective_size_ < self.smallest:
            raise ValueError(
                f"With the weights that the new rows need, the {n:,} old rows tell as much as "
                f"{self.effective_size_:.0f} rows, fewer than smallest={self.smallest}: "
                "hardly any old row is like the new ones. Label some of the new rows, or leave out "
                "columns that tell old from new and do not matter, such as dates."
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _boosting() -> HistGradientBoostingClassifier:
    """Return boosted trees that are smooth: chance differences would become weights."""
    return HistGradientBoostingClassifier(
        max_iter=60, max_depth=3, learning_rate=0.1, min_samples_leaf=20, early_stopping=False
    )


def _fold_of(n: int, n_folds: int, rng: np.random.RandomState) -> np.ndarray:
    """Return the fold (n,) that leaves out each row."""
    if n < n_folds:
        raise ValueError(
            f"Old and new rows must be at least n_folds={n_folds} each, got {n}: give more rows."
        )
    return np.argmax(Folds.draw(n, n_folds, 1, rng).unseen, axis=0)


def _chance_of_new(classifier: BaseEstimator, X: np.ndarray) -> np.ndarray:
    return np.asarray(classifier.predict_proba(X), float)[:, 1]
