"""Deep ensembles: a few networks that differ in everything that chance decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.models.categories import learn_effects
from clearbands.models.networks.losses import squared_error
from clearbands.models.networks.shape import Shape
from clearbands.models.networks.training import TrainingPlan, train
from clearbands.models.seeds import member_seeds
from clearbands.rows.checks import check_choice, check_count
from clearbands.rows.coded import code_columns
from clearbands.rows.draws import Bootstraps
from clearbands.rows.frames import check_numeric, check_rows
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_sample_weight
from clearbands.uncertainty.epistemic import SPREADS, OutOfBagEnsemble

SPEEDS = (1.0, 0.7, 1.4, 0.5, 2.0)  # factors of the learning rate, taken in turns
SCHEDULES = ("constant", "cosine", "exponential")


class DeepEnsemble(OutOfBagEnsemble):
    """Networks with other initial weights, bootstraps, learning rates, schedules and input noise.

    All members are trained at once as one batched model. Each stops when the error on the rows that
    its bootstrap left out (out-of-bag) no longer falls, and it keeps the weights with which that
    error was smallest. Inputs and target are standardised inside. Training needs torch, but
    predicting does not.

    Parameters
    ----------
    n_members : int
        How many networks there are.
    hidden : list of int
        The widths of the hidden layers. Each layer is a linear map, batch normalisation, ReLU and
        dropout. The output sees the input and all hidden layers (skip connections).
    dropout : float
        The share of the hidden units that is left out at random while training.
    learning_rate, weight_decay, batch_size
        The settings of the optimiser Adam. Members take the learning rate times 1, 0.7, 1.4, 0.5, 2
        in turns, and the schedules constant, cosine and exponential.
    max_epochs, patience : int
        Training ends after `patience` epochs without a better one, or after `max_epochs`.
    input_noise : float
        The standard deviation of the noise that is added to the standardised inputs while training.
    spread : "quantiles" or "gaussian"
        How the widths follow from the members. "quantiles": they reach from the median of the
        members to their alpha/2 and 1 - alpha/2 points. "gaussian": they are the standard deviation
        of the members times a quantile of the normal distribution; with few members they then reach
        beyond the outermost one.
    confidence_level : float or list of float
        The levels of the widths; `ClearRegressor` sets it.
    device : str
        Where torch trains: "cpu", "cuda", ...
    random_state : int, RandomState or None
        The seed, as in scikit-learn. On one machine the same seed gives the same networks.

    Attributes
    ----------
    networks_ : FittedNetworks
        The weights as arrays, the epoch in which each member was best, and its loss there.
    draws_ : Bootstraps
        How often each member drew each training row.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import DeepEnsemble
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = X[:, 0] + np.resize([-0.1, 0.0, 0.1], 60)
    >>> ensemble = DeepEnsemble(2, hidden=(8,), max_epochs=3, random_state=0).fit(X, y)
    >>> ensemble.predict_members(X[:5]).shape
    (5, 2)
    """

    def __init__(
        self,
        n_members: int = 5,
        hidden: Sequence[int] = (256, 128),
        *,
        dropout: float = 0.1,
        learning_rate: float = 1e-3,
        weight_decay: float = 1e-5,
        batch_size: int = 64,
        max_epochs: int = 1500,
        patience: int = 50,
        input_noise: float = 0.01,
        spread: str = "quantiles",
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
        self.input_noise = input_noise
        self.spread = spread
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
    ) -> DeepEnsemble:
        """Train on X and y; each error counts as its `sample_weight` (n,) says.

        `validation` is not needed, because there is nothing to choose between.
        """
        check_count(self.n_members, "n_members", smallest=2)
        check_choice(self.spread, "spread", SPREADS)
        plan = TrainingPlan.of(self, speeds=SPEEDS, schedules=SCHEDULES)
        X, y = check_rows(self, X, y)
        weight = check_sample_weight(sample_weight, len(y))
        rng = check_random_state(self.random_state)
        self.effects_ = None
        if code_columns(X):
            count = np.ones(len(y)) if weight is None else weight
            self.effects_, X = learn_effects(X, y[:, None], count, rng)
        shape = Shape.of_centers(self.hidden, X.shape[1], self.dropout)
        self.draws_ = Bootstraps.draw(len(y), self.n_members, rng)
        self.networks_ = train(
            shape,
            plan,
            squared_error,
            X,
            y,
            self.draws_.counts,
            member_seeds(rng, self.n_members),
            weight=weight,
            stage="epistemic",
        )
        return self

    def predict_members(self, X: TableLike) -> np.ndarray:
        check_is_fitted(self, "networks_")
        X = check_numeric(self, X, reset=False)
        effects = getattr(self, "effects_", None)
        return self.networks_.predict_members(X if effects is None else effects.view(X))[:, 0]
