"""Symmetric trees for classes: the estimator's contract, a second implementation, and laws."""

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands import SymmetricTreesClassifier
from clearbands.engine.symmetric_classes import fit_symmetric_class_bag
from clearbands.engine.symmetric_logistic import FINEST

SETTINGS = {
    "n_trees": 4,
    "max_depth": 2,
    "l2": 1.0,
    "max_bins": 256,
    "n_jobs": 1,
    "stage": "test",
}


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
    np.testing.assert_allclose(near, one, atol=0.2)  # cut and rounded by grains


def clouds(n=120, n_classes=3, seed=0, distinct=None):
    rng = np.random.default_rng(seed)
    label = rng.integers(n_classes, size=n)
    label[:n_classes] = np.arange(n_classes)
    X = rng.normal(size=(n, 3)) + label[:, None] * [1.5, 0.0, -0.5]
    return (X if distinct is None else np.round(X * distinct) / distinct), label


def fit(X, label, n_classes, counts, seeds=None, **settings):
    seeds = np.arange(len(counts)) if seeds is None else seeds
    rates = np.full(len(counts), 0.5)
    settings = SETTINGS | settings
    return fit_symmetric_class_bag(
        X, label, n_classes, counts, learning_rates=rates, seeds=seeds, **settings
    )


def slow_logits(X, label, n_classes, n_trees, max_depth, rate, l2):
    """The same with floats, one question at a time; of few distinct values all cuts are tried."""
    units = 2.0**FINEST
    shares = np.log(np.bincount(label, minlength=n_classes) + 0.5)
    two = n_classes == 2
    score = np.tile([shares[1] - shares[0]] if two else shares - shares.mean(), (len(X), 1))
    for _ in range(n_trees):
        if two:
            p = 1 / (1 + np.exp(-score))
        else:
            p = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
        new = score.copy()
        for k in range(score.shape[1]):
            g = (label == (1 if two else k)) - p[:, k]
            h = np.maximum(1, np.floor(p[:, k] * (1 - p[:, k]) * units)) / units
            leaf = np.zeros(len(X), int)
            for level in range(max_depth):
                leaf += best_answer(X, g, h, leaf, l2) << level
            for own in np.unique(leaf):
                rows = leaf == own
                new[rows, k] += rate * g[rows].sum() / (h[rows].sum() + l2)
        score = new
    return np.hstack([-score, score]) / 2 if two else score - score.mean(axis=1, keepdims=True)


def best_answer(X, g, h, leaf, l2):
    best, answer = -1.0, None
    for column in X.T:
        for cut in np.unique(column)[:-1]:
            above = column > cut
            places = 2 * leaf + above
            gs, hs = np.bincount(places, g), np.bincount(places, h)
            explained = (gs**2 / (hs + l2)).sum()
            if explained > best * (1 + 1e-9):
                best, answer = explained, above.astype(int)
    return answer


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_slow_and_obvious_implementation_agrees(n_classes):
    X, label = clouds(80, n_classes, distinct=2)
    bag = fit(X, label, n_classes, np.ones((1, 80), np.uint8))
    slow = slow_logits(X, label, n_classes, 4, 2, 0.5, 1.0)
    np.testing.assert_allclose(bag.predict_logits(X)[:, 0], slow, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_counts_are_repeated_rows_in_any_order(n_classes):
    X, label = clouds(90, n_classes, distinct=4)
    counts = np.random.default_rng(1).integers(0, 4, size=90)
    counts[:n_classes] = 1
    weighted = fit(X, label, n_classes, counts[None])
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(90), counts))
    repeated = fit(X[rows], label[rows], n_classes, np.ones((1, len(rows)), np.uint8))
    np.testing.assert_array_equal(weighted.predict_logits(X), repeated.predict_logits(X))


def test_threads_and_the_other_members_change_nothing():
    X, label = clouds(150)
    counts = np.random.default_rng(0).integers(0, 3, size=(5, 150)).astype(np.uint8)
    one, two = (fit(X, label, 3, counts, n_jobs=jobs) for jobs in (1, 2))
    said = one.predict_logits(X)
    np.testing.assert_array_equal(said, two.predict_logits(X))
    alone = fit(X, label, 3, counts[3:4], seeds=np.array([3]))
    np.testing.assert_array_equal(alone.predict_logits(X)[:, 0], said[:, 3])
    np.testing.assert_array_equal(one.member(3).predict_logits(X)[:, 0], said[:, 3])


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
    X[:, 100] += 4 * (label == 1)  # neither rising nor falling with the number of the class
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
