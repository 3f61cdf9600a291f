"""Unseen rows in the order of time: one copy of the part per block, fitted on what came before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from clearbands.models.bagging import set_up
from clearbands.rows.checks import check_levels, check_table, check_target
from clearbands.rows.time_order import places, say_forward, stages
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_sample_weight, fit_weighted
from clearbands.uncertainty.epistemic import (
    CenterAndWidths,
    CrossPart,
    EpistemicPart,
    say_flat,
    unflat,
)


class ForwardFitted(CrossPart):
    """Any epistemic part; a row is judged by what would have been known before it.

    The rows come in the order of time. Each block of them is judged by a copy of the part that was
    fitted on the rows before it, and new rows by one that was fitted on all. The first block is
    judged by none. Copies have fewer members where the part knows how to do with fewer. They saw
    fewer rows than the last and are somewhat less certain, so what is calibrated on them is rather
    too wide than too short.

    Parameters
    ----------
    part : epistemic part
    gap : int
        How many moments before a block train no copy that judges it.
    confidence_level : float or list of float
    n_jobs, random_state
        As in scikit-learn, handed to a part that leaves them open.

    Attributes
    ----------
    part_ : the copy that was fitted on all rows

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import FoldedEnsemble
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.arange(40.0)[:, None]
    >>> part = ForwardFitted(FoldedEnsemble(LinearRegression()), random_state=0).fit(X, X[:, 0])
    >>> np.flatnonzero(np.isnan(part.predict_unseen(X).center)).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """

    judges_all = False

    def __init__(
        self,
        part: EpistemicPart,
        gap: int = 0,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.part = part
        self.gap = gap
        self.confidence_level = confidence_level
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation: tuple[Any, Any] | None = None,
        groups: np.ndarray | None = None,
    ) -> ForwardFitted:
        """`groups` (n,), where given, are the places of the rows in time, which do not fall."""
        X = check_table(self, X, reset=True)
        y = check_target(y, X)
        weight = check_sample_weight(sample_weight, len(y))
        place = places(len(y)) if groups is None else groups
        rng = check_random_state(self.random_state)
        self.part_ = set_up(self.part, check_levels(self.confidence_level), self.n_jobs, rng)
        copy = self.part_.lighter() if hasattr(self.part_, "lighter") else self.part_
        self.unseen_ = say_forward(copy, X, y, stages(place, self.gap), say_flat, weight)
        fit_weighted(self.part_, X, y, weight)
        return self

    def predict(self, X: TableLike) -> np.ndarray:
        check_is_fitted(self, "part_")
        return self.part_.predict(X)

    def predict_with_widths(self, X: TableLike) -> CenterAndWidths:
        check_is_fitted(self, "part_")
        return self.part_.predict_with_widths(X)

    def predict_like_unseen(self, X: TableLike) -> CenterAndWidths:
        return self.predict_with_widths(X)

    def predict_unseen(self, X: TableLike) -> CenterAndWidths:
        """The training rows, in their order; NaN in the first block."""
        check_is_fitted(self, "part_")
        n = len(self.unseen_)
        if _num_samples(X) != n:
            raise ValueError(
                f"X must be the {n:,} rows given to fit, in their order; got {_num_samples(X):,}."
            )
        return unflat(self.unseen_)

    @property
    def winner_(self) -> BaseEstimator:
        """The model that won the center, of parts that have one."""
        return self.part_.winner_
