"""Aleatoric widths from networks that give all quantiles at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from clearbands.models.network_quantiles import NetworkQuantiles
from clearbands.rows.bands import curve_widths
from clearbands.rows.checks import check_count
from clearbands.rows.chunks import chunks, concatenate
from clearbands.rows.frames import check_numeric, check_rows
from clearbands.rows.levels import check_levels, check_quantiles, curve_levels
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_sample_weight
from clearbands.uncertainty.aleatoric import AleatoricPart


class SimultaneousQuantiles(AleatoricPart):
    """An aleatoric part: the quantiles of `NetworkQuantiles`, averaged over several seeds.

    The networks give the quantiles alpha/2, 1/2 and 1 - alpha/2 of every confidence level, sorted
    so that none cross. The widths are the distances of the outer quantiles from the median. If you
    fit the part to the target itself instead of residuals, it is a model of y
    (`predict_quantiles`). Parameters that are not listed are those of `NetworkQuantiles`.

    Parameters
    ----------
    n_members : int
        How many networks are averaged. Each has its own seed, and its own rows by which it stops.
    quantiles : list of float
        Levels to estimate besides those that the confidence levels need.
    confidence_level : float or list of float
        The levels of the widths; `ClearRegressor` sets it.

    Attributes
    ----------
    quantiles_ : list of float
        All levels that the networks estimate, rising.
    networks_ : FittedNetworks
        The weights as arrays, the epoch in which each member was best, and its loss there.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import SimultaneousQuantiles
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> residual = X[:, 0] * np.resize([-1.0, 0.0, 1.0], 60)  # noise that grows with x
    >>> part = SimultaneousQuantiles(1, hidden=(8,), max_epochs=3, random_state=0)
    >>> part.fit(X, residual).predict_widths(X).shape
    (60, 2, 1)
    """

    def __init__(
        self,
        n_members: int = 3,
        hidden: Sequence[int] = (256, 256, 128),
        *,
        quantiles: Sequence[float] = (),
        dropout: float = 0.2,
        skip: bool = False,
        learning_rate: float = 5e-4,
        weight_decay: float = 0.0,
        batch_size: int = 256,
        max_epochs: int = 3000,
        patience: int = 200,
        max_gradient_norm: float = 1.0,
        crossing_penalty: float = 1.0,
        stopping_size: float = 0.1,
        confidence_level: float | Sequence[float] = 0.9,
        device: str = "cpu",
        random_state: Seed = None,
    ) -> None:
        self.n_members = n_members
        self.hidden = hidden
        self.quantiles = quantiles
        self.dropout = dropout
        self.skip = skip
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.max_gradient_norm = max_gradient_norm
        self.crossing_penalty = crossing_penalty
        self.stopping_size = stopping_size
        self.confidence_level = confidence_level
        self.device = device
        self.random_state = random_state

    def fit(
        self, X: TableLike, residual: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> SimultaneousQuantiles:
        """Learn from residuals; each error counts as its `sample_weight` (n,) says."""
        check_count(self.n_members, "n_members")
        levels = check_levels(self.confidence_level)
        if len(self.quantiles) > 0:
            check_quantiles(self.quantiles)
        X, residual = check_rows(self, X, residual)
        weight = check_sample_weight(sample_weight, len(residual))
        self.quantiles_ = sorted({*curve_levels(levels), *map(float, self.quantiles)})
        shared = NetworkQuantiles().get_params().keys() & self.get_params().keys()
        model = NetworkQuantiles(**{name: getattr(self, name) for name in shared})
        model.set_params(quantiles=tuple(self.quantiles_))
        once = np.ones((self.n_members, len(residual)), np.uint8)
        self.networks_ = model.fit_bag(X, residual, once, weight=weight, stage="aleatoric")
        return self

    def predict_quantiles(self, X: TableLike) -> np.ndarray:
        """Return the quantiles (n, q) at the levels `quantiles_`, which never cross."""
        check_is_fitted(self, "networks_")
        X = check_numeric(self, X, reset=False)
        members = len(self.quantiles_) * self.n_members
        return concatenate([self._quantiles(rows) for rows in chunks(X, members)])

    def _quantiles(self, X: np.ndarray) -> np.ndarray:
        return np.sort(self.networks_.predict_members(X), axis=1).mean(axis=2)

    def predict_widths(self, X: TableLike) -> np.ndarray:
        """Return distances (n, 2, k) below and above the median at each level."""
        curves, levels = self.predict_quantiles(X), check_levels(self.confidence_level)
        wanted = [self.quantiles_.index(quantile) for quantile in curve_levels(levels)]
        return curve_widths(curves[:, wanted], levels)
