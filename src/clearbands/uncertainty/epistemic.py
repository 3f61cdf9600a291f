"""The contract of an epistemic part, and ensembles that meet it by what their members predict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from clearbands.engine.quantiles import present_quantiles, sorted_quantiles
from clearbands.rows.bands import distances
from clearbands.rows.chunks import chunks, concatenate, row_chunks
from clearbands.rows.draws import Draws, compact_unseen
from clearbands.rows.levels import check_levels, normal_distances, tails
from clearbands.rows.typed import TableLike

SPREADS = ("quantiles", "gaussian")


class CenterAndWidths(NamedTuple):
    """The center and the epistemic widths of some rows."""

    center: np.ndarray  # (n,)
    widths: np.ndarray  # (n, 2, k): epistemic distances below and above at the k levels


class EpistemicPart(RegressorMixin, BaseEstimator, ABC):
    """What every epistemic part must do: learn from X and y, and give a center and widths.

    A subclass writes `fit` and `predict_with_widths`. `fit(X, y, validation=None)` trains on X and
    y; `validation`, a pair (X, y), may choose between models, but it must not train one. A part
    whose `fit` also takes `sample_weight` (n,) can be used with rows that count differently.
    `confidence_level` is a parameter that `ClearRegressor` sets.

    Examples
    --------
    A center that is the mean, and widths that shrink with the number of rows:

    >>> import numpy as np
    >>> from clearbands import EpistemicPart
    >>> from clearbands.uncertainty.epistemic import CenterAndWidths
    >>> class Mean(EpistemicPart):
    ...     def __init__(self, confidence_level=0.9):
    ...         self.confidence_level = confidence_level
    ...     def fit(self, X, y, *, validation=None):
    ...         self.mean_, self.width_ = np.mean(y), np.std(y) / np.sqrt(len(y))
    ...         return self
    ...     def predict_with_widths(self, X):
    ...         return CenterAndWidths(
    ...             np.full(len(X), self.mean_), np.full((len(X), 2, 1), self.width_)
    ...         )
    >>> Mean().fit([[0.0], [1.0]], [2.0, 4.0]).predict([[5.0]])
    array([3.])
    """

    confidence_level: float | Sequence[float]
    fitted_elsewhere: bool = False
    """Whether the models were fitted before, on rows that nobody here knows."""
    learns_categories: bool = False
    """Whether members learn what categories are worth, so that X may hold codes of them."""

    @abstractmethod
    def fit(
        self, X: TableLike, y: ArrayLike, *, validation: tuple[Any, Any] | None = None
    ) -> EpistemicPart: ...

    @abstractmethod
    def predict_with_widths(self, X: TableLike) -> CenterAndWidths:
        """Return the center, and how far it may be wrong for lack of training rows."""

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the center (n,)."""
        return self.predict_with_widths(X).center


class CrossPart(EpistemicPart):
    """A part that can predict its training rows as if it had not seen them.

    Calibration on all rows needs such predictions. `fit` also takes `groups`, labels of rows that
    are left out together.
    """

    judges_all: bool = True
    """Whether every row should have members that did not see it."""

    @abstractmethod
    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation: tuple[Any, Any] | None = None,
        groups: np.ndarray | None = None,
    ) -> CrossPart: ...

    @abstractmethod
    def predict_unseen(self, X: TableLike) -> CenterAndWidths:
        """Predict the training rows, in order, by members that did not see them; NaN if all did."""

    @abstractmethod
    def predict_like_unseen(self, X: TableLike) -> CenterAndWidths:
        """Predict new rows by all members, with widths of the same kind as in `predict_unseen`."""

    def surplus_variance(self, unseen: CenterAndWidths) -> np.ndarray:
        """Return by how much the centers of unseen rows vary more than those of new rows, (n,).

        Few members did not see a training row, while all members predict a new row, and the mean of
        more members errs less. The result is 0 where a part cannot tell.
        """
        return np.zeros(len(unseen.center))


class Ensemble(EpistemicPart):
    """An epistemic part that is made of members, whose disagreement is the ignorance.

    The center is the median of the members, and the widths reach from there to their outer
    quantiles. A subclass writes `fit` and `predict_members`.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import Ensemble
    >>> class ThreeLines(Ensemble):
    ...     def __init__(self, confidence_level=0.9):
    ...         self.confidence_level = confidence_level
    ...     def fit(self, X, y, *, validation=None):
    ...         return self
    ...     def predict_members(self, X):
    ...         return np.asarray(X)[:, :1] * [0.0, 1.0, 2.0]
    >>> ThreeLines().predict(np.array([[1.0], [3.0]]))
    array([1., 3.])
    """

    spread: str = "quantiles"

    @abstractmethod
    def predict_members(self, X: TableLike) -> np.ndarray:
        """Return the predictions (n, m) of the m members."""

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the median of the members (n,)."""
        return concatenate(
            [sorted_quantiles(self.predict_members(rows), [0.5])[:, 0] for rows in chunks(X)]
        )

    def predict_with_widths(self, X: TableLike) -> CenterAndWidths:
        """Return the median of the members, and widths to their alpha/2 and 1 - alpha/2 points.

        If the part has `spread="gaussian"`, the widths are the standard deviation of the members
        times a quantile of the normal distribution.
        """
        return self._summary(X, n_parts=1)

    def _summary(self, X: TableLike, n_parts: int) -> CenterAndWidths:
        levels = check_levels(self.confidence_level)
        summaries = []
        for rows in chunks(X):
            members = self.predict_members(rows)
            summaries.append(to_columns(*center_and_widths(members, levels, self.spread, n_parts)))
        return from_columns(concatenate(summaries))


class OutOfBagEnsemble(Ensemble):
    """An ensemble whose members each saw one of the `draws_` of the training rows."""

    draws_: Draws

    def predict_out_of_bag(self, X: TableLike) -> np.ndarray:
        """Return the center (n,) of each training row over the members that did not see it.

        X holds the rows of `fit` in their order. The result is NaN where every member saw the row.
        """
        return self.predict_training(X)[1]

    def predict_training(self, X: TableLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the centers of training rows: over all members, and over those without the row."""
        centers = []
        for rows in row_chunks(self._check_training_rows(X)):
            members = self.predict_members(_safe_indexing(X, rows))
            unseen = compact_unseen(members, Draws(self.draws_.counts[:, rows]))
            centers.append((sorted_quantiles(members, [0.5])[:, 0], _median_of_present(unseen)))
        center, unseen_center = (np.concatenate(parts) for parts in zip(*centers, strict=True))
        return center, unseen_center

    def _check_training_rows(self, X: TableLike) -> int:
        check_is_fitted(self, "draws_")
        n = self.draws_.counts.shape[1]
        if _num_samples(X) != n:
            raise ValueError(
                f"X must be the {n:,} rows given to fit, in their order; "
                f"got {_num_samples(X):,} rows."
            )
        return n


class ResampledEnsemble(OutOfBagEnsemble, CrossPart):
    """An ensemble whose members know nothing of their unseen rows, which can thus calibrate.

    The outermost of 37 members lie closer together than the outermost of 100. To make the widths of
    new rows comparable with those of calibration rows, `predict_like_unseen` divides the members
    into parts that are as large as the number of members that did not see a training row. It
    averages the widths over these parts.
    """

    def predict_unseen(self, X: TableLike) -> CenterAndWidths:
        """Predict the training rows, each by the members that did not see it; NaN if all saw it."""
        levels, summaries = check_levels(self.confidence_level), []
        for rows in row_chunks(self._check_training_rows(X)):
            draws = Draws(self.draws_.counts[:, rows])
            members = self._predict_unseen_members(_safe_indexing(X, rows), draws)
            summaries.append(to_columns(*center_and_widths(members, levels, self.spread, 1)))
        return from_columns(np.concatenate(summaries))

    def predict_like_unseen(self, X: TableLike) -> CenterAndWidths:
        """Predict new rows by all members, with widths of the same kind as in `predict_unseen`."""
        n_parts = round(len(self.draws_) / max(self.draws_.unseen_per_row, 1))
        return self._summary(X, n_parts=max(1, n_parts))

    def surplus_variance(self, unseen: CenterAndWidths) -> np.ndarray:
        """Return the variance that the mean of few members has beyond that of the mean of all."""
        if self.spread != "gaussian":
            return np.zeros(len(unseen.center))
        deviation = (
            unseen.widths[:, 0, 0] / normal_distances(check_levels(self.confidence_level))[0]
        )
        n_then, n_now = max(self.draws_.unseen_per_row, 1.0), len(self.draws_)
        return deviation**2 * (1 / n_then - 1 / n_now)

    def _predict_unseen_members(self, X: TableLike, draws: Draws) -> np.ndarray:
        return compact_unseen(self.predict_members(X), draws)


def center_and_widths(
    members: np.ndarray, levels: Sequence[float], spread: str, n_parts: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return center and widths of members (n, m), of which NaN are absent.

    The widths are means over `n_parts` parts of the members.
    """
    center = present_quantiles(members, [0.5])[:, 0]
    if spread == "gaussian":
        deviation = _mean_deviation(members, n_parts)
        widths = deviation[:, None, None] * normal_distances(levels)
        return center, np.repeat(widths, 2, axis=1)
    parts = (members[:, part::n_parts] for part in range(n_parts))
    return center, np.mean([_outer_distances(part, levels) for part in parts], axis=0)


def _mean_deviation(members: np.ndarray, n_parts: int) -> np.ndarray:
    """Return the mean deviation over parts of the members (n,); equal parts take one step."""
    n_rows, n_members = members.shape
    if n_members % n_parts == 0:
        by_part = np.ascontiguousarray(members.T).reshape(-1, n_parts, n_rows)
        return _deviation(by_part).mean(axis=0)
    parts = (members[:, part::n_parts] for part in range(n_parts))
    return np.mean([_deviation(part.T) for part in parts], axis=0)


def _outer_distances(members: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """Return distances (n, 2, k) from the median of the members to their outer points."""
    ends = np.array([tails(level) for level in levels])
    points = present_quantiles(members, [0.5, *ends[:, 0], *ends[:, 1]])
    lower, upper = np.split(points[:, 1:], 2, axis=1)
    return distances(points[:, 0], lower, upper)


def _deviation(members: np.ndarray) -> np.ndarray:
    """Return the deviation (...) of the members (m, ...) that are not NaN; 0 for a single one.

    It is also exactly 0 where all members agree: rounding would leave a tiny deviation, and
    calibration may multiply it by 1e15.
    """
    is_missing = np.isnan(members)
    if len(members) > 1 and not is_missing.any():
        agree = (members == members[:1]).all(axis=0)
        return np.where(agree, 0.0, members.std(axis=0, ddof=1))
    n_present = np.count_nonzero(~is_missing, axis=0)
    mean = np.nansum(members, axis=0) / np.maximum(n_present, 1)
    squares = np.nansum((members - mean) ** 2, axis=0)
    deviation = np.sqrt(squares / np.maximum(n_present - 1, 1))
    smallest = np.where(is_missing, np.inf, members).min(axis=0)
    largest = np.where(is_missing, -np.inf, members).max(axis=0)
    return np.where(n_present > 0, np.where(smallest == largest, 0.0, deviation), np.nan)


def _median_of_present(members: np.ndarray) -> np.ndarray:
    """Return the median of the members that are not NaN (n,); NaN if there are none."""
    center = np.full(len(members), np.nan)
    some = ~np.isnan(members).all(axis=1)
    center[some] = np.nanmedian(members[some], axis=1)
    return center


def to_columns(center: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return center and widths side by side, (n, 1 + 2 k), so that chunks of rows can be joined."""
    return np.column_stack([center, widths.reshape(len(center), -1)])


def from_columns(summary: np.ndarray) -> CenterAndWidths:
    return CenterAndWidths(summary[:, 0], summary[:, 1:].reshape(len(summary), 2, -1))


def predict_columns(part: EpistemicPart, X: TableLike) -> np.ndarray:
    """Return the center and the widths that the part predicts, side by side."""
    return to_columns(*part.predict_with_widths(X))
