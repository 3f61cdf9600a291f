"""Weights as whole numbers of grains."""

import numpy as np
import pytest

from clearbands.engine.grains import MOST_IN_ALL, Grains
from tests.toys import linear_clear, noisy_line


def test_grains_have_few_digits_less_than_the_weights():
    weight = np.random.default_rng(0).gamma(1, size=1000)
    grains = Grains.of(weight)
    np.testing.assert_allclose(grains.of_rows / grains.per_one, weight, atol=1 / grains.per_one)
    assert np.log2(grains.per_one).is_integer()
    huge = Grains.of(np.full(1000, 1e9))
    assert huge.of_rows.sum() <= MOST_IN_ALL
    np.testing.assert_allclose(huge.drawn(np.ones((2, 1000), np.uint8)), 1e12, rtol=1e-3)


def test_a_light_row_is_a_row():
    weight = np.append(np.full(5, 1e9), np.full(5, 0.5))
    assert (Grains.of(weight).of_rows > 0).all()
    with pytest.raises(ValueError, match="sample_weight adds up to 2e"):
        linear_clear(calibration="cross").fit(*noisy_line(20), sample_weight=np.full(20, 1e300))
