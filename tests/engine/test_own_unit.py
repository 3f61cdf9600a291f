"""Trees depend neither on the unit of y nor on that of a column, only on the order of values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearbands.engine.own_unit import STEPS, OwnUnit
from clearbands.models.boosted_quantiles import BoostedQuantiles
from clearbands.models.forest_quantiles import ForestQuantiles
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.rows.draws import Bootstraps

MODELS = [
    pytest.param(BoostedQuantiles((0.1, 0.5, 0.9), n_trees=60), id="boosting"),
    pytest.param(SymmetricTrees(n_trees=60, random_state=0), id="symmetric"),
    pytest.param(SymmetricTrees("absolute", n_trees=60, random_state=0), id="symmetric absolute"),
    pytest.param(ForestQuantiles((0.1, 0.5, 0.9), n_trees=10, random_state=0), id="forest"),
]


def rounded_rows(n=300, seed=0):
    """Draw targets of one decimal: many equal a prediction, so that a last bit would decide."""
    rng = np.random.RandomState(seed)
    X = rng.randn(n, 4)
    y = X[:, 0] + np.sin(3 * X[:, 1]) + (0.3 + np.abs(X[:, 2])) * rng.randn(n)
    return X, np.round(y, 1)


def members(model, X, y, new_X=None):
    counts = Bootstraps.draw(len(y), 5, np.random.RandomState(0)).counts
    return model.fit_bag(X, y, counts).predict_members(X if new_X is None else new_X)


@pytest.mark.parametrize("factor", [1.0000001, 1000.0, 0.3048, 1e-200, 1e200])
@pytest.mark.parametrize("model", MODELS)
def test_a_change_of_unit_changes_the_unit_alone(model, factor):
    X, y = rounded_rows()
    changed = members(model, X, y * factor) / factor
    np.testing.assert_allclose(changed, members(model, X, y), rtol=0, atol=1e-13)


@pytest.mark.parametrize("model", MODELS)
def test_fahrenheit_or_celsius(model):
    X, y = rounded_rows()
    changed = (members(model, X, 1.8 * y + 32) - 32) / 1.8
    np.testing.assert_allclose(changed, members(model, X, y), rtol=0, atol=1e-13)


@pytest.mark.parametrize("model", MODELS)
def test_rising_functions_of_columns_change_nothing_at_known_values(model):
    """Only between known values may predictions differ, since the middle of two values moves."""
    X, y = rounded_rows()
    changed = np.column_stack([np.exp(X[:, 0]), X[:, 1] ** 3, 1e6 * X[:, 2], np.arctan(X[:, 3])])
    np.testing.assert_array_equal(members(model, changed, y), members(model, X, y))


@settings(max_examples=50, deadline=None)
@given(
    drawn=st.lists(st.tuples(st.integers(-1000, 1000), st.integers(0, 3)), min_size=1).filter(
        lambda rows: sum(count for _, count in rows) > 0
    )
)
def test_the_own_unit_knows_weights_and_nothing_of_rows_that_were_not_drawn(drawn):
    y, counts = (np.array(column) for column in zip(*drawn, strict=True))
    once = np.repeat(y, counts) * 1.0
    unit = OwnUnit.of(y * 1.0, counts)
    assert unit == OwnUnit.of(once, np.ones(len(once), int))
    np.testing.assert_allclose(
        unit.origin + unit.unit * unit.apply(once), once, rtol=0, atol=unit.unit / STEPS
    )


def test_mostly_equal_targets_have_the_spread_of_the_others():
    y = np.zeros(100)
    y[:3] = [1.0, -5.0, 2.0]
    assert OwnUnit.of(y, np.ones(100, int)) == (0.0, 5.0)
    assert OwnUnit.of(np.full(9, 0.1), np.ones(9, int)) == (0.1, 1.0)
