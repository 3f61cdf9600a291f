"""A neural network that predicts several quantiles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils import check_random_state

from clearbands.models.networks.losses import pinball
from clearbands.models.networks.shape import Shape
from clearbands.models.networks.stack import FittedNetworks
from clearbands.models.networks.training import TrainingPlan, hold_out_counts, train
from clearbands.models.quantile_model import QuantileModel
from clearbands.models.seeds import member_seeds


class NetworkQuantiles(QuantileModel):
    """All quantiles as the outputs of one network: pinball loss, and a penalty where they cross.

    Each hidden layer is a linear map, layer normalisation, leaky ReLU (0.01) and dropout. Adam with
    cosine annealing trains the network on standardised inputs and targets. A bag is trained at once
    as one batched model. Rows that a member does not see decide when its training stops: those that
    its bootstrap left out. If any member of the bag leaves none out, a random share `stopping_size`
    of the rows is held out of every member. Training needs torch, but predicting does not.

    Parameters
    ----------
    quantiles : list of float
        The levels to predict.
    hidden : list of int
        The widths of the hidden layers.
    dropout : float
        The share of the hidden units that is left out at random while training.
    skip : bool
        Whether to use batch instead of layer normalisation, plain ReLU, and an output that also
        sees the input and every hidden layer. The network then contains a linear model, which helps
        with targets that are nearly linear.
    learning_rate, weight_decay, batch_size
        The settings of the optimiser Adam.
    max_epochs, patience : int
        Training ends after `patience` epochs without a better one, or after `max_epochs`.
    max_gradient_norm : float
        Gradients that are longer than this are shortened to it.
    crossing_penalty : float
        The factor of the distance by which neighbouring quantiles are out of order.
    stopping_size : float
        The share of the rows that decide when to stop.
    device : str
        Where torch trains: "cpu", "cuda", ...
    random_state : int, RandomState or None
        The seed, as in scikit-learn. On one machine the same seed gives the same networks.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 200).reshape(-1, 1)
    >>> y = X[:, 0] + np.tile([-0.1, 0.0, 0.1, 0.0], 50)
    >>> model = NetworkQuantiles((0.1, 0.9), hidden=(8,), max_epochs=20, random_state=0)
    >>> curves = model.fit(X, y).predict_quantiles(X)
    >>> curves.shape
    (200, 2)
    """

    def __init__(
        self,
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        hidden: Sequence[int] = (256, 256, 128),
        *,
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
        device: str = "cpu",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.quantiles = quantiles
        self.hidden = hidden
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
        self.device = device
        self.random_state = random_state

    def fit_bag(
        self,
        X: np.ndarray,
        y: np.ndarray,
        counts: np.ndarray,
        *,
        weight: np.ndarray | None = None,
        n_jobs: int | None = None,
        stage: str = "fit",
    ) -> FittedNetworks:
        """Train one network per row of `counts`, all on one thread whatever `n_jobs` is.

        A row that counts twice is not quite the same as two rows, unlike with trees, because rows
        that do not count decide when training stops.
        """
        shape = Shape.of_noise(
            self.hidden, X.shape[1], len(self.quantiles), self.dropout, skip=self.skip
        )
        plan = TrainingPlan.of(self, schedules=("cosine",))
        rng = check_random_state(self.random_state)
        seeds = member_seeds(rng, len(counts))
        if (counts > 0).all(axis=1).any():
            counts = counts * hold_out_counts(len(y), len(counts), self.stopping_size, rng)
        loss = pinball(self.quantiles, self.crossing_penalty)
        return train(shape, plan, loss, X, y, counts, seeds, weight=weight, stage=stage)
