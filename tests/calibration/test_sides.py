"""The two sides of the calibration rows are treated apart where they differ beyond chance."""

import numpy as np

from clearbands.calibration.sides import are_skewed, median_share, side_paces
from clearbands.rows.levels import normal_distances


def test_sides_lean_by_more_than_chance():
    (reach,) = normal_distances([0.9])
    inside, below, above = np.zeros(50), np.full(16, -2 * reach), np.full(4, 2 * reach)
    assert are_skewed(np.concatenate([inside, below, above]), None, np.array([0.9]))
    assert not are_skewed(np.concatenate([inside, below[:12], above]), None, np.array([0.9]))
    one = np.concatenate([inside, [3.0]])  # a row of weight 16 is still one row
    assert not are_skewed(one, np.append(np.ones(50), 16.0), np.array([0.9]))


def test_a_row_on_the_edge_of_a_band_is_inside_however_it_is_rounded():
    (reach,) = normal_distances([0.9])
    rounded = np.repeat([np.nextafter(reach, 0), reach, np.nextafter(reach, 2)], 16)
    assert not are_skewed(rounded, None, np.array([0.9]))
    assert are_skewed(rounded * (1 + 1e-9), None, np.array([0.9]))


def test_sides_that_differ_by_chance_alone_have_one_pace():
    rng = np.random.default_rng(0)
    found = [side_paces(rng.normal(size=300), None, 0.9) is not None for _ in range(200)]
    assert np.mean(found) < 0.03
    lopsided = np.concatenate([-rng.random(30), 0.01 * rng.random(300)])
    assert side_paces(lopsided, None, 0.9) is None  # 30 rows are too few for a pace
    ties = np.concatenate([-rng.random(300), np.zeros(200), rng.random(100)])
    above = side_paces(ties, None, 0.9)[1]
    assert np.all(np.diff(above, axis=1) > 0)
    weight = rng.integers(1, 4, len(ties)).astype(float)
    repeated = side_paces(np.repeat(ties, weight.astype(int)), None, 0.9)
    for one, other in zip(side_paces(ties, weight, 0.9), repeated, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_rows_that_lean_by_chance_alone_leave_the_median_at_the_center():
    assert median_share(np.array([-1.0, -1.0, 1.0]), np.ones((3, 2))) == 0.0
    assert median_share(np.full(9, -0.5), np.ones((9, 2))) == -0.5
    assert median_share(np.full(9, 7.0), np.ones((9, 2))) == 0.9  # the most: inside the bound
    one_sided, ones = np.array([-0.2, -0.4, -0.6]), np.ones((3, 2))
    assert median_share(one_sided, ones, np.array([9.0, 1.0, 1.0])) == 0.0  # one row weighs most
    assert median_share(np.repeat(one_sided, 3), np.repeat(ones, 3, axis=0)) == -0.4
