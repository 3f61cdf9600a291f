import numpy as np
import pytest

from clearbands.rows.bands import Components, make_interval
from clearbands.uncertainty.epistemic import CenterAndWidths
from clearbands.uncertainty.pairs import Blend, add_visible_columns


def components(center, aleatoric, epistemic):
    return Components(
        np.full(3, center), np.full((3, 2, 1), aleatoric), np.full((3, 2, 1), epistemic)
    )


def test_the_bounds_of_a_blend_are_the_means_of_the_bounds():
    parts = components(1.0, 2.0, 0.5), components(3.0, 1.0, 4.0)
    factors = np.array([[[1.5], [2.0]], [[0.5], [1.0]]])
    center, aleatoric, epistemic = Blend((), factors).average(parts)
    mean = make_interval(center, aleatoric + epistemic)
    single = [
        make_interval(part.center, f[0] * part.aleatoric + f[1] * part.epistemic)
        for part, f in zip(parts, factors, strict=True)
    ]
    np.testing.assert_allclose(mean, np.mean(single, axis=0))
    np.testing.assert_allclose(center, 2.0)


@pytest.mark.parametrize(
    ("shown", "added"),
    [("nothing", [[], []]), ("center", [[5], [6]]), ("center and spread", [[5, 3], [6, 7]])],
)
def test_what_the_noise_is_shown(shown, added):
    said = CenterAndWidths(np.array([5.0, 6.0]), np.array([[[1.0], [2.0]], [[3.0], [4.0]]]))
    seen = add_visible_columns(np.zeros((2, 2)), said, shown)
    np.testing.assert_array_equal(seen[:, 2:], added)
