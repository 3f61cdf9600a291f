"""The base of all quantile models, tested on a model of five lines."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from clearbands import QuantileModel
from clearbands.engine.progress import listening, report


class Constants:
    """A bag that predicts the same crossing quantiles for every row."""

    def __init__(self, quantiles):
        self.quantiles = quantiles

    def predict_members(self, X):
        return np.tile(np.reshape(self.quantiles, (1, -1, 1)), (len(X), 1, 1))


class Crossing(QuantileModel):
    """A model that keeps what it was fitted on, and whose quantiles fall instead of rising."""

    def __init__(self, quantiles=(0.1, 0.4, 0.9)):
        self.quantiles = quantiles

    def fit_bag(self, X, y, counts, *, weight=None, n_jobs=None, stage="fit"):
        report(stage, 1, 1)
        self.fitted_on_ = X, y, counts, weight
        return Constants(3.0 - np.arange(len(self.quantiles)))


X, Y = np.arange(8.0).reshape(4, 2), np.array([1.0, 2.0, 3.0, 4.0])


def test_a_fit_is_a_bag_of_one_that_counts_every_row_once_and_reports_nothing():
    steps = []
    with listening(lambda *step: steps.append(step)):
        model = Crossing().fit(X, Y)
    rows, target, counts, weight = model.fitted_on_
    assert_array_equal(rows, X)
    assert_array_equal(target, Y)
    assert_array_equal(counts, np.ones((1, 4)))
    assert weight is None
    assert steps == []


def test_rows_without_weight_take_no_part():
    model = Crossing().fit(X, Y, sample_weight=[2.0, 0.0, 1.0, 0.0])
    rows, target, counts, weight = model.fitted_on_
    assert_array_equal(rows, X[[0, 2]])
    assert_array_equal(target, [1.0, 3.0])
    assert counts.shape == (1, 2)
    assert_array_equal(weight, [2.0, 1.0])


@pytest.mark.parametrize(("quantiles", "center"), [((0.1, 0.4, 0.9), 2.0), ((0.6, 0.9), 2.0)])
def test_quantiles_rise_and_the_prediction_is_the_one_nearest_to_the_median(quantiles, center):
    model = Crossing(quantiles).fit(X, Y)
    assert_array_equal(
        np.diff(model.predict_quantiles(X), axis=1), np.ones((4, len(quantiles) - 1))
    )
    assert_array_equal(model.predict(X), np.full(4, center))


@pytest.mark.parametrize("quantiles", [(0.9, 0.1), (0.0, 0.5), ()])
def test_levels_that_are_none_are_refused(quantiles):
    with pytest.raises(ValueError, match="quantiles must"):
        Crossing(quantiles).fit(X, Y)
