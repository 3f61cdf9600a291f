"""Symmetric trees for classes: the contract of estimators, names of classes, and rounds."""

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands import SymmetricTreesClassifier
from tests.engine.class_bags import clouds, fit


@parametrize_with_checks([SymmetricTreesClassifier(n_trees=8, max_depth=2)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_whole_weights_are_repeated_rows_bit_for_bit(n_classes):
    X, label = clouds(n_classes=n_classes)
    weight = np.random.default_rng(0).integers(0, 4, len(label))
    weight[:n_classes] = 1
    rows = np.repeat(np.arange(len(label)), weight)
    model = SymmetricTreesClassifier(n_trees=8, max_depth=3, random_state=0)
    one = model.fit(X, label, weight).predict_proba(X)
    other = model.fit(X[rows], label[rows]).predict_proba(X)
    np.testing.assert_array_equal(one, other)
    near = model.fit(X, label, weight + 1e-9 * (weight > 0)).predict_proba(X)
    np.testing.assert_allclose(near, one, atol=0.2)  # the weights are cut and rounded by grains


def test_classes_that_change_names_change_columns():
    X, label = clouds(150)
    moved = (label + 1) % 3
    one = SymmetricTreesClassifier(n_trees=8, random_state=0).fit(X, label).predict_proba(X)
    other = SymmetricTreesClassifier(n_trees=8, random_state=0).fit(X, moved).predict_proba(X)
    np.testing.assert_allclose(one, other[:, [1, 2, 0]], atol=1e-9)


def test_more_rounds_explain_more_and_the_first_are_the_same():
    X, label = clouds(200)
    losses = [
        log_loss(label, SymmetricTreesClassifier(n_trees=n).fit(X, label).predict_proba(X))
        for n in (4, 16, 64)
    ]
    assert losses[0] > losses[1] > losses[2]
    long, short = (fit(X, label, 3, np.ones((1, 200), int), n_trees=n) for n in (16, 8))
    np.testing.assert_array_equal(long.first(8).predict_logits(X), short.predict_logits(X))


def test_very_many_columns_are_screened_for_each_class():
    rng = np.random.default_rng(0)
    label = rng.integers(3, size=400)
    X = rng.normal(size=(400, 600))
    X[:, 100] += 4 * (label == 1)  # neither rises nor falls with the number of the class
    model = SymmetricTreesClassifier(n_trees=8, max_depth=2, random_state=0).fit(X, label)
    assert np.mean((model.predict_proba(X)[:, 1] > 0.5) == (label == 1)) > 0.9


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"l2": 0}, "l2 must be a number above 0"),
        ({"n_trees": 0}, "n_trees"),
        ({"n_trees": "many"}, "n_trees"),
        ({"max_depth": 11}, "max_depth"),
        ({"learning_rate": 2}, "learning_rate"),
    ],
)
def test_wrong_settings_are_named(parameters, said):
    with pytest.raises(ValueError, match=said):
        SymmetricTreesClassifier(**parameters).fit(*clouds())
