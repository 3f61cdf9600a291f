"""Waves with noise, and their center."""

import numpy as np


def noisy_waves(n, seed):
    rng = np.random.RandomState(seed)
    X = rng.uniform(size=(n, 4))
    center = np.sin(6 * X[:, 0]) + X[:, 2] * X[:, 3]
    return X, center + 0.3 * rng.normal(size=n), center
