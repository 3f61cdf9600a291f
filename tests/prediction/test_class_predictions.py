"""Predictions of classes as a table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from clearbands.prediction.class_predictions import ClassPredictions, predict_classes
from clearbands.prediction.class_uncertainty import ClassUncertainty
from clearbands.tables.native import kind_of

CLASSES = np.array(["cat", "dog", "owl"])
MEMBERS = np.array([[[0.2, 0.7, 0.1], [0.4, 0.5, 0.1]], [[0.1, 0.1, 0.8], [0.1, 0.1, 0.8]]])


def predictions(X, unfamiliar=None):
    sets = {0.9: np.array([[True, True, False], [False, False, True]])}
    entropies = ClassUncertainty.of_members(MEMBERS, kind_of(X))
    return ClassPredictions(CLASSES, MEMBERS.mean(axis=1), sets, entropies, unfamiliar)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_set_is_one_text_with_the_most_probable_class_first(make):
    frame = predictions(make({"a": [1.0, 2.0]})).frame()
    assert isinstance(frame, make)
    assert frame["prediction"].to_list() == ["dog", "owl"]
    assert frame["set_90"].to_list() == ["dog | cat", "owl"]
    np.testing.assert_allclose(sum(frame[f"p_{name}"] for name in CLASSES), 1)


def test_flags_are_empty_where_the_model_cannot_tell():
    X = pd.DataFrame({"a": [1.0, 2.0]})
    assert predictions(X).columns()["unfamiliar"] == [None, None]
    told = predictions(X, np.array([False, True])).columns()["unfamiliar"]
    assert list(told) == [False, True]


def test_levels_are_by_default_that_of_the_fit():
    class Answers:
        probabilities = MEMBERS.mean(axis=1)
        entropies = ClassUncertainty.of_members(MEMBERS)

        def sets(self, level):
            return self.probabilities >= 1 - level

        def unfamiliar(self):
            raise AssertionError("nobody can tell")

    class Model:
        classes_, confidence_level, familiar_ = CLASSES, 0.8, None

        def answers(self, X):
            return Answers()

    assert list(predict_classes(Model(), None).sets) == [0.8]
    assert list(predict_classes(Model(), None, (0.5, 0.9)).sets) == [0.5, 0.9]
    assert predict_classes(Model(), None).unfamiliar is None
