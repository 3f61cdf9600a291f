"""Far from the data."""

import numpy as np

from experiments import beyond
from experiments.simulation_fit import Cell


def test_the_default_covers_far_out_and_is_untouched_within():
    scores = beyond.world_coverage(Cell("homo", 1, 0), 200)
    neither, least, grows = scores[:, :, 0]
    assert grows[-1] > least[-1] >= neither[-1]
    np.testing.assert_array_equal(scores[2, :3], scores[1, :3])
