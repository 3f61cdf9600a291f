"""Sets of classes: the mass of the classes that are more probable."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clearbands.calibration.class_sets import mass_ahead


def test_the_mass_ahead_is_that_of_more_probable_classes():
    scores = mass_ahead(np.array([[0.2, 0.5, 0.3], [0.25, 0.25, 0.5], [1.0, 0.0, 0.0]]))
    np.testing.assert_allclose(scores, [[0.8, 0, 0.5], [0.5, 0.5, 0], [0, 1, 1]])


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=5))
def test_the_mass_ahead_agrees_with_its_definition(weights):
    weights = np.array(weights, float) + np.array([0, 0, 0, 1])
    p = weights / weights.sum(axis=1, keepdims=True)
    slow = [[sum(q for q in row if q > own) for own in row] for row in p]
    np.testing.assert_allclose(mass_ahead(p), slow, atol=1e-12)
    order = np.random.default_rng(0).permutation(4)
    np.testing.assert_allclose(mass_ahead(p[:, order]), mass_ahead(p)[:, order], atol=1e-12)
