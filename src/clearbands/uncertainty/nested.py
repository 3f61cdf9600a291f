"""Residuals that know nothing of the rows on which a model of the residuals is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from clearbands.models.bagging import fit_bag, predict_unseen
from clearbands.rows.draws import FoldPairs
from clearbands.rows.levels import check_levels
from clearbands.rows.split import Rows
from clearbands.uncertainty.epistemic import CenterAndWidths, center_and_widths
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble


@dataclass(frozen=True)
class NestedPredictions:
    """Predictions of training rows by members that saw neither these rows nor one fold more.

    A model that learns noise from residuals and then judges a row must know nothing of this row.
    The residuals of neighbouring rows would tell of it: a center that saw an odd row is drawn to
    it, and leaves large residuals around it.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 60).reshape(-1, 1)
    >>> from sklearn.linear_model import LinearRegression
    >>> ensemble = FoldedEnsemble(LinearRegression(), random_state=0).fit(X, 2 * X[:, 0])
    >>> nested = NestedPredictions.fit(ensemble, Rows(X, 2 * X[:, 0]), n_folds=5)
    >>> nested.without_fold(0).center.shape
    (60,)
    """

    draws: FoldPairs
    members: np.ndarray  # (n, K - 1): for rows in fold g, those without g and k, by k
    levels: Sequence[float]
    spread: str

    @classmethod
    def fit(cls, ensemble: FoldedEnsemble, rows: Rows, n_folds: int) -> NestedPredictions:
        """Fit members of the kind of a fitted ensemble, one for every two of the folds."""
        rng = check_random_state(ensemble.random_state)
        draws = FoldPairs.draw(len(rows), n_folds, rng, rows.groups)
        bag = fit_bag(
            clone(ensemble.model_),
            rows.X,
            rows.y,
            draws,
            weight=rows.sample_weight,
            groups=rows.groups,
            n_jobs=ensemble.n_jobs,
            stage="nested",
        )
        members = predict_unseen(bag, rows.X, draws)[:, 0]
        return cls(draws, members, check_levels(ensemble.confidence_level), ensemble.spread)

    def without_fold(self, fold: int) -> CenterAndWidths:
        """Return center and widths that know nothing of a fold, whose own rows are useless here.

        The center comes from the one member that saw neither the row nor the fold. The widths come
        from the others. These saw the fold, but all of them did: they differ by other rows.
        """
        own = self.draws.fold
        rows = np.flatnonzero(own != fold)
        place = fold - (own[rows] < fold)
        others = self.members.copy()
        others[rows, place] = np.nan
        center, widths = center_and_widths(others, self.levels, self.spread, 1)
        center[rows] = self.members[rows, place]
        return CenterAndWidths(center, widths)
