"""The logits of a row by fitted classifiers."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from clearbands.models.class_bags import FLOOR, ListedClassifiers, classes_of, unseen_logits
from clearbands.selection.fit_classes import stratified_folds


def test_few_members_are_spread_as_many_would_be():
    rng = np.random.default_rng(0)
    draws = stratified_folds(np.zeros(4000, int), 5, 2, rng=np.random.RandomState(0))
    logits = rng.normal(size=(4000, 10, 2))
    few = unseen_logits(logits, draws)
    assert few.shape == (4000, 2, 2)
    assert few.var(axis=1).mean() == pytest.approx(logits.var(axis=1).mean(), rel=0.03)
    np.testing.assert_allclose(few.mean(axis=1)[0], logits[0, draws.unseen[:, 0]].mean(axis=0))


X, Y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), np.array([0, 1, 2, 0, 1, 2])


def fitted(y):
    return GaussianNB(var_smoothing=1.0).fit(X[: len(y)], y)


def test_logits_are_centred_logs_in_the_order_of_the_classes():
    members = [fitted(Y), fitted(Y[::-1])]
    logits = ListedClassifiers(members, classes_of(members)).predict_logits(X)
    assert logits.shape == (6, 2, 3)
    np.testing.assert_allclose(logits.sum(axis=2), 0, atol=1e-12)
    for i, member in enumerate(members):
        np.testing.assert_allclose(softmax(logits[:, i], axis=1), member.predict_proba(X))


def test_no_member_rules_a_class_out():
    sure = DecisionTreeClassifier().fit(X, Y)
    logits = ListedClassifiers([sure], classes_of([sure])).predict_logits(X)
    np.testing.assert_allclose(np.ptp(logits, axis=2), -np.log(FLOOR))


def test_members_that_cannot_be_asked_together_are_named():
    with pytest.raises(ValueError, match="Member 1 knows the classes 0, 1, member 0 knows 0, 1, 2"):
        classes_of([fitted(Y), fitted(Y[:2])])
    with pytest.raises(TypeError, match=r"Member 1 must be a fitted classifier .* got LinearReg"):
        classes_of([fitted(Y), LinearRegression().fit(X, Y)])
