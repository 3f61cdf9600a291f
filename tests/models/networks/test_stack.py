"""Members side by side, on standardised columns."""

import numpy as np

from clearbands.models.networks.stack import Standard


def test_standardised_columns():
    values = np.array([[1.0, 1e9], [3.0, 1e9]])
    standard = Standard.of(values)
    np.testing.assert_array_equal(standard.apply(values), [[-1, 0], [1, 0]])
    np.testing.assert_array_equal(standard.undo(standard.apply(values)), values)
    # A constant column has no effect, whatever new rows hold.
    np.testing.assert_array_equal(standard.apply(np.array([[2.0, 0.0]])), [[0, 0]])
