"""Unseen rows for parts that have no members of their own to ask: one copy of the part per fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from clearbands.bagging import Folds, seed_missing
from clearbands.checks import check_count, check_table, check_target
from clearbands.epistemic.base import CenterAndWidths, CrossPart, EpistemicPart
from clearbands.weighting import check_sample_weight, fit_weighted

N_FOLDS = 5


class CrossFitted(CrossPart):
    """Any epistemic part, fitted once without each fold; new rows get the mean of what all say.

    Parameters
    ----------
    part : epistemic part
    n_folds : int
        Fewer rows than folds make as many folds as rows.
    confidence_level : float or list of float
    random_state
        As in scikit-learn.

    Attributes
    ----------
    parts_ : list of fitted copies, one for each fold
    """

    def __init__(
        self,
        part: EpistemicPart,
        n_folds: int = N_FOLDS,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        random_state: Any = None,
    ) -> None:
        self.part = part
        self.n_folds = n_folds
        self.confidence_level = confidence_level
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        validation: tuple[Any, Any] | None = None,
        together: np.ndarray | None = None,
    ) -> CrossFitted:
        """Rows of one label in `together`, where given, are left out together."""
        check_count(self.n_folds, "n_folds", smallest=2)
        X = check_table(self, X, reset=True)
        y = check_target(y, X)
        weight = check_sample_weight(sample_weight, len(y))
        rng = check_random_state(self.random_state)
        self.draws_ = Folds.draw(len(y), self.n_folds, 1, rng, together)
        part = clone(self.part).set_params(confidence_level=self.confidence_level)
        part = seed_missing(part, rng)
        self.parts_ = []
        for seen in self.draws_.counts:
            rows = np.flatnonzero(seen)
            own = None if weight is None else weight[rows]
            self.parts_.append(fit_weighted(clone(part), _safe_indexing(X, rows), y[rows], own))
        return self

    def predict_with_widths(self, X: Any) -> CenterAndWidths:
        check_is_fitted(self, "parts_")
        X = check_table(self, X, reset=False)
        said = [part.predict_with_widths(X) for part in self.parts_]
        return CenterAndWidths(*(np.mean(values, axis=0) for values in zip(*said, strict=True)))

    def predict_like_unseen(self, X: Any) -> CenterAndWidths:
        return self.predict_with_widths(X)

    def predict_unseen(self, X: Any) -> CenterAndWidths:
        check_is_fitted(self, "parts_")
        X = check_table(self, X, reset=False)
        center: np.ndarray = np.empty(_num_samples(X))
        widths = None
        for part, unseen in zip(self.parts_, self.draws_.unseen, strict=True):
            rows = np.flatnonzero(unseen)
            said = part.predict_with_widths(_safe_indexing(X, rows))
            if widths is None:
                widths = np.empty((len(center), *said.widths.shape[1:]))
            center[rows], widths[rows] = said.center, said.widths
        assert widths is not None
        return CenterAndWidths(center, widths)


class FittedElsewhere(CrossPart):
    """A part that nothing here trains: all rows are taken for unseen, which its owner must know."""

    def __init__(
        self, part: EpistemicPart, *, confidence_level: float | Sequence[float] = 0.9
    ) -> None:
        self.part = part
        self.confidence_level = confidence_level

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        validation: tuple[Any, Any] | None = None,
        together: np.ndarray | None = None,
    ) -> FittedElsewhere:
        part = clone(self.part).set_params(confidence_level=self.confidence_level)
        self.part_ = part.fit(X, y)
        return self

    def predict_with_widths(self, X: Any) -> CenterAndWidths:
        check_is_fitted(self, "part_")
        return self.part_.predict_with_widths(X)

    def predict_like_unseen(self, X: Any) -> CenterAndWidths:
        return self.predict_with_widths(X)

    def predict_unseen(self, X: Any) -> CenterAndWidths:
        return self.predict_with_widths(X)


def as_cross_part(part: Any) -> Any:
    """The part itself if it can judge rows as unseen, else wrapped so that it can."""
    if isinstance(part, CrossPart):
        return part
    return FittedElsewhere(part) if part.fitted_elsewhere else CrossFitted(part)
