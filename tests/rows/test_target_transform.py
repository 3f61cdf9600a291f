"""Scales of the target: there and back, with an error for values outside."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from clearbands.rows.target_transform import (
    FAR,
    NAMED,
    NEEDS,
    FittedTransform,
    Named,
    Shifted,
    check_domain,
    check_transform,
    fit_target_transform,
    shift_large_targets,
)


@pytest.mark.parametrize("name", sorted(NAMED))
@given(y=st.lists(st.floats(1e-6, 1e12), min_size=1, max_size=9))
def test_named_scales_come_back_within_their_rounding(name, y):
    targets, scale = np.array(y), Named(name)
    again = scale.back(scale.forward(targets))
    np.testing.assert_allclose(again, targets, rtol=1e-9, atol=1e-9)
    assert np.all(np.diff(scale.forward(np.sort(targets))) >= 0)


@pytest.mark.parametrize(("name", "outside"), [("log", -1.0), ("log1p", -2.0), ("sqrt", -0.5)])
def test_below_the_domain_is_minus_infinity_and_is_refused(name, outside):
    y = np.array([1.0, outside])
    z = Named(name).forward(y)
    assert z[1] == -np.inf
    with pytest.raises(ValueError, match=f"needs targets {NEEDS[name]}, got {outside:g} in row 1"):
        check_domain(Named(name), y, z)


def test_targets_inside_are_not_refused():
    check_domain(Named("log"), np.ones(2), np.zeros(2))


def test_a_transformer_is_fitted_on_the_targets():
    y = np.array([0.0, 5.0, 10.0])
    transform = fit_target_transform(StandardScaler(), y)
    assert isinstance(transform, FittedTransform)
    assert transform.forward(y).mean() == pytest.approx(0)
    np.testing.assert_allclose(transform.back(transform.forward(y)), y)
    assert transform.back(np.array([-np.inf, np.inf])).tolist() == [-np.inf, np.inf]


@pytest.mark.parametrize(
    ("transformer", "words"),
    [
        (FunctionTransformer(np.negative, np.negative, check_inverse=False), "must rise with y"),
        (FunctionTransformer(np.exp, np.exp, check_inverse=False), "does not lead back to y"),
        (FunctionTransformer(np.log, np.exp, check_inverse=False), "has no finite value for y = 0"),
    ],
)
def test_a_transformer_that_is_no_scale(transformer, words):
    with pytest.raises(ValueError, match=words), np.errstate(divide="ignore"):
        fit_target_transform(transformer, np.array([0.0, 1.0, 2.0]))


@pytest.mark.parametrize(
    ("transform", "words"),
    [
        ("cube", "target_transform must be None"),
        (3, "or a transformer of scikit-learn"),
        (type("OneWay", (), {"fit": None, "transform": None})(), "OneWay has no inverse_transform"),
    ],
)
def test_what_is_no_transform(transform, words):
    with pytest.raises(ValueError, match=words):
        check_transform(transform)


def test_no_transform():
    check_transform(None)
    assert fit_target_transform(None, np.ones(3)) is None


@given(st.integers(1, 1_000))
def test_targets_far_from_zero_keep_the_digits_in_which_they_differ(step):
    y = 1e15 + np.arange(4.0) * step
    scale = shift_large_targets(y)
    assert isinstance(scale, Shifted)
    np.testing.assert_array_equal(np.diff(scale.forward(y)), step)
    np.testing.assert_array_equal(scale.back(scale.forward(y)), y)


def test_targets_near_zero_or_all_equal_stay_where_they_are():
    assert shift_large_targets(np.array([1.0, 2.0, 3.0])) is None
    assert shift_large_targets(np.array([1.0, 1.0])) is None
    assert shift_large_targets(np.array([0.9 * FAR, 0.9 * FAR + 2])) is None
