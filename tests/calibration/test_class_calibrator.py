import copy
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp, softmax
from sklearn.base import clone
from sklearn.metrics import log_loss

from clearbands import CalibrationWarning, JointClassCalibrator
from clearbands.calibration.class_sets import mass_ahead
from clearbands.calibration.logit_search import CHUNK, SCANNED, Logits
from tests.calibration.logit_proof import Box, bounds, proves


def held_out(n=300, n_members=4, n_classes=3, sureness=2.0, spread=1.0, seed=0):
    """Classes and the logits of members who are `sureness` times as sure as they should be."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, n_classes))
    y = np.argmax(truth + rng.gumbel(size=(n, n_classes)), axis=1)
    noise = spread * rng.normal(size=(n, n_members, n_classes))
    return y, sureness * truth[:, None] + noise


def loss_at(c1, c2, y, logits):
    """The definition, written with scipy."""
    mean = logits.mean(axis=1, keepdims=True)
    logs = log_softmax(c1 * (mean + c2 * (logits - mean)), axis=2)
    pooled = logsumexp(logs, axis=1) - np.log(logits.shape[1])
    return -pooled[np.arange(len(y)), y].mean()


@pytest.mark.parametrize("prior_rows", [0, 1])
def test_whole_weights_are_repeated_rows(prior_rows):
    y, logits = held_out(n=150)
    weight = np.random.default_rng(0).integers(0, 4, 150)
    rows = np.repeat(np.arange(150), weight)
    one = JointClassCalibrator(prior_rows=prior_rows).fit(y, logits, sample_weight=weight)
    other = JointClassCalibrator(prior_rows=prior_rows).fit(y[rows], logits[rows])
    for name in ("c1_", "c2_", "loss_"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-6)
    with pytest.raises(ValueError, match="sample_weight"):
        one.fit(y, logits, sample_weight=weight[:-1])


shapes = st.tuples(
    st.integers(20, 80),  # rows
    st.integers(1, 5),  # members
    st.integers(2, 4),  # classes
    st.floats(0.2, 4),  # sureness
    st.floats(0, 3),  # spread
    st.integers(0, 10_000),  # seed
)


@given(shapes)
def test_never_less_likely_than_the_plain_ensemble_and_converged(shape):
    y, logits = held_out(*shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)  # of few rows, all may be right
        calibrator = JointClassCalibrator().fit(y, logits)
    assert calibrator.loss_ <= loss_at(1, 1, y, logits) + 1e-9
    assert calibrator.loss_ == pytest.approx(
        loss_at(calibrator.c1_, calibrator.c2_, y, logits), abs=1e-9
    )
    assert calibrator.gradient_norm_ < 1e-6


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
    # At b = 0 the loss is flat in b: a step that lands there would end on a ridge.
    rng = np.random.default_rng(1)
    truth = 2 * rng.normal(size=(100, 3))
    y = np.argmax(truth + rng.gumbel(size=(100, 3)), axis=1)
    logits = truth[:, None] + rng.normal(size=(100, 15, 3))
    calibrator = JointClassCalibrator().fit(y, logits)
    assert calibrator.c2_ > 0.1
    assert calibrator.loss_ < min(loss_at(c1, 0, y, logits) for c1 in np.linspace(0.5, 2, 50))


@pytest.mark.parametrize("prior_rows", [0.0, 1.0])
@pytest.mark.parametrize(("sureness", "spread"), [(1, 0.3), (4, 0.5), (1, 3), (0.3, 1)])
@pytest.mark.parametrize("factor", [0.02, 7.0])
def test_logits_that_are_scaled_divide_c1_and_leave_c2(prior_rows, sureness, spread, factor):
    y, logits = held_out(200, 4, 3, sureness, spread)
    one = JointClassCalibrator(prior_rows=prior_rows).fit(y, logits)
    other = JointClassCalibrator(prior_rows=prior_rows).fit(y, factor * logits)
    assert factor * other.c1_ == pytest.approx(one.c1_, rel=1e-5)
    assert other.c2_ == pytest.approx(one.c2_, rel=1e-5)
    assert other.loss_ == pytest.approx(one.loss_, rel=1e-9)


def test_constants_of_one_are_the_plain_ensemble():
    y, logits = held_out()
    calibrator = JointClassCalibrator().fit(y, logits)
    calibrator.c1_ = calibrator.c2_ = 1.0
    plain = softmax(logits, axis=2).mean(axis=1)
    np.testing.assert_allclose(calibrator.predict_proba(logits), plain)


def test_known_answers():
    y, logits = held_out(6000, 3, 3, sureness=2, spread=0.02)
    assert JointClassCalibrator().fit(y, logits).c1_ == pytest.approx(0.5, abs=0.03)
    # members that are each a draw from what is not known: their softmax is to be averaged as it is
    rng = np.random.default_rng(0)
    center = 2 * rng.normal(size=(4000, 1, 3))
    draws = center + 1.5 * rng.normal(size=(4000, 21, 3))
    y = np.argmax(draws[:, 0] + rng.gumbel(size=(4000, 3)), axis=1)
    members = draws[:, 1:]  # sureness and spread can stand in for each other: compare what is said
    said = JointClassCalibrator().fit(y, members).predict_proba(members)
    assert np.abs(said - softmax(members, axis=2).mean(axis=1)).mean() < 0.02


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
    logits[0] *= 1e4  # one row whose members are sure beyond all digits
    calibrator = JointClassCalibrator(prior_rows=1).fit(y, logits)
    assert np.isfinite(calibrator.loss_)
    assert calibrator.gradient_norm_ < 1e-6


def test_members_that_agree_leave_c2_alone():
    y, logits = held_out(n_members=1)
    one = JointClassCalibrator().fit(y, logits)
    three = JointClassCalibrator().fit(y, np.repeat(logits, 3, axis=1))
    assert one.c2_ == three.c2_ == 1
    assert one.c1_ == pytest.approx(three.c1_)


def test_rows_without_an_error_warn_and_rows_of_chance_keep_c1_finite():
    y = np.arange(30) % 3
    logits = 3 * np.eye(3)[y][:, None] + 0.1 * np.random.default_rng(0).normal(size=(30, 4, 3))
    with pytest.warns(CalibrationWarning, match="prior_rows=1"):
        JointClassCalibrator().fit(y, logits)
    calibrator = JointClassCalibrator(prior_rows=1).fit(y, logits)
    # 30 rows without an error: errors are as rare as 1 in 31, of which some hit the right class
    assert calibrator.predict_proba(logits).max(axis=1).mean() == pytest.approx(
        30.33 / 31, abs=0.01
    )


def test_loss_is_the_log_loss_of_scikit_learn():
    y, logits = held_out()
    calibrator = clone(JointClassCalibrator(prior_rows=2)).fit(y, logits)
    assert calibrator.loss_ == pytest.approx(log_loss(y, calibrator.predict_proba(logits)))


@pytest.mark.parametrize(
    ("y", "logits", "said"),
    [
        ([0, 1], np.zeros((2, 3)), "shape"),
        ([0, 0], np.zeros((2, 3, 1)), "one class"),
        ([0, 1], np.full((2, 2, 2), -np.inf), "infinity"),
        ([0, 2], np.zeros((2, 3, 2)), "from 0 to 1"),
        (["a", "b"], np.zeros((2, 3, 2)), "whole numbers"),
        ([0, 1, 1], np.zeros((2, 3, 2)), "shape"),
    ],
)
def test_what_cannot_be_calibrated_is_said(y, logits, said):
    with pytest.raises(ValueError, match=said):
        JointClassCalibrator().fit(y, logits)


def test_logits_of_other_classes_and_a_negative_prior_are_refused():
    y, logits = held_out()
    with pytest.raises(ValueError, match="fit saw 3"):
        JointClassCalibrator().fit(y, logits).predict_proba(logits[:, :, :2])
    with pytest.raises(ValueError, match="prior_rows"):
        JointClassCalibrator(prior_rows=-1).fit(y, logits)


# Sets


def test_the_mass_ahead_is_that_of_more_probable_classes():
    scores = mass_ahead(np.array([[0.2, 0.5, 0.3], [0.25, 0.25, 0.5], [1.0, 0.0, 0.0]]))
    np.testing.assert_allclose(scores, [[0.8, 0, 0.5], [0.5, 0.5, 0], [0, 1, 1]])


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=5))
def test_the_mass_ahead_agrees_with_its_definition(weights):
    weights = np.array(weights, float) + np.array([0, 0, 0, 1])
    p = weights / weights.sum(axis=1, keepdims=True)
    slow = [[sum(q for q in row if q > own) for own in row] for row in p]
    np.testing.assert_allclose(mass_ahead(p), slow, atol=1e-12)
    order = np.random.default_rng(0).permutation(4)
    np.testing.assert_allclose(mass_ahead(p[:, order]), mass_ahead(p)[:, order], atol=1e-12)
