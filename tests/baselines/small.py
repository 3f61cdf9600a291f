"""Baselines that fit in no time: lines throughout."""

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
    """Small and quick: lines throughout."""
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
    """The targets of `noisy_line` with the noise multiplied: bounds must move outwards."""
    return 3 * X[:, 0] + factor * (y - 3 * X[:, 0])


class Fitted(RegressorMixin, BaseEstimator):
    """A regressor whose predictions another, fitted object makes."""

    def __init__(self, predict_with=None):
        self.predict_with = predict_with

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return self.predict_with(X)
