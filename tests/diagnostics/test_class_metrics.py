import numpy as np
import pytest
from sklearn.metrics import log_loss

from clearbands.diagnostics.class_metrics import calibration_error, evaluate_classes


def test_scores_agree_with_scikit_learn_and_with_counting():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), size=200)
    y = rng.integers(3, size=200)
    found = evaluate_classes(y, p, p > 0.2)
    assert found["nll"] == pytest.approx(log_loss(y, p))
    assert found["accuracy"] == np.mean(p.argmax(axis=1) == y)
    assert found["set_size"] == np.mean((p > 0.2).sum(axis=1))
    assert found["coverage"] == np.mean([p[i, own] > 0.2 for i, own in enumerate(y)])
    assert "coverage" not in evaluate_classes(y, p)


def test_a_class_that_was_ruled_out_costs_much_and_stays_finite():
    found = evaluate_classes(np.array([0]), np.array([[0.0, 1.0]]))
    assert 20 < found["nll"] < 40


def test_calibration_error_is_zero_where_what_is_said_happens():
    p = np.tile([0.75, 0.25], (8, 1))
    assert calibration_error(np.array([0, 0, 0, 1] * 2), p) == pytest.approx(0)
    assert calibration_error(np.zeros(8, int), p) == pytest.approx(0.25)


def test_whole_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 3, 60), rng.dirichlet(np.ones(3), 60)
    weight = rng.integers(0, 4, 60)
    rows = np.repeat(np.arange(60), weight)
    one = evaluate_classes(y, p, p > 0.3, sample_weight=weight)
    other = evaluate_classes(y[rows], p[rows], p[rows] > 0.3)
    assert one == pytest.approx(other)
