"""BoostedQuantiles: the contract of estimators, and agreement with stock XGBoost."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import mean_pinball_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands.models.bagging import fit_bag
from clearbands.models.boosted_quantiles import BoostedQuantiles
from clearbands.rows.draws import Bootstraps


@parametrize_with_checks([BoostedQuantiles(n_trees=20)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def noisy_waves(n, seed):
    rng = np.random.RandomState(seed)
    X = rng.uniform(size=(n, 4))
    spread = 0.3 + X[:, 1]
    return X, np.sin(6 * X[:, 0]) + X[:, 2] + spread * rng.normal(size=n)


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("n_trees", 0, "a whole number of at least 1"),
        ("n_trees", 2.5, "a whole number of at least 1"),
        ("max_depth", 13, "a whole number from 1 to 12"),
        ("max_depth", None, "a whole number from 1 to 12"),
        ("max_bins", 257, "a whole number from 2 to 256"),
        ("max_bins", 1, "a whole number from 2 to 256"),
        ("learning_rate", 0.0, "above 0 and at most 1"),
        ("learning_rate", "fast", "above 0 and at most 1"),
        ("min_child_weight", -1, "finite number and not negative"),
        ("reg_lambda", float("nan"), "finite number and not negative"),
        ("backend", "lightgbm", "'native' or 'xgboost'"),
        ("quantiles", (0.9, 0.1), "rise"),
    ],
)
def test_wrong_settings_are_named(name, value, allowed):
    X, y = noisy_waves(30, 0)
    with pytest.raises(ValueError, match=rf"{name}.*{allowed}.*got") as raised:
        BoostedQuantiles(**{name: value}).fit(X, y)
    assert repr(value) in str(raised.value)


def test_quantiles_come_sorted_and_near_their_levels():
    levels = (0.1, 0.5, 0.9)
    X, y = noisy_waves(3000, 0)
    model = BoostedQuantiles(levels, n_trees=30).fit(X, y)
    X_new, y_new = noisy_waves(3000, 1)
    predicted = model.predict_quantiles(X_new)
    assert np.all(np.diff(predicted, axis=1) >= 0)
    np.testing.assert_allclose((y_new[:, None] <= predicted).mean(axis=0), levels, atol=0.05)
    np.testing.assert_array_equal(model.predict(X_new), predicted[:, 1])


def test_shift_and_scale_of_the_target():
    X, y = noisy_waves(200, 0)
    model = BoostedQuantiles(n_trees=20)
    plain = clone(model).fit(X, y).predict_quantiles(X)
    moved = clone(model).fit(X, 1e9 + 4 * y).predict_quantiles(X)
    np.testing.assert_allclose(moved, 1e9 + 4 * plain, atol=1e-4, rtol=0)


def test_turning_the_target_around_swaps_the_quantiles():
    X, y = noisy_waves(400, 0)
    model = BoostedQuantiles((0.25, 0.75), n_trees=1, max_depth=2)
    plain = clone(model).fit(X, y).predict_quantiles(X)
    turned = clone(model).fit(X, -y).predict_quantiles(X)
    np.testing.assert_allclose(turned, -plain[:, ::-1], atol=0.05)


def test_one_column_and_one_quantile():
    X, y = noisy_waves(100, 0)
    predicted = BoostedQuantiles((0.8,), n_trees=5).fit(X[:, :1], y).predict_quantiles(X[:, :1])
    assert predicted.shape == (100, 1)


@pytest.mark.slow
def test_a_fitted_model_predicts_in_a_fresh_process(tmp_path):
    X, y = noisy_waves(100, 0)
    model = BoostedQuantiles(n_trees=5).fit(X, y)
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(model))
    np.save(tmp_path / "X.npy", X)
    script = (
        "import pickle, sys, numpy as np\n"
        "import clearbands.models.boosted_quantiles\n"
        "assert 'numba' not in sys.modules and 'xgboost' not in sys.modules\n"
        "model = pickle.load(open('model.pickle', 'rb'))\n"
        "np.save('predicted.npy', model.predict_quantiles(np.load('X.npy')))\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "predicted.npy"), model.predict_quantiles(X))


def test_a_missing_xgboost_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)  # the import system marks absent modules so
    X, y = noisy_waves(30, 0)
    with pytest.raises(ImportError) as raised:
        BoostedQuantiles(backend="xgboost").fit(X, y)
    assert str(raised.value) == (
        'BoostedQuantiles(backend="xgboost") needs the extra "boost": pip install xgboost-cpu.'
    )


def test_stock_members_are_xgboost_models_on_repeated_rows():
    xgboost = pytest.importorskip("xgboost")
    X, y = noisy_waves(120, 0)
    bootstraps = Bootstraps.draw(120, 2, np.random.RandomState(0))
    model = BoostedQuantiles((0.1, 0.6), n_trees=8, backend="xgboost")
    bag = pickle.loads(pickle.dumps(fit_bag(model, X, y, bootstraps, n_jobs=1, stage="test")))
    members = bag.predict_members(X)
    assert members.shape == (120, 2, 2)
    rows = np.repeat(np.arange(120), bootstraps.counts[1])
    stock = xgboost.XGBRegressor(
        objective="reg:quantileerror",
        quantile_alpha=0.6,
        n_estimators=8,
        min_child_weight=10,
        tree_method="hist",
        n_jobs=1,
    ).fit(X[rows], y[rows])
    np.testing.assert_array_equal(members[:, 1, 1], stock.predict(X).astype(float))


@pytest.mark.slow
def test_as_good_as_stock_xgboost():
    pytest.importorskip("xgboost")
    ratios = np.array([bagged_loss("native", s) / bagged_loss("xgboost", s) for s in range(6)])
    # Two runs of XGBoost on other draws differ by one or two percent.
    assert ratios.mean() == pytest.approx(1, abs=0.015)
    assert np.abs(ratios - 1).max() < 0.05


def bagged_loss(backend, seed):
    """Return the pinball loss on new rows for the mean of five members."""
    levels = (0.1, 0.5, 0.9)
    X, y = noisy_waves(400, seed)
    bootstraps = Bootstraps.draw(400, 5, np.random.RandomState(seed))
    model = BoostedQuantiles(levels, backend=backend)
    bag = fit_bag(model, X, y, bootstraps, n_jobs=1, stage="test")
    X_new, y_new = noisy_waves(1500, 100 + seed)
    predicted = bag.predict_members(X_new).mean(axis=2)
    return sum(
        mean_pinball_loss(y_new, column, alpha=level)
        for level, column in zip(levels, predicted.T, strict=True)
    )
