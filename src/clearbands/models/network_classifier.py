"""A small neural network for classification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from clearbands.engine.progress import ignore, listening
from clearbands.models.networks.losses import cross_entropy
from clearbands.models.networks.shape import Shape
from clearbands.models.networks.stack import FittedNetworks, Standard
from clearbands.models.networks.training import TrainingPlan, hold_out_counts, train
from clearbands.models.seeds import member_seeds
from clearbands.rows.class_labels import likeliest, positions
from clearbands.rows.typed import Seed, TableLike


class NetworkClassifier(ClassifierMixin, BaseEstimator):
    """A network whose outputs are the logits of the classes.

    Each hidden layer is a linear map, batch normalisation, ReLU and dropout, and the output sees
    the input and all hidden layers. Adam trains the network on standardised inputs. A random share
    `stopping_size` of the rows decides when training stops. Training needs torch, but predicting
    does not.

    Parameters
    ----------
    hidden : list of int
        The widths of the hidden layers.
    dropout : float
        The share of the hidden units that is left out at random while training.
    learning_rate, weight_decay, batch_size
        The settings of the optimiser Adam.
    max_epochs, patience : int
        Training ends after `patience` epochs without a better one, or after `max_epochs`.
    stopping_size : float
        The share of the rows that decide when to stop.
    device : str
        Where torch trains: "cpu", "cuda", ...
    random_state : int, RandomState or None
        The seed, as in scikit-learn. On one machine the same seed gives the same network.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 100).reshape(-1, 1)
    >>> y = np.where(X[:, 0] > 0, "above", "below")
    >>> model = NetworkClassifier((8,), max_epochs=30, random_state=0).fit(X, y)
    >>> model.predict(X[[0, -1]]).tolist()
    ['below', 'above']
    """

    def __init__(
        self,
        hidden: Sequence[int] = (64, 64),
        *,
        dropout: float = 0.1,
        learning_rate: float = 1e-3,
        weight_decay: float = 1e-5,
        batch_size: int = 64,
        max_epochs: int = 300,
        patience: int = 20,
        stopping_size: float = 0.15,
        device: str = "cpu",
        random_state: Seed = None,
    ) -> None:
        self.hidden = hidden
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.stopping_size = stopping_size
        self.device = device
        self.random_state = random_state

    def fit(self, X: TableLike, y: ArrayLike) -> NetworkClassifier:
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=4)
        self.classes_, label = positions(y)
        with listening(ignore):
            self.bag_ = self.fit_class_bag(
                X, label, len(self.classes_), np.ones((1, len(label)), np.uint8)
            )
        return self

    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Return the probabilities (n, classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return softmax(self.bag_.predict_logits(X)[:, 0], axis=-1)

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the most probable class (n,)."""
        return likeliest(self.predict_proba(X), self.classes_)

    def fit_class_bag(
        self,
        X: np.ndarray,
        label: np.ndarray,
        n_classes: int,
        counts: np.ndarray,
        *,
        n_jobs: int | None = None,
        stage: str = "fit",
    ) -> NetworkClassBag:
        """Train one network per row of `counts`, all on one thread whatever `n_jobs` is.

        The rows that decide when a network stops are drawn from those that it may see. So the
        other rows stay unseen.
        """
        plan = TrainingPlan.of(self)
        shape = Shape.of_centers(self.hidden, X.shape[1], self.dropout, n_classes)
        rng = check_random_state(self.random_state)
        seeds = member_seeds(rng, len(counts))
        stopping = _stopping_rows(counts, self.stopping_size, rng)
        networks = train(
            shape,
            plan,
            cross_entropy,
            X,
            label.astype(float),
            np.where(stopping, 0, counts),
            seeds,
            stage=stage,
            target=Standard.unchanged(),
            stopping=stopping,
        )
        return NetworkClassBag(networks, n_classes)


@dataclass(frozen=True)
class NetworkClassBag:
    """A bag of networks that predict logits."""

    networks: FittedNetworks
    n_classes: int

    def __len__(self) -> int:
        return len(self.networks.stack)

    @property
    def n_features(self) -> int:
        return self.networks.stack.shape.n_inputs

    def predict_logits(self, X: np.ndarray) -> np.ndarray:
        """Return the logits (n, members, classes), centred so that those of a row sum to 0."""
        logits = self.networks.predict_members(X).transpose(0, 2, 1)
        return logits - logits.mean(axis=2, keepdims=True)

    def member(self, number: int) -> NetworkClassBag:
        """Return a bag of one network."""
        return NetworkClassBag(self.networks.member(number), self.n_classes)


def _stopping_rows(counts: np.ndarray, share: float, rng: np.random.RandomState) -> np.ndarray:
    """Draw for each member a random share of the rows that it may see: booleans (m, n)."""
    chosen = np.zeros(counts.shape, bool)
    for own, drawn in zip(chosen, counts, strict=True):
        seen = np.flatnonzero(drawn)
        own[seen[hold_out_counts(len(seen), 1, share, rng)[0] == 0]] = True
    return chosen
