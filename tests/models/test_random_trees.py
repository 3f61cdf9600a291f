"""RandomTrees: the contract of estimators, and the data that it suits."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands.models.bagging import fit_bag, predict_unseen
from clearbands.models.mixture import Mixture
from clearbands.models.random_trees import RandomTrees
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.rows.draws import Folds
from tests.models.waves import noisy_waves


@parametrize_with_checks([RandomTrees(n_trees=10), RandomTrees(10, min_samples_leaf=3)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ["n_trees", "min_samples_leaf"])
def test_wrong_settings_are_named(name):
    X, y, _ = noisy_waves(30, 0)
    with pytest.raises(ValueError, match=rf"{name} must be a whole number of at least 1, got 0"):
        RandomTrees(**{name: 0}).fit(X, y)


def test_a_mean_of_many_trees_is_nearer_to_the_center_than_one():
    X, y, _ = noisy_waves(600, 0)
    X_new, _, center = noisy_waves(600, 1)
    one, many = (
        np.abs(RandomTrees(n, random_state=0).fit(X, y).predict(X_new) - center).mean()
        for n in (1, 60)
    )
    assert many < 0.6 * one
    assert many < 0.3 * np.abs(center - center.mean()).mean()


def test_a_row_of_weight_three_is_three_rows():
    X, y, _ = noisy_waves(80, 0)
    weight = np.arange(80) % 4
    repeated = np.repeat(np.arange(80), weight)
    model = RandomTrees(8, min_samples_leaf=2, random_state=0)
    weighed = model.fit(X, y, sample_weight=weight).predict(X)
    np.testing.assert_array_equal(weighed, clone(model).fit(X[repeated], y[repeated]).predict(X))


def test_neither_unit_of_y_nor_scale_of_a_column_matters():
    X, y, _ = noisy_waves(150, 0)
    model = RandomTrees(8, random_state=0)
    expected = model.fit(X, y).predict(X)
    np.testing.assert_allclose(model.fit(X, 1000 * y - 7).predict(X), 1000 * expected - 7)
    np.testing.assert_allclose(model.fit(np.exp(5 * X), y).predict(np.exp(5 * X)), expected)


def test_targets_that_are_all_the_same():
    X, _, _ = noisy_waves(20, 0)
    np.testing.assert_array_equal(RandomTrees(3).fit(X, np.full(20, 2.5)).predict(X), 2.5)


def test_members_predict_what_they_did_not_see():
    X, y, _ = noisy_waves(90, 0)
    draws = Folds.draw(90, 3, 2, np.random.RandomState(0))
    bag = fit_bag(RandomTrees(5, random_state=0), X, y, draws, n_jobs=2, stage="test")
    members = bag.predict_members(X)[:, 0]
    expected = members[draws.unseen.T].reshape(90, 2)
    np.testing.assert_array_equal(predict_unseen(bag, X, draws)[:, 0], expected)
    again = pickle.loads(pickle.dumps(bag))
    np.testing.assert_array_equal(again.predict_members(X)[:, 0], members)
    one = fit_bag(RandomTrees(5, random_state=0), X, y, draws, n_jobs=1, stage="test")
    np.testing.assert_array_equal(one.predict_members(X)[:, 0], members)


def test_repeated():
    assert RandomTrees(40).repeated(1 / 6).n_trees == 7
    mixture = Mixture([RandomTrees(10), SymmetricTrees()], [0.5, 0.5]).repeated(0.5)
    assert mixture.models[0].n_trees == 5
    assert mixture.models[1].n_trees == SymmetricTrees().n_trees
