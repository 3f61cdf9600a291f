"""The answers of a fitted classifier: one pass over the members, and sets by rank."""

import numpy as np
import pytest

from clearbands import CalibrationWarning
from clearbands.calibration.conformal import rank
from clearbands.prediction.class_predictor import ClassPredictor, disagreement, logits_of


class Bag:
    """Members whose logits are the rows themselves, each times a number."""

    def __init__(self, *factors):
        self.factors = np.array(factors)

    def predict_logits(self, X):
        return X[:, None, :] * self.factors[:, None]


def predictor(scores, weight=None):
    weight = None if weight is None else np.asarray(weight, float)
    return ClassPredictor(None, [], None, None, np.asarray(scores, float), weight)


@pytest.mark.parametrize("level", [0.5, 0.55, 0.8, 0.9])
def test_just_as_many_rows_as_the_rank_are_in_their_sets(level):
    scores = np.random.default_rng(0).permutation(99) / 99
    inside = np.count_nonzero(scores <= predictor(scores).threshold(level))
    assert inside == rank(99, level)


@pytest.mark.parametrize("level", [0.5, 0.7, 0.8])
def test_whole_weights_are_repeated_rows(level):
    scores, weight = np.array([0.1, 0.2, 0.5, 0.7]), np.array([3, 1, 4, 2])
    repeated = np.repeat(scores, weight)
    assert predictor(scores, weight).threshold(level) == predictor(repeated).threshold(level)


def test_too_few_rows_put_every_class_into_every_set():
    with pytest.warns(CalibrationWarning, match="need at least 19 calibration rows, and there are"):
        assert predictor(np.zeros(18)).threshold(0.95) == np.inf
    with pytest.warns(CalibrationWarning, match="there are 2 that count as 10"):
        predictor(np.zeros(2), [4, 6]).threshold(0.95)


def test_members_of_all_bags_stand_side_by_side():
    X = np.array([[1.0, -1.0], [2.0, -2.0]])
    logits = logits_of([Bag(1.0, 2.0), Bag(3.0)], X)
    np.testing.assert_array_equal(logits[:, :, 0], [[1, 2, 3], [2, 4, 6]])


def test_members_disagree_by_how_far_they_lie_from_their_mean():
    logits = np.array([[[1.0, -1.0], [3.0, -3.0]], [[2.0, 0.0], [2.0, 0.0]]])
    np.testing.assert_allclose(disagreement(logits), [1.0, 0.0])
    np.testing.assert_allclose(disagreement(logits + 5), disagreement(logits))
