"""Any part, fitted in copies that each leave rows out and then judge them.

`splits` say how: `FoldSplits` leave out one fold each, `ForwardSplits` leave out all later rows,
and `FittedElsewhere` is for models that were fitted before, on rows that nobody here knows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from clearbands.models.protocol import fit_weighted
from clearbands.rows.checks import check_count, check_target
from clearbands.rows.draws import Folds
from clearbands.rows.frames import check_table
from clearbands.rows.levels import check_levels
from clearbands.rows.time_order import time_blocks, time_ranks
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_sample_weight
from clearbands.uncertainty.aleatoric import AleatoricPart, ResampledPart
from clearbands.uncertainty.epistemic import (
    CenterAndWidths,
    CrossPart,
    EpistemicPart,
    from_columns,
    predict_columns,
)
from clearbands.uncertainty.pairs import configured_clone

N_FOLDS = 5


Split = tuple[np.ndarray, np.ndarray]
"""The numbers of the rows that fit a copy of a part, and of those that it judges."""


class Splits(ABC):
    """The ways in which copies of a part leave rows out."""

    trains: bool = True
    refits_on_all_rows: bool = False
    """Whether one more copy, fitted on all rows, predicts new rows, and not the mean of copies."""

    @abstractmethod
    def split(
        self, n_rows: int, groups: np.ndarray | None, rng: np.random.RandomState
    ) -> list[Split]:
        """Return one split for each copy."""


@dataclass(frozen=True)
class FoldSplits(Splits):
    """One copy for each fold, fitted without it; rows of one label in `groups` are in one fold.

    With fewer rows than folds, each row is a fold.
    """

    n_folds: int = N_FOLDS

    def split(
        self, n_rows: int, groups: np.ndarray | None, rng: np.random.RandomState
    ) -> list[Split]:
        check_count(self.n_folds, "n_folds", smallest=2)
        drawn = Folds.draw(n_rows, self.n_folds, 1, rng, groups).counts
        return [(np.flatnonzero(seen), np.flatnonzero(seen == 0)) for seen in drawn]


@dataclass(frozen=True)
class ForwardSplits(Splits):
    """One copy for each block of rows in the order of time, fitted on the rows before it.

    No copy judges the first block. `groups` are the places of the rows in time, in rising order,
    and the last `gap` moments before a block do not train the copy that judges it. The copies saw
    fewer rows than the one that is fitted on all rows, so they are somewhat less certain, and
    intervals that are calibrated with them are too wide rather than too short.
    """

    gap: int = 0
    refits_on_all_rows = True

    def split(
        self, n_rows: int, groups: np.ndarray | None, rng: np.random.RandomState
    ) -> list[Split]:
        blocks = time_blocks(time_ranks(n_rows) if groups is None else groups, self.gap)
        return list(blocks)


@dataclass(frozen=True)
class FittedElsewhere(Splits):
    """A split that trains nothing: all rows count as unseen, which the user must ensure."""

    trains = False

    def split(
        self, n_rows: int, groups: np.ndarray | None, rng: np.random.RandomState
    ) -> list[Split]:
        return [(np.arange(n_rows), np.arange(n_rows))]


class Resampled(BaseEstimator):
    """The base of both kinds of resampled parts: the copies, and how they are asked.

    Parameters
    ----------
    part : epistemic or aleatoric part
    splits : Splits
        Which rows fit which copy, and which rows it judges.
    confidence_level : float or list of float
    n_jobs, random_state
        As in scikit-learn, handed to a part that leaves them open.

    Attributes
    ----------
    parts_ : list of fitted copies
        The copies whose mean predicts new rows: one for each split, or a single one that was fitted
        on all rows.
    """

    def __init__(
        self,
        part: BaseEstimator,
        splits: Splits = FoldSplits(),
        *,
        confidence_level: float | Sequence[float] = 0.9,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.part = part
        self.splits = splits
        self.confidence_level = confidence_level
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_copies(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        groups: np.ndarray | None,
    ) -> None:
        X = check_table(self, X, reset=True)
        y = check_target(y, X)
        weight = check_sample_weight(sample_weight, len(y))
        rng = check_random_state(self.random_state)
        splits = self.splits.split(len(y), groups, rng)
        part = configured_clone(self.part, check_levels(self.confidence_level), self.n_jobs, rng)

        def fitted(part: BaseEstimator, rows: np.ndarray) -> BaseEstimator:
            own = weight[rows] if weight is not None and self.splits.trains else None
            return fit_weighted(part, _safe_indexing(X, rows), y[rows], own)

        self.judged_ = [judged for _, judged in splits]
        self.unseen_: np.ndarray | None = None
        if not self.splits.refits_on_all_rows:
            self.parts_ = [fitted(clone(part), train) for train, _ in splits]
            return
        light = part.lighter() if hasattr(part, "lighter") else part
        unseen = [
            self._predict_copy(fitted(clone(light), train), _safe_indexing(X, judged))
            for train, judged in splits
        ]
        self.unseen_ = np.full((len(y), *unseen[0].shape[1:]), np.nan)
        self.unseen_[np.concatenate(self.judged_)] = np.concatenate(unseen)
        self.parts_ = [fit_weighted(part, X, y, weight)]

    @abstractmethod
    def _predict_copy(self, part: Any, X: TableLike) -> np.ndarray:
        """Return what a fitted copy predicts for rows, (n, ...)."""

    def _predict_mean(self, X: TableLike) -> np.ndarray:
        """Return the mean over the copies."""
        check_is_fitted(self, "parts_")
        X = check_table(self, X, reset=False)
        return np.mean([self._predict_copy(part, X) for part in self.parts_], axis=0)

    def _predict_left_out(self, X: TableLike) -> np.ndarray:
        """Return, for each training row, the prediction by the copy that did not see it, or NaN."""
        check_is_fitted(self, "parts_")
        if self.unseen_ is not None:
            n = len(self.unseen_)
            if _num_samples(X) != n:
                raise ValueError(
                    f"X must be the {n:,} rows given to fit, in their order; got "
                    f"{_num_samples(X):,}."
                )
            return self.unseen_
        X = check_table(self, X, reset=False)
        unseen = [
            self._predict_copy(part, _safe_indexing(X, rows))
            for part, rows in zip(self.parts_, self.judged_, strict=True)
        ]
        return np.concatenate(unseen)[np.argsort(np.concatenate(self.judged_))]


class ResampledEpistemic(Resampled, CrossPart):
    """Any epistemic part in copies, which judge rows that they did not see. See `Resampled`.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import FoldedEnsemble
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.arange(40.0)[:, None]
    >>> folded = FoldedEnsemble(LinearRegression())
    >>> part = ResampledEpistemic(folded, ForwardSplits(), random_state=0).fit(X, X[:, 0])
    >>> np.flatnonzero(np.isnan(part.predict_unseen(X).center)).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """

    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation: tuple[Any, Any] | None = None,
        groups: np.ndarray | None = None,
    ) -> ResampledEpistemic:
        """Fit the copies; `groups` (n,) are labels or places in time, as the splits need."""
        self._fit_copies(X, y, sample_weight, groups)
        return self

    def _predict_copy(self, part: EpistemicPart, X: TableLike) -> np.ndarray:
        return predict_columns(part, X)

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the center (n,)."""
        check_is_fitted(self, "parts_")
        return self.parts_[0].predict(X) if self.splits.refits_on_all_rows else super().predict(X)

    def predict_with_widths(self, X: TableLike) -> CenterAndWidths:
        return from_columns(self._predict_mean(X))

    def predict_like_unseen(self, X: TableLike) -> CenterAndWidths:
        return self.predict_with_widths(X)

    def predict_unseen(self, X: TableLike) -> CenterAndWidths:
        return from_columns(self._predict_left_out(X))

    @property
    def judges_all(self) -> bool:  # type: ignore[override]
        """Whether some copy should judge every training row as unseen."""
        return not self.splits.refits_on_all_rows

    @property
    def winner_(self) -> BaseEstimator:
        """The model that won the center, if the part has one."""
        return self.parts_[0].winner_


class ResampledAleatoric(Resampled, ResampledPart):
    """Any aleatoric part; the noise of a row is learned without it. See `Resampled`."""

    def fit(
        self,
        X: TableLike,
        residual: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: np.ndarray | None = None,
    ) -> ResampledAleatoric:
        """Fit the copies; `groups` (n,) are labels or places in time, as the splits need."""
        self._fit_copies(X, residual, sample_weight, groups)
        return self

    def _predict_copy(self, part: AleatoricPart, X: TableLike) -> np.ndarray:
        return part.predict_widths(X)

    def predict_widths(self, X: TableLike) -> np.ndarray:
        return self._predict_mean(X)

    def predict_unseen_widths(self, X: TableLike) -> np.ndarray:
        return self._predict_left_out(X)


def resampled(part: EpistemicPart, gap: int | None = None) -> CrossPart:
    """Return the part if it can judge rows as unseen, else copies; with a `gap`, in time."""
    if part.fitted_elsewhere and not isinstance(part, CrossPart):
        return ResampledEpistemic(part, FittedElsewhere())
    if gap is not None:
        return ResampledEpistemic(part, ForwardSplits(gap))
    return part if isinstance(part, CrossPart) else ResampledEpistemic(part)


def resampled_noise(part: AleatoricPart, gap: int | None = None) -> ResampledPart:
    """Return the same as `resampled` for an aleatoric part."""
    if gap is not None:
        return ResampledAleatoric(part, ForwardSplits(gap))
    return part if isinstance(part, ResampledPart) else ResampledAleatoric(part)
