"""One member for the probabilities of classes against a slow and obvious implementation."""

import numpy as np
import pytest

from clearbands.engine.symmetric_logistic import FINEST
from tests.engine.class_bags import clouds, fit


def slow_logits(X, label, n_classes, n_trees, max_depth, rate, l2):
    """Fit with floats, one question at a time; columns have few values, so all cuts are tried."""
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
