"""Noise in the order of time: rows are judged by a copy that knew only earlier residuals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.models.bagging import set_up
from clearbands.rows.checks import check_levels, check_table, check_target
from clearbands.rows.time_order import places, say_forward, stages
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_sample_weight, fit_weighted
from clearbands.uncertainty.aleatoric import AleatoricPart, ResampledPart


class ForwardFittedNoise(ResampledPart):
    """Any aleatoric part, as `clearbands.uncertainty.forward.ForwardFitted` has any epistemic one.

    Parameters
    ----------
    part : aleatoric part
    gap : int
        How many moments before a block train no copy that judges it.
    confidence_level : float or list of float
    n_jobs, random_state
        As in scikit-learn, handed to a part that leaves them open.

    Attributes
    ----------
    part_ : the copy that was fitted on all rows
    """

    def __init__(
        self,
        part: AleatoricPart,
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
        residual: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: np.ndarray | None = None,
    ) -> ForwardFittedNoise:
        """`groups` (n,), where given, are the places of the rows in time, which do not fall."""
        X = check_table(self, X, reset=True)
        residual = check_target(residual, X)
        weight = check_sample_weight(sample_weight, len(residual))
        place = places(len(residual)) if groups is None else groups
        rng = check_random_state(self.random_state)
        self.part_ = set_up(self.part, check_levels(self.confidence_level), self.n_jobs, rng)
        blocks = stages(place, self.gap)
        self.unseen_ = say_forward(self.part_, X, residual, blocks, _say, weight)
        fit_weighted(self.part_, X, residual, weight)
        return self

    def predict_widths(self, X: TableLike) -> np.ndarray:
        check_is_fitted(self, "part_")
        return self.part_.predict_widths(X)

    def predict_unseen_widths(self, X: TableLike) -> np.ndarray:
        """Of the training rows, in their order; NaN in the first block."""
        check_is_fitted(self, "part_")
        return self.unseen_


def _say(part: AleatoricPart, X: TableLike) -> np.ndarray:
    return part.predict_widths(X)
