"""Unseen rows for aleatoric parts without members that know what they saw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from clearbands.aleatoric.base import AleatoricPart, ResampledPart
from clearbands.bagging import Folds, seed_missing
from clearbands.checks import check_count, check_table, check_target
from clearbands.weighting import check_sample_weight, fit_weighted

N_FOLDS = 5


class CrossFittedNoise(ResampledPart):
    """Any aleatoric part, fitted once without each fold; new rows get the mean of the widths.

    Parameters
    ----------
    part : aleatoric part
    n_folds : int
    confidence_level : float or list of float
    random_state
        As in scikit-learn.

    Attributes
    ----------
    parts_ : list of fitted copies, one for each fold
    """

    def __init__(
        self,
        part: AleatoricPart,
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
        residual: Any,
        sample_weight: Any = None,
        *,
        together: np.ndarray | None = None,
    ) -> CrossFittedNoise:
        """Rows of one label in `together`, where given, are left out together."""
        check_count(self.n_folds, "n_folds", smallest=2)
        X = check_table(self, X, reset=True)
        residual = check_target(residual, X)
        weight = check_sample_weight(sample_weight, len(residual))
        rng = check_random_state(self.random_state)
        self.draws_ = Folds.draw(len(residual), self.n_folds, 1, rng, together)
        part = clone(self.part).set_params(confidence_level=self.confidence_level)
        part = seed_missing(part, rng)
        self.parts_ = []
        for seen in self.draws_.counts:
            rows = np.flatnonzero(seen)
            own = None if weight is None else weight[rows]
            fitted = fit_weighted(clone(part), _safe_indexing(X, rows), residual[rows], own)
            self.parts_.append(fitted)
        return self

    def predict_widths(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "parts_")
        X = check_table(self, X, reset=False)
        return np.mean([part.predict_widths(X) for part in self.parts_], axis=0)

    def predict_unseen_widths(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "parts_")
        X = check_table(self, X, reset=False)
        n, widths = _num_samples(X), None
        for part, unseen in zip(self.parts_, self.draws_.unseen, strict=True):
            rows = np.flatnonzero(unseen)
            found = part.predict_widths(_safe_indexing(X, rows))
            if widths is None:
                widths = np.empty((n, *found.shape[1:]))
            widths[rows] = found
        assert widths is not None
        return widths
