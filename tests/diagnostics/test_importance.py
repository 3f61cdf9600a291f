"""Shuffling shows which features a model uses for its center and for its width."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from clearbands.diagnostics import importance
from clearbands.diagnostics.importance import feature_importance
from clearbands.prediction.uncertainty import Uncertainty


class Known:
    """A model with the center x0 and widths 1 + x1, which counts the rows that it predicts."""

    def __init__(self):
        self.rows = 0

    def predict_uncertainty(self, X, confidence_level=None):
        X = np.asarray(X)[:, :2].astype(float)
        self.rows += len(X)
        width = np.repeat(1 + X[:, 1:], 2, axis=1)
        return Uncertainty(X[:, 0], width, np.zeros_like(width), 0.9)


@pytest.fixture
def rows():
    X = np.random.default_rng(0).uniform(size=(200, 3))
    return X, X[:, 0] + 0.1


@pytest.mark.parametrize("wrap", [np.asarray, "pandas", "polars"])
def test_each_feature_matters_where_it_is_used(rows, wrap):
    X, y = rows
    names = ["x0", "x1", "x2"]
    if wrap == "pandas":
        X = pd.DataFrame(X, columns=names, index=np.arange(200)[::-1])
    elif wrap == "polars":
        X = pl.DataFrame(X, schema=names)
    first, second, third = feature_importance(Known(), X, y)
    assert [i.name for i in (first, second, third)] == names
    # |U - U'| of two uniforms is 1/3 on average, and the error without shuffling is 0.1
    assert first.center == pytest.approx((1 / 3 - 0.1) / 0.1, rel=0.25)
    assert first.width == second.center == third.center == third.width == 0
    assert second.width == pytest.approx(1 / 3 / 1.5, rel=0.2)


def test_the_same_seed_gives_the_same_and_categories_stay_categories(rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["c"] = pd.Categorical(np.where(X[:, 2] > 0.5, "high", "low"))
    again = [feature_importance(Known(), frame, y, random_state=3) for _ in range(2)]
    assert again[0] == again[1]


def test_the_work_is_bounded(rows, monkeypatch):
    X, y = rows
    monkeypatch.setattr(importance, "MOST_PREDICTIONS", 480)
    model = Known()
    feature_importance(model, X, y)
    assert model.rows == 80 * (1 + 2 * 3)  # 480 / 6 rows, once as they are and 6 times shuffled


def test_a_perfect_center_and_no_width_are_no_division_by_zero():
    class Perfect(Known):
        def predict_uncertainty(self, X, confidence_level=None):
            zero = np.zeros((len(X), 2))
            return Uncertainty(np.zeros(len(X)), zero, zero, 0.9)

    X = np.arange(8.0).reshape(4, 2)
    assert [i.center for i in feature_importance(Perfect(), X, np.zeros(4))] == [0, 0]


class Listening(Known):
    """A model that records the rows and labels of the first call."""

    asked = None

    def predict_uncertainty(self, X, confidence_level=None, calibration_groups=None):
        if self.asked is None:
            self.asked = X["number"].tolist(), calibration_groups
        return super().predict_uncertainty(X, confidence_level)


def test_labels_go_with_their_rows_whatever_their_index(rows, monkeypatch):
    monkeypatch.setattr(importance, "MOST_ROWS", 20)
    X, y = rows
    frame = pd.DataFrame(X[:, :2]).assign(number=np.arange(200.0))
    labels = pd.Series(np.arange(200.0), index=np.arange(200)[::-1])  # as after a shuffle
    model = Listening()
    feature_importance(model, frame, y, calibration_groups=labels)
    numbers, groups = model.asked
    assert len(numbers) == 20
    assert list(groups) == numbers


def test_a_column_of_groups_is_named(rows):
    X, y = rows
    model = Listening()
    feature_importance(
        model, pd.DataFrame(X[:, :2]).assign(number=y), y, calibration_groups="number"
    )
    assert model.asked[1] == "number"
