"""Rows whose coverage is known."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from clearbands.calibration.conformal import rank


def covered_with(p, seed=0):
    """Draw y, and intervals that cover row i with probability p[i]."""
    p = np.asarray(p, float)
    y = np.random.default_rng([seed, 1]).uniform(size=len(p))
    return y, np.stack([np.zeros(len(p)), p], axis=1)


def rows_covered(hits):
    """Return y and intervals that cover exactly these rows."""
    y = np.where(hits, 0.5, 2.0)
    return y, np.tile([0.0, 1.0], (len(y), 1))


TREE = DecisionTreeClassifier(max_leaf_nodes=8, min_samples_leaf=20, random_state=0)  # quick to fit


class Scaled:
    """A model of normal targets with spread exp(x0 / 2), conformal on `n_calibration` rows.

    `spread` is the function that the model uses for the spread. With the true one, its default,
    the coverage is the same at every x.
    """

    levels_ = np.array([0.9])

    def __init__(self, n_calibration=300, seed=0, spread=None):
        self.n_calibration_ = n_calibration
        self.spread = self.true_spread if spread is None else spread
        X, y = self.draw(n_calibration, seed + 10_000)
        scores = np.sort(np.abs(y) / self.spread(X))
        self.q = scores[rank(n_calibration, 0.9) - 1]

    @staticmethod
    def true_spread(X):
        return np.exp(X[:, 0] / 2)

    @classmethod
    def draw(cls, n, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 3))
        return X, cls.true_spread(X) * rng.normal(size=n)

    def predict_interval(self, X):
        reach = self.q * self.spread(np.asarray(X, float))
        return np.zeros(len(reach)), np.stack([-reach, reach], axis=1)[:, :, None]
