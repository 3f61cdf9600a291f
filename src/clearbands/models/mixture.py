"""The weighted sum of several models that are fitted to the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from clearbands.models.bagging import check_model, fit_bag, predict_unseen
from clearbands.models.center_model import CenterModel
from clearbands.models.protocol import repeated
from clearbands.rows.draws import Draws


class Mixture(CenterModel):
    """A weighted mean of models: where they err in different directions, it errs less.

    Parameters
    ----------
    models : list of regressors
        The models to average.
    weights : list of float
        One weight per model. The weights need not add up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyRegressor
    >>> X, y = np.zeros((4, 1)), np.array([0.0, 0.0, 0.0, 4.0])
    >>> both = [DummyRegressor(strategy="mean"), DummyRegressor(strategy="median")]
    >>> Mixture(both, [0.5, 0.5]).fit(X, y).predict(X[:1])
    array([0.5])
    """

    def __init__(self, models: Sequence[Any], weights: Sequence[float]) -> None:
        self.models = models
        self.weights = weights

    def repeated(self, times: float) -> Mixture:
        """Return the mixture, unfitted, with `times` as many trees in models that average trees."""
        return clone(self).set_params(models=[repeated(model, times) for model in self.models])

    def check_parameters(self) -> None:
        if len(self.models) != len(self.weights) or not len(self.models):
            raise ValueError(
                f"There must be a weight for every model, and at least one; got "
                f"{len(self.models)} models and {len(self.weights)} weights."
            )
        for model in self.models:
            check_model(model)

    def fit_bag(
        self,
        X: np.ndarray,
        y: np.ndarray,
        counts: np.ndarray,
        *,
        weight: np.ndarray | None = None,
        n_jobs: int | None = None,
        stage: str = "fit",
    ) -> MixedBag:
        """Fit one member per row of `counts` (b, n): how often each row of X counts."""
        draws = Draws(counts)
        options: dict[str, Any] = {"weight": weight, "n_jobs": n_jobs, "stage": stage}
        bags = [fit_bag(clone(model), X, y, draws, **options) for model in self.models]
        return MixedBag(bags, np.asarray(self.weights, float))


@dataclass(frozen=True)
class MixedBag:
    """The weighted sum of bags on the same draws, member by member."""

    bags: Sequence[Any]
    weights: np.ndarray  # one per bag

    def predict_members(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions (n, 1, b) of the members."""
        members = self.weights[0] * self.bags[0].predict_members(X)
        for bag, weight in zip(self.bags[1:], self.weights[1:], strict=True):
            members += weight * bag.predict_members(X)
        return members

    def predict_unseen(self, X: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the unseen predictions (n, r), as `SymmetricBag.predict_unseen` does."""
        draws = Draws(counts)
        parts = zip(self.bags, self.weights, strict=True)
        return sum(weight * predict_unseen(bag, X, draws)[:, 0] for bag, weight in parts)
