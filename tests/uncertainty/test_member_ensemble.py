from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands import (
    CatBoostVirtualEnsemble,
    ClearRegressor,
    LinearQuantiles,
    MemberEnsemble,
    ResidualQuantiles,
)
from tests.deep import need_torch
from tests.toys import noisy_line


def fitted_members(X, y, n=5):
    return [Ridge(alpha=10.0**i).fit(X, y) for i in range(n)]


def test_members_are_used_as_they_are():
    X, y = noisy_line()
    members = fitted_members(X, y)
    ensemble = MemberEnsemble([members[0], members[1].predict])
    expected = np.stack([members[0].predict(X), members[1].predict(X)], axis=1)
    np.testing.assert_array_equal(ensemble.predict_members(X), expected)
    np.testing.assert_allclose(ensemble.predict(X), expected.mean(axis=1))


def test_cloning_keeps_the_members():
    X, y = noisy_line()
    ensemble = MemberEnsemble(fitted_members(X, y), confidence_level=0.8)
    copy = clone(ensemble)
    assert copy.confidence_level == 0.8
    np.testing.assert_array_equal(copy.predict(X), ensemble.predict(X))


def test_clear_around_models_that_are_already_fitted():
    X, y = noisy_line(600)
    ensemble = MemberEnsemble(fitted_members(X[:200], y[:200]))
    noise = ResidualQuantiles(LinearQuantiles(), n_bootstraps=3)
    held_out = {"X_cal": X[400:500], "y_cal": y[400:500]}  # rows that the members did not see
    model = ClearRegressor(ensemble, noise, random_state=0).fit(X[200:400], y[200:400], **held_out)
    point, intervals = model.predict_interval(X[500:])
    np.testing.assert_array_equal(point, ensemble.predict(X[500:]))
    covered = (intervals[:, 0, 0] <= y[500:]) & (y[500:] <= intervals[:, 1, 0])
    assert covered.mean() > 0.8


def test_bad_members():
    X, y = noisy_line()
    with pytest.raises(ValueError, match="at least 2 members"):
        MemberEnsemble([Ridge().fit(X, y)]).fit(X, y)
    crooked = MemberEnsemble([Ridge().fit(X, y), lambda X: np.zeros((len(X), 2))])
    with pytest.raises(ValueError, match=r"Member 1 predicts an array of shape \(240, 2\)"):
        crooked.predict(X)


@dataclass(frozen=True)
class FirstColumnPlus:
    """A member whose name is the same in every process that collects the tests."""

    offset: float

    def __call__(self, X):
        return np.asarray(X, float)[:, 0] + self.offset


ALREADY_FITTED = "the members are fitted when they come, and fit leaves them alone"


@parametrize_with_checks(
    [MemberEnsemble([FirstColumnPlus(0), FirstColumnPlus(1)])],
    expected_failed_checks=lambda _: {
        "check_estimators_unfitted": ALREADY_FITTED,
        "check_fit_check_is_fitted": ALREADY_FITTED,
        "check_regressors_train": ALREADY_FITTED,
        "check_dataframe_column_names_consistency": "reordered columns are put right by name",
    },
)
def test_estimator_checks(estimator, check):
    check(estimator)


def test_a_member_that_predicts_nan_is_named():
    X, _ = noisy_line(20)
    ensemble = MemberEnsemble([lambda X: X[:, 0], lambda X: np.full(len(X), np.nan)]).fit(X)
    with pytest.raises(ValueError, match="Member 1 predicts NaN or infinity"):
        ensemble.predict(X)


@pytest.mark.parametrize("loss", ["RMSE", "RMSEWithUncertainty"])
def test_clear_around_a_fitted_booster(loss):
    catboost = pytest.importorskip("catboost", reason="CatBoost is not installed")
    X, y = noisy_line(400)
    booster = catboost.CatBoostRegressor(
        iterations=60,
        loss_function=loss,
        posterior_sampling=True,
        verbose=False,
        thread_count=1,
        random_seed=0,
        allow_writing_files=False,
    ).fit(X[:200], y[:200])
    ensemble = CatBoostVirtualEnsemble(booster, 5)
    members = clone(ensemble).fit(X).predict_members(X)
    assert members.shape == (400, 5)
    assert np.ptp(members, axis=1).max() > 0
    assert np.corrcoef(members.mean(axis=1), y)[0, 1] > 0.9
    aleatoric = ResidualQuantiles(LinearQuantiles(), n_bootstraps=2)
    model = ClearRegressor(ensemble, aleatoric, random_state=0)
    model.fit(X[200:300], y[200:300], X_cal=X[300:], y_cal=y[300:])
    np.testing.assert_array_equal(model.predict(X), np.median(members, axis=1))


def test_other_models_have_no_virtual_ensembles():
    X, y = noisy_line(30)
    with pytest.raises(TypeError, match="LinearRegression has no virtual ensembles"):
        CatBoostVirtualEnsemble(LinearRegression().fit(X, y)).fit(X, y)
    with pytest.raises(ValueError, match="n_members must be"):
        CatBoostVirtualEnsemble(LinearRegression(), 1).fit(X, y)


def test_torch_modules_are_members():
    """They predict in their own precision, without dropout, and stay in the mode they were in."""
    torch = need_torch()
    torch.manual_seed(0)  # random weights might put a row near 0 and make its last digit large
    X, _ = noisy_line(30)
    line = torch.nn.Linear(2, 1, dtype=torch.float64)
    module = torch.nn.Sequential(line, torch.nn.Dropout(0.9))
    flat = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Flatten(0))
    frame = pd.DataFrame(X, columns=["a", "b"])
    members = MemberEnsemble([module, flat]).fit(frame).predict_members(frame)
    expected = X @ line.weight.detach().numpy()[0] + line.bias.detach().numpy()
    np.testing.assert_allclose(members[:, 0], expected)
    np.testing.assert_allclose(members[:, 1], flat(torch.from_numpy(X).float()).detach(), rtol=1e-5)
    assert module.training
    again = MemberEnsemble([module, flat]).predict_members(X)
    np.testing.assert_allclose(members, again, rtol=1e-5, atol=1e-6)
