"""Baselines that fit in no time, since all their models are lines."""

from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression

from clearbands import (
    CQR,
    UACQRP,
    UACQRS,
    BootstrappedCQR,
    LinearQuantiles,
    NaiveConformal,
    PCSEnsemble,
    PCSIntervals,
    ResidualCQR,
    ResidualQuantiles,
)


def lines(n_bootstraps=10):
    return PCSEnsemble([LinearRegression()], n_bootstraps=n_bootstraps)


def make(kind, **parameters):
    """Return a small baseline of this kind, with lines for models."""
    parts = {
        NaiveConformal: {"epistemic": lines()},
        PCSIntervals: {"epistemic": lines()},
        CQR: {"model": LinearQuantiles()},
        BootstrappedCQR: {
            "epistemic": lines(),
            "aleatoric": ResidualQuantiles(LinearQuantiles(), n_bootstraps=3),
        },
        ResidualCQR: {
            "epistemic": lines(),
            "aleatoric": ResidualQuantiles(LinearQuantiles(), n_bootstraps=3),
        },
        UACQRS: {"model": LinearQuantiles(), "n_bootstraps": 5},
        UACQRP: {"model": LinearQuantiles(), "n_bootstraps": 30},
    }
    return kind(**({"random_state": 0} | parts[kind] | parameters))


def inside(y, intervals):
    return (intervals[:, 0] <= y) & (y <= intervals[:, 1])


def noisier(X, y, factor=3):
    """Return the targets of `noisy_line` with more noise, so that bounds must move outwards."""
    return 3 * X[:, 0] + factor * (y - 3 * X[:, 0])


class Fitted(RegressorMixin, BaseEstimator):
    """A fitted regressor whose predictions the function `predict_with` makes."""

    def __init__(self, predict_with=None):
        self.predict_with = predict_with

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return self.predict_with(X)
