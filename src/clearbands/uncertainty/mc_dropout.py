"""MC dropout: many members from one network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.models.networks.losses import squared_error
from clearbands.models.networks.shape import Shape
from clearbands.models.networks.training import TrainingPlan, hold_out_counts, train
from clearbands.models.seeds import member_seeds
from clearbands.rows.checks import check_count
from clearbands.rows.frames import check_numeric, check_rows
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_sample_weight
from clearbands.uncertainty.epistemic import Ensemble


class MCDropout(Ensemble):
    """One network trained with dropout; its members are that network with units left out.

    `fit` draws once which units each member lacks. So all rows are predicted by the same thinned
    networks, and predicting twice gives the same result. This costs a fifth of a deep ensemble of
    five networks, and it gives a coarser picture of the ignorance. Training needs torch, but
    predicting does not.

    Parameters
    ----------
    n_members : int
        How many members are drawn from the network.
    dropout : float
        The share of the hidden units that is left out, in training and in the members.
    stopping_size : float
        The share of the rows that decide when training stops.
    hidden, learning_rate, weight_decay, batch_size, max_epochs, patience, confidence_level
        As in `DeepEnsemble`.
    device, random_state
        As in `DeepEnsemble`.

    Attributes
    ----------
    networks_ : FittedNetworks
        The one network.
    kept_ : list of arrays (n_members, units)
        For each hidden layer, 0 for units that a member lacks, and for other units the factor that
        makes up for the missing ones.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import MCDropout
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = X[:, 0] + np.resize([-0.1, 0.0, 0.1], 60)
    >>> ensemble = MCDropout(10, hidden=(8,), max_epochs=3, random_state=0).fit(X, y)
    >>> ensemble.predict_members(X[:5]).shape
    (5, 10)
    """

    def __init__(
        self,
        n_members: int = 100,
        hidden: Sequence[int] = (256, 128),
        *,
        dropout: float = 0.1,
        learning_rate: float = 1e-3,
        weight_decay: float = 1e-5,
        batch_size: int = 64,
        max_epochs: int = 1500,
        patience: int = 50,
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
        self.stopping_size = stopping_size
        self.confidence_level = confidence_level
        self.device = device
        self.random_state = random_state

    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation: tuple[Any, Any] | None = None,
    ) -> MCDropout:
        """Train on X and y; each error counts as its `sample_weight` (n,) says.

        `validation` is not needed, because there is nothing to choose between.
        """
        check_count(self.n_members, "n_members", smallest=2)
        if not 0 < self.dropout < 1:
            raise ValueError(
                f"dropout must lie strictly between 0 and 1, got {self.dropout!r}: "
                "members differ by the units that they lack."
            )
        plan = TrainingPlan.of(self)
        X, y = check_rows(self, X, y)
        weight = check_sample_weight(sample_weight, len(y))
        shape = Shape.of_centers(self.hidden, X.shape[1], self.dropout)
        rng = check_random_state(self.random_state)
        counts = hold_out_counts(len(y), 1, self.stopping_size, rng)
        seeds = member_seeds(rng, 1)
        self.kept_ = [
            (rng.uniform(size=(self.n_members, units)) >= self.dropout) / (1 - self.dropout)
            for units in shape.hidden
        ]
        self.networks_ = train(
            shape, plan, squared_error, X, y, counts, seeds, weight=weight, stage="epistemic"
        )
        return self

    def predict_members(self, X: TableLike) -> np.ndarray:
        check_is_fitted(self, "networks_")
        networks = self.networks_
        rows = networks.inputs.apply(check_numeric(self, X, reset=False))
        passes = zip(*self.kept_, strict=True)
        members = [networks.stack.forward(0, rows, unit_factors)[:, 0] for unit_factors in passes]
        return networks.target.undo(np.stack(members, axis=1))
