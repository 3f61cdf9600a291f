"""One copy of a part for each fold, fitted without it: every row has a copy that did not see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.models.bagging import Folds, seed_missing
from clearbands.rows.checks import check_count, check_table, check_target
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_sample_weight, fit_weighted

N_FOLDS = 5


class FoldCopies(BaseEstimator):
    """What wrappers of parts without members of their own share: the copies, and whom to ask."""

    draws_: Folds
    parts_: list[BaseEstimator]

    def __init__(
        self,
        part: BaseEstimator,
        n_folds: int = N_FOLDS,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        random_state: Seed = None,
    ) -> None:
        self.part = part
        self.n_folds = n_folds
        self.confidence_level = confidence_level
        self.random_state = random_state

    def _fit_copies(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        groups: np.ndarray | None,
    ) -> None:
        """Rows of one label in `groups`, where given, are left out together."""
        check_count(self.n_folds, "n_folds", smallest=2)
        X = check_table(self, X, reset=True)
        y = check_target(y, X)
        weight = check_sample_weight(sample_weight, len(y))
        rng = check_random_state(self.random_state)
        self.draws_ = Folds.draw(len(y), self.n_folds, 1, rng, groups)
        part = clone(self.part).set_params(confidence_level=self.confidence_level)
        part = seed_missing(part, rng)
        self.parts_ = []
        for seen in self.draws_.counts:
            rows = np.flatnonzero(seen)
            own = None if weight is None else weight[rows]
            self.parts_.append(fit_weighted(clone(part), _safe_indexing(X, rows), y[rows], own))

    def _ask_all(self, ask: Callable[[Any, Any], np.ndarray], X: TableLike) -> np.ndarray:
        """The mean of ask(copy, X) over the copies."""
        check_is_fitted(self, "parts_")
        X = check_table(self, X, reset=False)
        return np.mean([ask(part, X) for part in self.parts_], axis=0)

    def _ask_unseen(self, ask: Callable[[Any, Any], np.ndarray], X: TableLike) -> np.ndarray:
        """ask(copy, rows), of each training row by the copy that did not see it."""
        check_is_fitted(self, "parts_")
        X = check_table(self, X, reset=False)
        left_out = [np.flatnonzero(unseen) for unseen in self.draws_.unseen]
        said = [
            ask(part, _safe_indexing(X, rows))
            for part, rows in zip(self.parts_, left_out, strict=True)
        ]
        return np.concatenate(said)[np.argsort(np.concatenate(left_out))]
