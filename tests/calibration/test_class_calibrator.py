import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.base import clone
from sklearn.metrics import log_loss

from clearbands import CalibrationWarning, JointClassCalibrator
from clearbands.calibration.class_calibrator import mass_ahead
from tests.calibration.member_logits import held_out, loss_at, shapes


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
    # Each member is a draw of the unknown logits, so the plain mean of their softmax is right.
    rng = np.random.default_rng(0)
    center = 2 * rng.normal(size=(4000, 1, 3))
    draws = center + 1.5 * rng.normal(size=(4000, 21, 3))
    y = np.argmax(draws[:, 0] + rng.gumbel(size=(4000, 3)), axis=1)
    members = draws[:, 1:]  # several c1 and c2 give the same probabilities
    said = JointClassCalibrator().fit(y, members).predict_proba(members)
    assert np.abs(said - softmax(members, axis=2).mean(axis=1)).mean() < 0.02


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
    # 30 rows without an error and one of a random class, which is right once in three times
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
