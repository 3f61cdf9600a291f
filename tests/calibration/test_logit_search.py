"""The search for both constants of a classifier: no other constants have a lower loss."""

import copy
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from clearbands import CalibrationWarning, JointClassCalibrator
from clearbands.calibration.logit_search import CHUNK, SCANNED, Logits
from tests.calibration.logit_proof import Box, bounds, proves
from tests.calibration.member_logits import held_out, loss_at, shapes


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("sureness", "spread"), [(1, 0.3), (4, 0.5), (1, 3), (0.3, 1)])
def test_no_point_of_a_grid_and_no_other_search_is_lower(seed, sureness, spread):
    y, logits = held_out(150, 4, 3, sureness, spread, seed)
    calibrator = JointClassCalibrator().fit(y, logits)
    grid = [
        loss_at(c1, c2, y, logits)
        for c1 in np.geomspace(0.03, 10, 20)
        for c2 in [0, *np.geomspace(0.05, 20, 20)]
    ]
    assert calibrator.loss_ <= min(grid) + 1e-9
    other = minimize(
        lambda c: loss_at(*np.exp(c), y, logits), np.zeros(2), method="Nelder-Mead", tol=1e-10
    )
    assert calibrator.loss_ <= other.fun + 1e-7


@given(shapes, st.sampled_from([0.0, 1.0]))
@settings(max_examples=15)
def test_that_no_constants_are_better_is_proven(shape, prior_rows):
    y, logits = held_out(*shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        calibrator = JointClassCalibrator(prior_rows=prior_rows).fit(y, logits)
    assert proves(calibrator, y, logits, within=1e-4)


def test_what_is_not_the_minimum_is_not_proven():
    y, logits = held_out(100)
    calibrator = JointClassCalibrator().fit(y, logits)
    assert proves(calibrator, y, logits, within=1e-6)
    for name in ("c1_", "c2_"):
        other = copy.copy(calibrator)
        setattr(other, name, 1.2 * getattr(calibrator, name))
        worse = loss_at(other.c1_, other.c2_, y, logits) - calibrator.loss_
        assert not proves(other, y, logits, within=worse / 2)
        assert proves(other, y, logits, within=2 * worse)


@given(shapes, st.tuples(*[st.floats(0.1, 6)] * 2), st.floats(0.01, 0.1), st.floats(0.01, 0.1))
@settings(max_examples=25)
def test_no_point_of_a_box_is_below_its_bound(shape, middle, h, k):
    y, logits = held_out(*shape)
    problem = Logits.of(y, logits, 1.0)
    found = bounds(problem, Box(*middle, h, k))
    inside = [
        problem.point(np.add(middle, (i * h, j * k))).loss
        for i in (-1, -0.3, 0, 0.5, 1)
        for j in (-1, -0.6, 0, 0.2, 1)
    ]
    assert found.least <= min(inside) + 1e-12
    assert found.middle == pytest.approx(inside[12])


def test_a_valley_beside_the_one_without_spread_is_found():
    # At b = 0 the loss is flat in b, so a search that lands there would not get away.
    rng = np.random.default_rng(1)
    truth = 2 * rng.normal(size=(100, 3))
    y = np.argmax(truth + rng.gumbel(size=(100, 3)), axis=1)
    logits = truth[:, None] + rng.normal(size=(100, 15, 3))
    calibrator = JointClassCalibrator().fit(y, logits)
    assert calibrator.c2_ > 0.1
    assert calibrator.loss_ < min(loss_at(c1, 0, y, logits) for c1 in np.linspace(0.5, 2, 50))


@pytest.mark.parametrize("prior_rows", [0.0, 3.0])
@pytest.mark.parametrize("n", [50, CHUNK // 12 + 7])
def test_derivatives_are_those_of_the_loss(prior_rows, n):
    y, logits = held_out(n)
    problem = Logits.of(y, logits, prior_rows)
    at, h = np.array([0.7, 1.3]), 1e-5
    point = problem.point(at)
    a, b = at / problem.sizes
    if prior_rows == 0:
        assert point.loss == pytest.approx(loss_at(a, b / a, y, logits))
    for j, step in enumerate(h * np.eye(2)):
        above, below = problem.point(at + step), problem.point(at - step)
        slope = (above.loss - below.loss) / (2 * h)
        assert point.gradient[j] == pytest.approx(slope, abs=1e-8)
        bend = (above.gradient - below.gradient) / (2 * h)
        np.testing.assert_allclose(point.hessian[j], bend, atol=1e-8)


def test_the_grid_has_the_losses_of_its_points():
    problem = Logits.of(*held_out(50), 0.0)
    scanned = problem.scan()
    for i, j in [(0, 0), (2, 5), (12, 3)]:
        assert scanned[i, j] == pytest.approx(problem.point(SCANNED[[i, j]]).loss)


def test_logits_far_apart_are_searched_without_a_word():
    y, logits = held_out(100)
    logits[0] *= 1e4  # the probabilities of one row round to 0 and 1
    calibrator = JointClassCalibrator(prior_rows=1).fit(y, logits)
    assert np.isfinite(calibrator.loss_)
    assert calibrator.gradient_norm_ < 1e-6
