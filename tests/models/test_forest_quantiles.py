"""ForestQuantiles: the contract of scikit-learn, and agreement with quantile-forest."""

import pickle
import sys

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands.engine.progress import listening
from clearbands.models.forest_quantiles import ForestQuantiles
from clearbands.rows.draws import Bootstraps


def heteroscedastic(n, seed):
    """Return targets with known quantiles, whose spread grows with the first column."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(size=(n, 4))
    spread = 0.5 + 2 * X[:, 0]
    return X, np.sin(4 * X[:, 1]) + spread * rng.normal(size=n)


def pinball(y, predicted, quantiles):
    error = y[:, None] - predicted
    return np.maximum(quantiles * error, (np.asarray(quantiles) - 1) * error).mean(axis=0)


@parametrize_with_checks([ForestQuantiles(n_trees=3, random_state=0)])
def test_sklearn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return heteroscedastic(400, seed=0)


def test_quantiles_rise_and_lie_within_the_targets(data):
    X, y = data
    model = ForestQuantiles((0.01, 0.3, 0.7, 0.99), n_trees=25, random_state=0).fit(X, y)
    predicted = model.predict_quantiles(2 * X - 0.5)
    assert predicted.shape == (400, 4)
    assert np.all(np.diff(predicted, axis=1) >= 0)
    assert predicted.min() >= y.min()
    assert predicted.max() <= y.max()


def test_seed_decides(data):
    X, y = data
    first, again, other = (
        ForestQuantiles(n_trees=10, random_state=seed).fit(X, y).predict(X) for seed in (3, 3, 4)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_coverage_of_known_quantiles():
    """The share of held-out targets below a predicted quantile is about its level."""
    X, y = heteroscedastic(4000, seed=1)
    new_X, new_y = heteroscedastic(4000, seed=2)
    quantiles = np.array([0.1, 0.5, 0.9])
    model = ForestQuantiles(quantiles, n_trees=100, min_samples_leaf=20, random_state=0).fit(X, y)
    below = (new_y[:, None] <= model.predict_quantiles(new_X)).mean(axis=0)
    assert np.allclose(below, quantiles, atol=0.03)


@pytest.mark.slow
def test_agrees_with_quantile_forest():
    pytest.importorskip("quantile_forest")
    X, y = heteroscedastic(1500, seed=3)
    new_X, new_y = heteroscedastic(4000, seed=4)
    quantiles = (0.05, 0.5, 0.95)
    counts = Bootstraps.draw(len(y), 3, np.random.RandomState(0)).counts
    losses, coverages = {}, {}
    for backend in ("native", "quantile-forest"):
        model = ForestQuantiles(quantiles, backend=backend, random_state=0)
        members = model.fit_bag(X, y, counts).predict_members(new_X)
        assert members.shape == (4000, 3, 3)
        losses[backend] = np.mean(
            [pinball(new_y, m, quantiles) for m in members.transpose(2, 0, 1)], 0
        )
        inside = (members[:, 0] <= new_y[:, None]) & (new_y[:, None] <= members[:, 2])
        coverages[backend] = inside.mean()
    assert np.allclose(losses["native"], losses["quantile-forest"], rtol=0.03)
    assert abs(coverages["native"] - coverages["quantile-forest"]) < 0.015


def test_both_backends_grow_trees_of_the_same_size():
    """The weight that stands for min_samples_leaf is right: there are as many leaves."""
    pytest.importorskip("quantile_forest")
    X, y = heteroscedastic(1500, seed=5)
    for min_samples_leaf in (1, 10, 50):
        settings = {"n_trees": 10, "min_samples_leaf": min_samples_leaf, "random_state": 0}
        native = ForestQuantiles(**settings).fit(X, y)
        stock = ForestQuantiles(**settings, backend="quantile-forest").fit(X, y)
        stock_trees = stock.bag_.members[0].estimators_
        leaves = len(native.bag_.samples) / sum(tree.get_n_leaves() for tree in stock_trees)
        assert 0.9 < leaves < 1.1


def test_stock_backend_is_reproducible_and_reports(data):
    pytest.importorskip("quantile_forest")
    X, y = data
    counts = Bootstraps.draw(len(y), 2, np.random.RandomState(0)).counts
    model = ForestQuantiles((0.5,), n_trees=5, backend="quantile-forest", random_state=1)
    heard = []
    with listening(lambda *event: heard.append(event)):
        first = model.fit_bag(X, y, counts, stage="forest").predict_members(X)
    assert heard == [("forest", 1, 2), ("forest", 2, 2)]
    assert first.shape == (400, 1, 2)
    with parallel_config("threading"):
        again = clone(model).fit_bag(X, y, counts, n_jobs=2).predict_members(X)
    assert np.array_equal(first, again)


def test_native_backend_reports(data):
    X, y = data
    heard = []
    with listening(lambda *event: heard.append(event)):
        ForestQuantiles(n_trees=2).fit_bag(X, y, np.ones((2, 400), np.uint8), stage="forest")
    assert heard == [("forest", 1, 2), ("forest", 2, 2)]


def test_missing_quantile_forest_says_what_to_install(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "quantile_forest", None)  # as if it were not installed
    with pytest.raises(ImportError, match=r'needs the extra "forest": pip install quantile-forest'):
        ForestQuantiles(backend="quantile-forest").fit(*data)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"backend": "sklearn"},
            r"backend must be one of \('native', 'quantile-forest'\), got 'sk",
        ),
        ({"n_trees": 0}, "n_trees must be a whole number of at least 1, got 0"),
        ({"n_trees": 2.5}, r"n_trees must be a whole number of at least 1, got 2\.5"),
        ({"min_samples_leaf": -1}, "min_samples_leaf must be a whole number of at least 1, got -1"),
        (
            {"samples_per_leaf": True},
            "samples_per_leaf must be a whole number of at least 1, got True",
        ),
        ({"max_bins": 257}, "max_bins must be a whole number from 2 to 256, got 257"),
        ({"max_bins": 1}, "max_bins must be a whole number from 2 to 256, got 1"),
        ({"quantiles": (0.5, 0.1)}, r"quantiles must rise .* got \(0\.5, 0\.1\)"),
    ],
)
def test_bad_parameters_are_named(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        ForestQuantiles(**parameters).fit(*data)


def test_pickle_keeps_predictions(data):
    X, y = data
    model = ForestQuantiles(n_trees=5, random_state=0).fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
