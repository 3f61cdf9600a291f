"""Predictions of symmetric trees: sums of leaves, whichever rows are predicted together."""

import numpy as np
import pytest

from tests.engine.symmetric_bags import bootstraps, fit, predict, problem


def test_members_are_the_sums_of_their_leaves():
    X, y, rng = problem(80, 3)
    bag = fit(X, y, bootstraps(80, 3, rng), n_trees=7, max_depth=4)
    new = rng.uniform(size=(600, 3))  # more than one block of rows
    members = bag.predict_members(new)
    assert members.shape == (600, 1, 3)
    binned = bag.bins.apply(new, np.uint16)
    for i, b in [(0, 0), (7, 2), (511, 1), (512, 0), (599, 2)]:
        expected = bag.init[b]
        for columns, last, value in zip(
            bag.feature[b], bag.threshold[b], bag.value[b], strict=True
        ):
            expected += value[(binned[i, columns] > last) @ 2 ** np.arange(4)]
        assert members[i, 0, b] == pytest.approx(expected * bag.unit[b], rel=1e-6)


@pytest.mark.parametrize("n_trees", [1, 4, 7])
@pytest.mark.parametrize("max_depth", [1, 6])
def test_few_rows_are_predicted_as_among_many(n_trees, max_depth):
    X, y, rng = problem(80, 3)
    bag = fit(X, y, bootstraps(80, 2, rng), n_trees=n_trees, max_depth=max_depth)
    new = rng.uniform(size=(530, 3))
    members = predict(bag, new)
    for n in (1, 2, 5, 16, 17, 512, 513):
        np.testing.assert_array_equal(predict(bag, new[:n]), members[:n])
    for i in (0, 100, 529):
        np.testing.assert_array_equal(predict(bag, new[[i]]), members[[i]])
    assert predict(bag, new[:0]).shape == (0, 2)
