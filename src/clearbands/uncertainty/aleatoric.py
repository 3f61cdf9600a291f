"""The contract of an aleatoric part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from clearbands.models.bag_model import Bag
from clearbands.models.bagging import JoinedBag, fit_bag
from clearbands.rows.draws import Draws, Folds
from clearbands.rows.typed import TableLike


class AleatoricPart(BaseEstimator, ABC):
    """What every aleatoric part must do: learn from X and residuals, and give widths.

    A subclass writes `fit` and `predict_widths`. The residuals are y - center.
    `confidence_level` is a parameter that `ClearRegressor` sets.

    Examples
    --------
    The same width everywhere:

    >>> import numpy as np
    >>> from clearbands import AleatoricPart
    >>> class Constant(AleatoricPart):
    ...     def __init__(self, confidence_level=0.9):
    ...         self.confidence_level = confidence_level
    ...     def fit(self, X, residual):
    ...         self.width_ = np.quantile(np.abs(residual), self.confidence_level)
    ...         return self
    ...     def predict_widths(self, X):
    ...         return np.full((len(X), 2, 1), self.width_)
    >>> Constant().fit([[0.0], [1.0]], [-1.0, 1.0]).predict_widths([[5.0]])
    array([[[1.],
            [1.]]])
    """

    confidence_level: float | Sequence[float]
    learns_categories: bool = False
    """Whether members learn what categories are worth, so that X may hold codes of them."""

    @abstractmethod
    def fit(self, X: TableLike, residual: ArrayLike) -> AleatoricPart:
        """Learn how far targets scatter around the center.

        A part that also takes `sample_weight` (n,) can be used with rows that count differently.
        """

    @abstractmethod
    def predict_widths(self, X: TableLike) -> np.ndarray:
        """Return distances (n, 2, k) below and above the center at each of the k levels."""


@dataclass(frozen=True)
class NestedRows:
    """Training rows as a member may see them, independent of the rows that it leaves out."""

    folds: Folds  # one fold for each member
    rows_for: Callable[[int], tuple[np.ndarray, np.ndarray]]
    """Return X and residuals of all rows for a member, useless in the rows that it leaves out."""

    def with_residuals(self, transform: Callable[[np.ndarray], np.ndarray]) -> NestedRows:
        """Return the same rows with residuals that `transform` has transformed."""

        def rows_for(fold: int) -> tuple[np.ndarray, np.ndarray]:
            X, residual = self.rows_for(fold)
            return X, transform(residual)

        return replace(self, rows_for=rows_for)


class ResampledPart(AleatoricPart):
    """A part whose members know which training rows they did not see, so these rows can calibrate.

    `fit` also takes `groups`, labels of rows that are left out together.
    """

    takes_nested: bool = False
    """Whether `fit` takes `nested`, the `NestedRows` that the members then learn from."""

    @abstractmethod
    def fit(
        self,
        X: TableLike,
        residual: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: np.ndarray | None = None,
    ) -> ResampledPart: ...

    @abstractmethod
    def predict_unseen_widths(self, X: TableLike) -> np.ndarray:
        """Return widths (n, 2, k) of the training rows, in order, by members that did not see them.

        The result is NaN where every member saw the row.
        """


def fit_members(
    part: Any,
    model: BaseEstimator,
    X: np.ndarray,
    learned: np.ndarray,
    rng: np.random.RandomState,
    *,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
    nested: NestedRows | None,
) -> tuple[Draws, Bag]:
    """Fit members on repeated folds, or on those of `nested`; return also who saw which row.

    They learn `learned` (n,), such as residuals, or the residuals of `nested`.
    """
    options: dict[str, Any] = {"weight": weight, "n_jobs": part.n_jobs, "stage": "aleatoric"}
    if nested is None:
        draws = Folds.draw(len(learned), part.n_folds, part.n_repeats, rng, groups)
        return draws, fit_bag(model, X, learned, draws, groups=groups, **options)
    bags = []
    for fold, counts in enumerate(nested.folds.counts):
        X, learned = nested.rows_for(fold)
        once = Draws(counts[None])
        bags.append(fit_bag(clone(model), X, learned, once, **options))
    return nested.folds, JoinedBag(bags)
