"""The facts of a report: every row is predicted once."""

from __future__ import annotations

import pytest

from clearbands.apps.report import make_report
from clearbands.diagnostics import importance
from tests.apps.report.houses import houses
from tests.apps.report.page import Page


def test_every_row_is_predicted_once(model):
    X, y = houses(120, seed=1)

    class Counting:
        """A model that counts the rows it predicts, as they are and shuffled."""

        def __init__(self):
            self.whole, self.shuffled = 0, 0

        def __getattr__(self, name):
            return getattr(model, name)

        def answers(self, X, calibration_groups=None):
            self.whole += len(X)
            return model.answers(X)

        def predict_uncertainty(self, X, confidence_level=None):
            self.shuffled += len(X)
            return model.predict_uncertainty(X, confidence_level=confidence_level)

        def predict_interval(self, X):
            raise AssertionError("The parts are there already.")

    counting = Counting()
    html = make_report(counting, X, y).html
    assert (counting.whole, counting.shuffled) == (120, 120 * 4 * 2)  # four features, each twice
    given = make_report(counting, X, y, answers=model.answers(X)).html
    assert counting.whole == 120
    assert given == html


def test_how_many_rows_were_shuffled_is_said(model, monkeypatch):
    monkeypatch.setattr(importance, "MOST_ROWS", 60)
    text = Page(model.report(*houses(90, seed=1)).html).text
    assert "shuffled between 60 of the 90 rows, drawn at random to bound the work." in text


def test_bad_rows_are_refused(model):
    X, y = houses(20, seed=1)
    with pytest.raises(ValueError, match="A report needs at least 4 rows, got 3"):
        model.report(X[:3], y[:3])
    with pytest.raises(ValueError, match="X has 20 rows where y has 19"):
        model.report(X, y[1:])
    with pytest.raises(ValueError, match=r"by must have shape \(20,\)"):
        model.report(X, y, by=["a"])
