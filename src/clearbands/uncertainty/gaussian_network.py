"""Aleatoric widths from networks that learn how strong normal noise is at x."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.models.networks.losses import normal_deviation, normal_likelihood
from clearbands.models.networks.shape import Shape
from clearbands.models.networks.training import TrainingPlan, hold_out_counts, train
from clearbands.models.seeds import member_seeds
from clearbands.rows.bands import normal_widths
from clearbands.rows.checks import check_count
from clearbands.rows.frames import check_numeric, check_rows
from clearbands.rows.levels import check_levels
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_sample_weight
from clearbands.uncertainty.aleatoric import AleatoricPart


class GaussianNetwork(AleatoricPart):
    """Networks that give mean and deviation of normal noise, by maximum likelihood.

    The widths are the deviation, averaged over the networks, times a quantile of the normal
    distribution, so they are equal below and above. Use `SimultaneousQuantiles` where the noise is
    skewed. Training needs torch, but predicting does not.

    Parameters
    ----------
    n_members : int
        How many networks are averaged.
    hidden, dropout, learning_rate, weight_decay, batch_size, max_epochs, patience,
    max_gradient_norm, stopping_size, confidence_level, device, random_state
        As in `SimultaneousQuantiles`.

    Attributes
    ----------
    networks_ : FittedNetworks
        The weights as arrays, the epoch in which each member was best, and its loss there.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import GaussianNetwork
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> residual = X[:, 0] * np.resize([-1.0, 0.0, 1.0], 60)  # noise that grows with x
    >>> part = GaussianNetwork(1, hidden=(8,), max_epochs=3, random_state=0)
    >>> part.fit(X, residual).predict_widths(X).shape
    (60, 2, 1)
    """

    def __init__(
        self,
        n_members: int = 3,
        hidden: Sequence[int] = (256, 256, 128),
        *,
        dropout: float = 0.2,
        learning_rate: float = 5e-4,
        weight_decay: float = 0.0,
        batch_size: int = 256,
        max_epochs: int = 3000,
        patience: int = 200,
        max_gradient_norm: float = 1.0,
        stopping_size: float = 0.1,
        confidence_level: float | Sequence[float] = 0.9,
        device: str = "cpu",
        random_state: Seed = None,
    ) -> None:
        self.n_members = n_members
        self.hidden = hidden
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.max_gradient_norm = max_gradient_norm
        self.stopping_size = stopping_size
        self.confidence_level = confidence_level
        self.device = device
        self.random_state = random_state

    def fit(
        self, X: TableLike, residual: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> GaussianNetwork:
        """Learn from residuals; each error counts as its `sample_weight` (n,) says."""
        check_count(self.n_members, "n_members")
        check_levels(self.confidence_level)
        plan = TrainingPlan.of(self, schedules=("cosine",))
        X, residual = check_rows(self, X, residual)
        weight = check_sample_weight(sample_weight, len(residual))
        shape = Shape.of_noise(self.hidden, X.shape[1], 2, self.dropout)
        rng = check_random_state(self.random_state)
        counts = hold_out_counts(len(residual), self.n_members, self.stopping_size, rng)
        seeds = member_seeds(rng, self.n_members)
        self.networks_ = train(
            shape,
            plan,
            normal_likelihood,
            X,
            residual,
            counts,
            seeds,
            weight=weight,
            stage="aleatoric",
        )
        return self

    def predict_deviation(self, X: TableLike) -> np.ndarray:
        """Return the standard deviation of the noise (n,)."""
        check_is_fitted(self, "networks_")
        X = check_numeric(self, X, reset=False)
        outputs = self.networks_.standard_outputs(X)
        deviations = [normal_deviation(output[:, 1]) for output in outputs]
        return np.mean(deviations, axis=0) * self.networks_.target.deviation

    def predict_widths(self, X: TableLike) -> np.ndarray:
        """Return distances (n, 2, k) below and above the center at each level."""
        return normal_widths(self.predict_deviation(X), check_levels(self.confidence_level))
