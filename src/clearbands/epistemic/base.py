"""From the predictions of an ensemble to a center and epistemic widths."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from clearbands.bagging import Bootstraps, sorted_quantiles
from clearbands.levels import check_levels, tails

PREDICTIONS_AT_ONCE = 2**22  # floats held while the members of a chunk of rows are summed up


class Ensemble(RegressorMixin, BaseEstimator, ABC):
    """The contract of an epistemic part.

    `fit(X, y, validation=None)` trains on X, y; `validation`, a pair (X, y), may choose between
    models but trains none. `predict(X)` is the center, `predict_with_widths(X)` the center and
    the epistemic distances below and above it.
    """

    confidence_level: float | Sequence[float]

    @abstractmethod
    def fit(self, X: Any, y: Any, *, validation: tuple[Any, Any] | None = None) -> Ensemble: ...

    @abstractmethod
    def predict_members(self, X: Any) -> np.ndarray:
        """(n, m): what each of the m members predicts."""

    def predict(self, X: Any) -> np.ndarray:
        """(n,): the median of the members."""
        return self._quantiles_over_members(X, [0.5])[:, 0]

    def predict_with_widths(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The center (n,) and the epistemic widths (n, 2, k) at the k confidence levels.

        The widths reach from the median of the members to their alpha/2 and 1 - alpha/2 points.
        """
        levels = check_levels(self.confidence_level)
        ends = [tail for level in levels for tail in tails(level)]
        points = self._quantiles_over_members(X, [0.5, *ends])
        center, ends_at = points[:, 0], points[:, 1:].reshape(len(points), len(levels), 2)
        below = center[:, None] - ends_at[:, :, 0]
        above = ends_at[:, :, 1] - center[:, None]
        return center, np.maximum(np.stack([below, above], axis=1), 0)

    def _quantiles_over_members(self, X: Any, levels: Sequence[float]) -> np.ndarray:
        return predict_in_chunks(
            lambda chunk: sorted_quantiles(self.predict_members(chunk), levels), X
        )


class BaggedEnsemble(Ensemble):
    """An ensemble whose members each saw one of `bootstraps_` of the training rows."""

    bootstraps_: Bootstraps

    def predict_out_of_bag(self, X: Any) -> np.ndarray:
        """(n,): the center of each training row over the members that did not see it.

        X are the rows given to `fit`, in their order. NaN where every member saw the row.
        """
        return self.predict_training(X)[1]

    def predict_training(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The center of each training row over all members, and the out-of-bag one."""
        check_is_fitted(self, "bootstraps_")
        drawn = self.bootstraps_.counts
        n = drawn.shape[1]
        if _num_samples(X) != n:
            raise ValueError(
                f"X must be the {n:,} rows given to fit, in their order; "
                f"got {_num_samples(X):,} rows."
            )
        centers = []
        for rows in row_chunks(n):
            members = self.predict_members(_safe_indexing(X, rows))
            # Several models are bagged one after the other, on the same bootstraps.
            seen = np.tile(drawn[:, rows].T > 0, members.shape[1] // len(drawn))
            unseen = median_of_unseen(members, seen)
            centers.append((sorted_quantiles(members, [0.5])[:, 0], unseen))
        center, unseen = (np.concatenate(parts) for parts in zip(*centers, strict=True))
        return center, unseen


def predict_in_chunks(predict: Any, X: Any, members: int = 128) -> np.ndarray:
    """predict(X), some thousand rows at a time: what it holds in between stays bounded."""
    chunks = row_chunks(_num_samples(X), members)
    if len(chunks) == 1:
        return predict(X)
    return np.concatenate([predict(_safe_indexing(X, chunk)) for chunk in chunks])


def row_chunks(n: int, members: int = 128) -> list[np.ndarray]:
    """The row numbers 0 .. n - 1 in pieces for which all members' predictions can be held."""
    size = max(1, PREDICTIONS_AT_ONCE // members)
    return [np.arange(start, min(start + size, n)) for start in range(0, n, size)]


def median_of_unseen(members: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """(n,): the median over the members, (n, m), that did not see the row; NaN if all did."""
    center = np.full(len(members), np.nan)
    some = ~seen.all(axis=1)
    center[some] = np.nanmedian(np.where(seen, np.nan, members)[some], axis=1)
    return center
