import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from clearbands import CatBoostVirtualEnsemble, ClearRegressor, LinearQuantiles, ResidualQuantiles
from tests.toys import noisy_line


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
