"""The quantile regression against a solver of linear programs, and against ranks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from clearbands.calibration.conformal import order_statistic, rank
from clearbands.calibration.quantile_fit import QuantileFit

SHORT = 1e-8


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 1.0, 1.5, 2.0, 7.0, np.inf]), min_size=1, max_size=40),
    st.sampled_from([0.5, 0.8, 0.9, 1 / 3]),
)
def test_with_a_constant_alone_it_is_the_order_statistic(scores, level):
    """The cases include ties, infinite scores and too few rows."""
    fit = QuantileFit(np.array(scores), np.ones((len(scores), 1)), level)
    cutoff = fit.cutoffs(np.ones((1, 1)), np.array([level - SHORT]))[0]
    assert cutoff == order_statistic(np.array(scores), rank(len(scores), level))


def by_linear_program(scores, functions, level, new, u):
    """Solve the dual: slopes between level - 1 and level that balance every function."""
    bounds = [(level - 1, level)] * len(scores)
    found = linprog(-scores, A_eq=functions.T, b_eq=-u * new, bounds=bounds)
    return -new @ found.eqlin.marginals if found.status == 0 else np.copysign(np.inf, u)


@pytest.mark.parametrize("kind", ["groups", "functions"])
@pytest.mark.parametrize("seed", range(6))
def test_it_finds_what_a_solver_of_linear_programs_finds(kind, seed):
    rng = np.random.default_rng(seed)
    n, p = 40 + 10 * seed, 4
    more = rng.random((n, p - 1)) < 0.4 if kind == "groups" else rng.normal(size=(n, p - 1))
    functions = np.column_stack([np.ones(n), more]).astype(float)
    scores = np.abs(rng.normal(size=n)) * (1 + functions[:, 1] ** 2)
    fit = QuantileFit(scores, functions, 0.8)
    u = rng.uniform(-0.2, 0.8, 12)
    cutoffs = fit.cutoffs(functions[:12], u)
    for new, each, cutoff in zip(functions, u, cutoffs, strict=False):
        expected = by_linear_program(scores, functions, 0.8, new, each)
        assert cutoff == pytest.approx(expected, rel=1e-7, abs=1e-7)
    again = QuantileFit(scores, functions, 0.8, fit.on_fit).cutoffs(functions[:12], u)
    np.testing.assert_allclose(again, cutoffs, rtol=1e-12)


def test_cutoffs_rise_with_u_and_end_in_infinity_on_both_sides():
    rng = np.random.default_rng(0)
    functions = np.column_stack([np.ones(30), np.arange(30) < 3]).astype(float)
    fit = QuantileFit(rng.random(30), functions, 0.8)
    u = np.linspace(-0.2, 0.8, 101)
    cutoffs = fit.cutoffs(np.tile([1.0, 1.0], (101, 1)), u)  # new rows in a group of three
    assert (np.diff(cutoffs[np.isfinite(cutoffs)]) >= 0).all()
    assert cutoffs[-1] == np.inf
    assert np.isfinite(cutoffs[50])
    outside = fit.cutoffs(np.tile([1.0, 0.0], (101, 1)), u)
    assert np.isfinite(outside[-1])


@pytest.mark.parametrize("seed", range(20))
def test_infinite_scores_make_cutoffs_infinite_and_nothing_else(seed):
    rng = np.random.default_rng(seed)
    n = 60
    functions = np.column_stack([np.ones(n), rng.random((n, 4)) < 0.3]).astype(float)
    scores = np.where(rng.random(n) < 0.1, np.inf, rng.random(n))
    fit = QuantileFit(scores, functions, 0.9)
    cutoffs = fit.cutoffs(functions, np.full(n, 0.9 - SHORT))
    assert not np.isnan(cutoffs).any()
    high = QuantileFit(np.where(np.isinf(scores), 1e6, scores), functions, 0.9)
    expected = high.cutoffs(functions, np.full(n, 0.9 - SHORT))
    same = np.isfinite(cutoffs)
    np.testing.assert_allclose(cutoffs[same], expected[same], rtol=1e-9, atol=1e-9)
    assert ((np.abs(expected[~same]) > 1e4) | np.isposinf(cutoffs[~same])).all()


@pytest.mark.parametrize("far", [1e9, 1e12, 1e16, 1e120, 1e300])
def test_one_score_far_beyond_all_others_moves_no_other_cutoff(far):
    rng = np.random.default_rng(0)
    functions = np.column_stack([np.ones(200), rng.random((200, 2)) < 0.4]).astype(float)
    scores = rng.random(200)
    u = np.full(200, 0.9 - SHORT)
    scores[0] = 1e3
    expected = QuantileFit(scores, functions, 0.9).cutoffs(functions, u)
    scores[0] = far
    cutoffs = QuantileFit(scores, functions, 0.9).cutoffs(functions, u)
    np.testing.assert_allclose(cutoffs, expected, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-16, 1e-11, 1e-8, 1e8, 1e11, 1e16])
def test_groups_whose_scores_are_of_other_units_are_covered(unit):
    rng = np.random.default_rng(1)
    is_other = rng.random(600) < 0.4
    functions = np.column_stack([np.ones(600), is_other, rng.random(600) < 0.5]).astype(float)
    scores = rng.random(600) * np.where(is_other, unit, 1.0)
    cutoffs = QuantileFit(scores, functions, 0.9).cutoffs(functions, np.full(600, 0.9 - SHORT))
    inside = scores <= np.maximum(cutoffs, 0)
    assert inside[is_other].mean() >= 0.9
    assert inside[~is_other].mean() == pytest.approx(0.9, abs=0.02)
