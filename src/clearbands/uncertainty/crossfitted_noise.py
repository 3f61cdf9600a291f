"""Unseen rows for aleatoric parts without members that know what they saw."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from clearbands.rows.typed import TableLike
from clearbands.uncertainty.aleatoric import AleatoricPart, ResampledPart
from clearbands.uncertainty.crossfitting import FoldCopies


class CrossFittedNoise(FoldCopies, ResampledPart):
    """Any aleatoric part, fitted once without each fold; new rows get the mean of the widths.

    Parameters
    ----------
    part : aleatoric part
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
        residual: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: np.ndarray | None = None,
    ) -> CrossFittedNoise:
        """Rows of one label in `groups`, where given, are left out together."""
        self._fit_copies(X, residual, sample_weight, groups)
        return self

    def predict_widths(self, X: TableLike) -> np.ndarray:
        return self._ask_all(_widths, X)

    def predict_unseen_widths(self, X: TableLike) -> np.ndarray:
        return self._ask_unseen(_widths, X)


def _widths(part: AleatoricPart, X: TableLike) -> np.ndarray:
    return part.predict_widths(X)
