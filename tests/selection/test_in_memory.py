"""Training rows that calibrate after a change larger than rounding: members know them."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from clearbands import (
    ClearRegressor,
    FoldedEnsemble,
    LinearQuantiles,
    PCSEnsemble,
    ResidualQuantiles,
    ScaledResiduals,
)
from clearbands.calibration.guarantee import Guarantee

FAR_BELOW = "errors are far below those of members that did not see that row"
TREE = DecisionTreeRegressor(random_state=0)
FOLDS = FoldedEnsemble(TREE, n_folds=5, n_repeats=1)
BOOTSTRAPS = PCSEnsemble({"tree": TREE}, n_bootstraps=20)


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + rng.normal(size=n)


def shaken(values, size=1e-3):
    return values + size * np.random.default_rng(1).normal(size=values.shape)


def clear(epistemic, **parameters):
    noise = ResidualQuantiles(LinearQuantiles(), n_bootstraps=3)
    return ClearRegressor(epistemic, noise, random_state=0, **parameters)


@pytest.mark.parametrize("calibration", ["joint", "conformal"])
@pytest.mark.parametrize("epistemic", [FOLDS, BOOTSTRAPS], ids=["folds", "bootstraps"])
def test_rows_that_were_changed_a_little_are_known(epistemic, calibration):
    X, y = table()
    model = clear(epistemic, calibration=calibration)
    with pytest.warns(UserWarning, match=FAR_BELOW):
        model.fit(X, y, X_cal=shaken(X), y_cal=shaken(y))
    assert model.guarantee_ == Guarantee.COPIES


def test_where_only_the_noise_competes_too():
    X, y = table()
    model = ClearRegressor(FOLDS, calibration="joint", random_state=0)
    with pytest.warns(UserWarning, match=FAR_BELOW):
        model.fit(X, y, X_cal=shaken(X), y_cal=shaken(y))
    assert model.guarantee_ == Guarantee.COPIES


def test_the_same_places_measured_anew_are_other_rows():
    X, y = table()
    new = X[:, 0] + np.random.default_rng(2).normal(size=len(y))
    assert said_nothing(X, y, X, new) == Guarantee.CONFORMAL


def test_rows_of_the_same_place_are_other_rows():
    X, y = table(400)
    assert said_nothing(X[:200], y[:200], X[200:], y[200:]) == Guarantee.CONFORMAL
    x = np.sort(X[:, :1], axis=0)  # each between two training rows, without noise
    assert said_nothing(x[::2], np.sin(x[::2, 0]), x[1::2], np.sin(x[1::2, 0]))


def test_categories_alone_tell_nothing():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (300, 2)).astype(float)
    y = X[:, 0] + rng.normal(size=300)
    assert said_nothing(X[:200], y[:200], X[200:], y[200:]) == Guarantee.CONFORMAL


def test_a_model_that_learns_no_row_by_heart_judges_it_as_well():
    X, y = table()
    model = ClearRegressor(
        FoldedEnsemble(LinearRegression()), ScaledResiduals(LinearRegression()), random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y, X_cal=shaken(X), y_cal=shaken(y))
    assert model.guarantee_ == Guarantee.JOINT


def said_nothing(X, y, X_cal, y_cal):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*rows")
        return clear(FOLDS, calibration="conformal").fit(X, y, X_cal=X_cal, y_cal=y_cal).guarantee_
