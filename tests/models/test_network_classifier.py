"""Networks for classes: the contract of estimators, and unseen rows that stay unseen."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands import ClearClassifier, NetworkClassifier, load, save
from tests.deep import need_torch

need_torch()
TINY = {"hidden": (6,), "max_epochs": 8, "batch_size": 32, "random_state": 0}


def clouds(n=160, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return rng.normal(size=(n, 2)) + 2.5 * np.eye(3)[y][:, :2], y


@pytest.mark.slow
@parametrize_with_checks([NetworkClassifier((8,), learning_rate=0.03, max_epochs=60)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_it_learns_classes():
    X, y = clouds(400)
    X_new, y_new = clouds(200, seed=1)
    model = NetworkClassifier((16,), max_epochs=40, learning_rate=0.01, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X_new).sum(axis=1), 1)
    assert np.mean(model.predict(X_new) == y_new) > 0.8


def test_rows_that_a_member_must_not_see_change_nothing():
    X, y = clouds()
    counts = np.ones((2, 160), np.uint8)
    counts[0, :40] = counts[1, 40:80] = 0
    model = NetworkClassifier(**TINY)
    one = model.fit_class_bag(X, y, 3, counts).predict_logits(X)
    other = y.copy()
    other[:40] = (y[:40] + 1) % 3
    two = model.fit_class_bag(X, other, 3, counts).predict_logits(X)
    np.testing.assert_array_equal(one[:, 0], two[:, 0])
    assert not np.array_equal(one[:, 1], two[:, 1])


def test_in_an_ensemble_and_in_a_file(tmp_path):
    X, y = clouds()
    model = ClearClassifier(NetworkClassifier(**TINY), n_folds=3, n_repeats=2, random_state=0)
    said = model.fit(X, y).predict_proba(X)
    assert len(model.members_) == 6
    plain = np.exp(model.member_logits(X)[:, 2])
    plain /= plain.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.members_[2].predict_proba(X), plain, atol=1e-5)
    save(model, tmp_path / "model.clear")
    np.testing.assert_array_equal(load(tmp_path / "model.clear").predict_proba(X), said)
