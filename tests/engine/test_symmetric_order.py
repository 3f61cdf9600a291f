"""Leaf values in the order that predictions must keep."""

import numpy as np

from clearbands.models.symmetric_trees import SymmetricTrees


def one_tree(X, y, monotone, weight=None, loss="squared"):
    model = SymmetricTrees(
        loss, n_trees=1, max_depth=2, learning_rate=1.0, l2=0.0, monotone=monotone
    )
    return model.fit(X, y, sample_weight=weight)


def test_leaves_are_the_nearest_in_order():
    """The target must rise with both columns over four cells: a solver gives the same leaves."""
    from scipy.optimize import minimize

    cells = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    mean, weight = np.array([1.0, 3.0, 2.5, 0.5]), np.array([2.0, 1.0, 3.0, 2.0])
    found = one_tree(cells, mean, [1, 1], weight).predict(cells)
    in_order = [
        {"type": "ineq", "fun": lambda v, a=a, b=b: v[b] - v[a]}
        for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))
    ]
    best = minimize(lambda v: weight @ (v - mean) ** 2, mean, constraints=in_order).x
    np.testing.assert_allclose(found, best, atol=1e-3)
    assert found[0] <= min(found[1], found[2]) <= max(found[1], found[2]) <= found[3]
