"""Bags of members for classes: counts, threads and neighbours."""

import numpy as np
import pytest

from tests.engine.class_bags import clouds, fit


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
