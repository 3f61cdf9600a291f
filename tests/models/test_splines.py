"""B-splines against scikit-learn."""

import numpy as np
import pytest
from sklearn.preprocessing import SplineTransformer

from clearbands.models.splines import unit_splines


@pytest.mark.parametrize(("n_splines", "spline_order"), [(20, 3), (8, 2), (5, 1)])
def test_splines_are_those_of_scikit_learn_and_go_on_as_straight_lines(n_splines, spline_order):
    knots = np.linspace(0, 1, n_splines - spline_order + 1)[:, None]
    theirs = SplineTransformer(
        degree=spline_order, knots=knots, extrapolation="linear", include_bias=False
    ).fit(knots)
    unit = np.array([-1e6, -0.5, 0.0, 1e-9, 0.3, 0.999, 1.0, 1.5, 7.0])
    ours = unit_splines(n_splines, spline_order)(unit)
    np.testing.assert_array_equal(ours, theirs.transform(unit[:, None]))
