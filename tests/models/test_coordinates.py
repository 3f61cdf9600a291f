"""The coordinates in which distances are taken."""

import numpy as np

from clearbands.models.coordinates import Coordinates, learn_linear_map
from clearbands.models.kernels import Kernel
from tests.models.wave_rows import waves


def test_directions_in_which_nothing_changes_are_made_short():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 4))
    turn, _ = learn_linear_map(Z, np.sin(2 * (Z[:, 0] + Z[:, 1])), Kernel("gaussian"))
    lengths = np.linalg.norm(np.array([[1, 1, 0, 0], [1, -1, 0, 0], [0, 0, 1, 1]]) @ turn, axis=1)
    assert lengths[0] > 3 * lengths[1]
    assert lengths[0] > 3 * lengths[2]


def test_far_values_are_as_the_farthest():
    X, _ = waves(50, 2)
    near = Coordinates.from_data(X, np.ones(50), by_rank=False)
    far, farther = np.array([[1e9, 0.0]]), np.array([[1e300, 0.0]])
    np.testing.assert_array_equal(near.apply(far), near.apply(farther))
