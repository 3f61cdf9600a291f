import numpy as np
import pytest
from sklearn.dummy import DummyRegressor

from clearbands import metrics
from clearbands.selection.centers import (
    CenterScore,
    JudgedCenter,
    constant_width_loss,
    measure_center,
    mix_centers,
)


def test_errors_of_a_center_are_measured():
    y, predicted = np.array([0.0, 1.0, 4.0]), np.array([0.0, 0.0, 0.0])
    (standing, same, *_) = measure_center("zero", DummyRegressor(), y, predicted, None, [0.9])
    assert standing.mae == pytest.approx(5 / 3)
    assert standing.rmse == pytest.approx(np.sqrt(17 / 3))
    assert same is predicted
    weighted, *_ = measure_center("zero", None, y, predicted, np.array([1.0, 0.0, 1.0]), [0.9])
    assert weighted.mae == pytest.approx(2)


def test_losses_are_those_of_bounds_at_the_outer_quantiles():
    error = np.random.default_rng(0).normal(size=200)
    bounds = np.tile(np.quantile(error, [0.05, 0.95], method="inverted_cdf"), (200, 1))
    loss = constant_width_loss(error, [0.9], None)
    assert loss == pytest.approx(metrics.quantile_loss(error, bounds, 0.9), rel=0.02)


def judged_as(name, predicted):
    return JudgedCenter(CenterScore(name, DummyRegressor(), 0.0, 0.0, 0.0), predicted)


def test_a_mixture_takes_those_that_err_in_different_directions():
    wave = np.sin(np.arange(100))
    y = np.zeros(100)
    pool = [judged_as("up", wave + 1), judged_as("down", wave - 1), judged_as("far", wave + 9)]
    standing, predicted, *_ = mix_centers(pool, y, None, [0.9], 2)
    assert standing.name == "50% up + 50% down"
    assert standing.model.weights == [0.5, 0.5]
    np.testing.assert_allclose(predicted, wave)
    assert standing.rmse == pytest.approx(np.sqrt(np.mean(wave**2)))
    assert mix_centers(pool, y, None, [0.9], 1) is None


def test_there_is_no_mixture_where_one_alone_is_best():
    y = np.arange(10.0)
    pool = [judged_as("right", y), judged_as("wrong", y + 1)]
    assert mix_centers(pool, y, None, [0.9], 3) is None
