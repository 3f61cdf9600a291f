"""A line with a step, and a model of few trees."""

import numpy as np

from clearbands.models.symmetric_trees import SymmetricTrees

FEW = SymmetricTrees(n_trees=12, max_depth=2, random_state=0)


def line_with_a_step(n=120):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (n, 2))
    return X, 5 * X[:, 0] + (X[:, 1] > 0.5) + rng.normal(0, 0.05, n)
