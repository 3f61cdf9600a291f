import numpy as np
import pytest

from experiments import growing


def test_the_best_intervals_have_no_gap():
    _, center, scale = growing.draw(np.random.default_rng(0), 100)
    reach = 1.6448536269514722 * scale
    best = growing.gaps(np.column_stack([center - reach, center + reach]), center, scale)
    assert best == pytest.approx({"coverage": 0.9, "gap": 0, "lowest": 0.9, "excess_width": 0})
    point = growing.gaps(np.column_stack([center, center]), center, scale)
    assert point == pytest.approx({"coverage": 0, "gap": 0.9, "lowest": 0, "excess_width": -1})
