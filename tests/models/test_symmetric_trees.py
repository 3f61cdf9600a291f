"""SymmetricTrees: the contract of estimators, and the data that it suits."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands.engine.progress import listening
from clearbands.models.bagging import fit_bag
from clearbands.models.symmetric_trees import SymmetricTrees, automatic_rate
from clearbands.rows.draws import Bootstraps


@parametrize_with_checks([SymmetricTrees(n_trees=20), SymmetricTrees("absolute", n_trees=20)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def noisy_waves(n, seed):
    rng = np.random.RandomState(seed)
    X = rng.uniform(size=(n, 4))
    center = np.sin(6 * X[:, 0]) + X[:, 2] * X[:, 3]
    return X, center + 0.3 * rng.normal(size=n), center


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("loss", "quantile", "'squared' or 'absolute'"),
        ("n_trees", 0, "a whole number of at least 1"),
        ("n_trees", 2.5, "a whole number of at least 1"),
        ("max_depth", 11, "a whole number from 1 to 10"),
        ("max_depth", None, "a whole number from 1 to 10"),
        ("max_bins", 257, "a whole number from 2 to 256"),
        ("max_bins", 1, "a whole number from 2 to 256"),
        ("learning_rate", 0.0, "above 0 and at most 1"),
        ("learning_rate", "fast", "above 0 and at most 1"),
        ("column_share", 0, "above 0 and at most 1"),
        ("column_share", "half", "above 0 and at most 1"),
        ("l2", -1, "a number from 0 to 1e"),
        ("l2", float("nan"), "a number from 0 to 1e"),
    ],
)
def test_wrong_settings_are_named(name, value, allowed):
    X, y, _ = noisy_waves(30, 0)
    with pytest.raises(ValueError, match=rf"{name}.*{allowed}.*got") as raised:
        SymmetricTrees(**{name: value}).fit(X, y)
    assert repr(value) in str(raised.value)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_a_bag_is_nearer_to_the_center_than_its_members(loss):
    X, y, _ = noisy_waves(500, 0)
    X_new, _, center = noisy_waves(500, 1)
    draws = Bootstraps.draw(500, 10, np.random.RandomState(0))
    model = SymmetricTrees(loss, n_trees=100, max_depth=4, random_state=0)
    members = fit_bag(model, X, y, draws, n_jobs=1, stage="test").predict_members(X_new)[:, 0]
    alone = np.abs(members - center[:, None]).mean(axis=0)
    together = np.abs(members.mean(axis=1) - center).mean()
    assert together < 0.85 * alone.min()
    assert together < 0.25 * np.abs(center - center.mean()).mean()


def test_absolute_loss_ignores_outliers():
    X, y, center = noisy_waves(1000, 0)
    y[::50] += 1e6
    model = SymmetricTrees(n_trees=50, max_depth=2, random_state=0)
    squared, absolute = (
        np.abs(model.set_params(loss=loss).fit(X, y).predict(X) - center).mean()
        for loss in ("squared", "absolute")
    )
    assert absolute < 0.3 < squared


def test_a_single_fit_is_a_bag_of_one_on_all_rows():
    X, y, _ = noisy_waves(200, 0)
    model = SymmetricTrees(n_trees=20, random_state=0)
    bag = model.fit_bag(X, y, np.ones((3, 200), np.uint8))
    members = bag.predict_members(X)
    assert members.shape == (200, 1, 3)
    np.testing.assert_array_equal(clone(model).fit(X, y).predict(X), members[:, 0, 0])


def test_the_seed_places_the_cuts():
    X, y, _ = noisy_waves(500, 0)
    model = SymmetricTrees(n_trees=10, max_bins=16)
    one, again, other = (
        clone(model).set_params(random_state=seed).fit(X, y).predict(X) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


def test_a_bag_of_bootstraps_reports_its_members():
    X, y, _ = noisy_waves(100, 0)
    draws = Bootstraps.draw(100, 4, np.random.RandomState(0))
    model, steps = SymmetricTrees(n_trees=5, random_state=0), []
    with listening(lambda *step: steps.append(step)):
        one = fit_bag(model, X, y, draws, n_jobs=1, stage="center")
        two = fit_bag(model, X, y, draws, n_jobs=2, stage="center")
    assert steps == 2 * [("center", i, 4) for i in range(1, 5)]
    np.testing.assert_array_equal(one.predict_members(X), two.predict_members(X))


def test_the_automatic_rate_rises_with_rows_and_falls_with_trees():
    rates = automatic_rate(np.array([5, 1000, 10**9]), 400)
    assert np.all(np.diff(rates) > 0)
    assert rates[-1] == 0.5
    assert rates[1] == pytest.approx(0.178, abs=0.001)
    assert automatic_rate(np.array(1000), 800) < rates[1]


def test_a_finer_model_has_twice_the_trees_and_the_steps_that_go_with_them():
    by_hand = SymmetricTrees(n_trees=100, learning_rate=float(automatic_rate(np.array(500), 100)))
    finer, auto = by_hand.finer(8), SymmetricTrees(n_trees=100).finer(8)
    assert (finer.n_trees, auto.n_trees, auto.learning_rate) == (200, 200, "auto")
    assert finer.learning_rate == pytest.approx(automatic_rate(np.array(500), 200))
    assert (finer.column_share, by_hand.finer(64).column_share) == (1.0, 0.5)
    assert by_hand.n_trees == 100


def test_the_automatic_rate_goes_by_the_rows_of_a_member():
    X, y, _ = noisy_waves(200, 0)
    counts = np.ones((2, 200), np.uint8)
    counts[1, 100:] = 0
    auto, by_hand = (
        SymmetricTrees(n_trees=100, random_state=0, learning_rate=rate).fit_bag(X, y, counts)
        for rate in ("auto", float(automatic_rate(np.array(100), 100)))
    )
    np.testing.assert_array_equal(auto.value[1], by_hand.value[1])
    assert (auto.value[0] != by_hand.value[0]).any()


@pytest.mark.slow
def test_a_fitted_model_predicts_in_a_fresh_process(tmp_path):
    X, y, _ = noisy_waves(100, 0)
    model = SymmetricTrees(n_trees=5).fit(X, y)
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(model))
    np.save(tmp_path / "X.npy", X)
    script = (
        "import pickle, sys, numpy as np\n"
        "import clearbands.models.symmetric_trees\n"
        "assert 'numba' not in sys.modules\n"
        "model = pickle.load(open('model.pickle', 'rb'))\n"
        "np.save('predicted.npy', model.predict(np.load('X.npy')))\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "predicted.npy"), model.predict(X))


@pytest.mark.parametrize("loss", ["squared", "absolute"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_predictions_rise_and_fall_for_any_two_rows(loss, seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 80)), int(rng.integers(1, 5))
    X = rng.integers(0, 9, (n, d)) / 4
    y, ways = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4), rng.integers(-1, 2, d)
    model = SymmetricTrees(loss, n_trees=30, max_depth=5, monotone=ways.tolist(), l2=0.0)
    model.fit(X, y)
    low = rng.uniform(-0.5, 2.5, (200, d))
    step = np.where(
        ways == 0, 0, ways * rng.exponential(size=(200, d)) * rng.integers(0, 2, (200, d))
    )
    assert (model.predict(low + step) >= model.predict(low)).all()


def test_whole_weights_are_repeated_rows_in_order_too():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(80, 3)), rng.normal(size=80), rng.integers(1, 4, 80)
    trees = SymmetricTrees(n_trees=30, max_depth=4, learning_rate=0.2, monotone=[1, 0, -1])
    rows = np.repeat(np.arange(80), weight)
    one, other = trees.set_params(random_state=0), SymmetricTrees(**trees.get_params())
    one.fit(X, y, sample_weight=weight)
    other.fit(X[rows], y[rows])
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_columns_without_a_direction_grow_the_same_trees():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    free, zeros = (SymmetricTrees(n_trees=20, monotone=m, random_state=0) for m in (None, [0] * 3))
    np.testing.assert_array_equal(free.fit(X, y).predict(X), zeros.fit(X, y).predict(X))
