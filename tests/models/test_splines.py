"""B-splines against scikit-learn."""

import numpy as np
import pytest
from sklearn.preprocessing import SplineTransformer

from clearbands.models.splines import SplineBasis

UNIT = np.array([-1e6, -0.5, 0.0, 1e-9, 0.3, 0.999, 1.0, 1.5, 7.0])


@pytest.mark.parametrize(("n_splines", "spline_order"), [(20, 3), (8, 2), (5, 1)])
def test_splines_are_those_of_scikit_learn_and_go_on_as_straight_lines(n_splines, spline_order):
    knots = np.linspace(0, 1, n_splines - spline_order + 1)[:, None]
    theirs = SplineTransformer(
        degree=spline_order, knots=knots, extrapolation="linear", include_bias=False
    ).fit(knots)
    basis = SplineBasis.from_data(knots, n_splines, spline_order)
    terms = basis.apply(UNIT[:, None])
    np.testing.assert_array_equal(terms[:, 0], 1)
    expected = theirs.transform(UNIT[:, None])
    np.testing.assert_allclose(terms[:, 1:], expected, rtol=1e-12, atol=1e-15)


def test_every_column_has_splines_over_its_own_range():
    columns = np.column_stack([[0.0, 1.0, 0.0], [5.0, 5.0, 5.0], [-3.0, 1.0, 2.0], [0.0, 9.0, 2.0]])
    basis = SplineBasis.from_data(columns, 6, 3)
    terms = basis.apply(np.asfortranarray(columns))
    assert terms.shape == (3, 1 + 1 + 2 * 5)
    np.testing.assert_array_equal(terms[:, :2], [[1, 0], [1, 1], [1, 0]])
    for first, column in ((2, 2), (7, 3)):
        alone = SplineBasis.from_data(columns[:, [column]], 6, 3)
        own = alone.apply(columns[:, [column]])[:, 1:]
        np.testing.assert_array_equal(terms[:, first : first + 5], own)


def test_a_missing_value_has_no_splines():
    basis = SplineBasis.from_data(np.linspace(0, 1, 5)[:, None], 6, 3)
    assert np.isnan(basis.apply(np.array([[np.nan]]))[0, 1:]).all()
