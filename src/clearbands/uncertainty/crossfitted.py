"""Unseen rows for parts that have no members of their own to ask: one copy of the part per fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from clearbands.rows.typed import TableLike
from clearbands.uncertainty.crossfitting import FoldCopies
from clearbands.uncertainty.epistemic import (
    CenterAndWidths,
    CrossPart,
    EpistemicPart,
    say_flat,
    unflat,
)


class CrossFitted(FoldCopies, CrossPart):
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

    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation: tuple[Any, Any] | None = None,
        groups: np.ndarray | None = None,
    ) -> CrossFitted:
        """Rows of one label in `groups`, where given, are left out together."""
        self._fit_copies(X, y, sample_weight, groups)
        return self

    def predict_with_widths(self, X: TableLike) -> CenterAndWidths:
        return unflat(self._ask_all(say_flat, X))

    def predict_like_unseen(self, X: TableLike) -> CenterAndWidths:
        return self.predict_with_widths(X)

    def predict_unseen(self, X: TableLike) -> CenterAndWidths:
        return unflat(self._ask_unseen(say_flat, X))


class FittedElsewhere(CrossPart):
    """A part that nothing here trains: all rows are taken for unseen, which its owner must know."""

    def __init__(
        self, part: EpistemicPart, *, confidence_level: float | Sequence[float] = 0.9
    ) -> None:
        self.part = part
        self.confidence_level = confidence_level

    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation: tuple[Any, Any] | None = None,
        groups: np.ndarray | None = None,
    ) -> FittedElsewhere:
        part = clone(self.part).set_params(confidence_level=self.confidence_level)
        self.part_ = part.fit(X, y)
        return self

    def predict_with_widths(self, X: TableLike) -> CenterAndWidths:
        check_is_fitted(self, "part_")
        return self.part_.predict_with_widths(X)

    def predict_like_unseen(self, X: TableLike) -> CenterAndWidths:
        return self.predict_with_widths(X)

    def predict_unseen(self, X: TableLike) -> CenterAndWidths:
        return self.predict_with_widths(X)


def as_cross_part(part: BaseEstimator) -> CrossPart:
    """The part itself if it can judge rows as unseen, else wrapped so that it can."""
    if isinstance(part, CrossPart):
        return part
    return FittedElsewhere(part) if part.fitted_elsewhere else CrossFitted(part)
