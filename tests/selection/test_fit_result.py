import math
from dataclasses import replace

import numpy as np

from clearbands import ClearRegressor
from clearbands.rows.bands import Components
from clearbands.rows.split import Rows
from clearbands.rows.targets import ANYWHERE, Support, Targets
from clearbands.selection.compete import ChosenParts
from clearbands.selection.fit_result import FitResult
from clearbands.selection.judging import UnseenRows
from clearbands.selection.plan import Plan
from clearbands.uncertainty.epistemic import CenterAndWidths
from clearbands.uncertainty.pairs import Blend


class Known:
    """A part whose center is the first column, and whose ignorance is the same everywhere."""

    def __init__(self, ignorance=1.0):
        self.ignorance = ignorance

    def components(self, X):
        ones = np.ones((len(X), 2, 1))
        return Components(X[:, 0], ones, self.ignorance * ones)


def encoded(values):
    X = np.array(values, float)[:, None]
    return Rows(X, X[:, 0], texts=np.empty((len(X), 0), "U1"))


class SaysWidths:
    """A pair whose center is 0, and whose noise is the first column."""

    epistemic = "none"

    def predict_epistemic(self, X):
        return CenterAndWidths(np.zeros(len(X)), np.zeros((len(X), 2, 1)))

    def components_around(self, X, predicted):
        return Components(predicted.center, np.tile(X[:, :1, None], (1, 2, 1)), predicted.widths)


def result_of(chosen, train, *held_out, support=ANYWHERE, **rules):
    plan = replace(Plan.of(ClearRegressor(), [0.9], has_calibration_set=False), **rules)
    known = {"y": train.y, "n_train": len(train), "has_copies": False}
    return FitResult.of(plan, None, Targets(support), chosen, train, held_out, **known)


def test_training_rows_are_judged_by_those_that_did_not_see_them():
    numbers = np.array([3, 0, 2])  # all members saw the fourth row
    train = encoded([10, 11, 12, 13])
    unseen_by = Known(ignorance=3.0).components(train.X[numbers])
    unseen = UnseenRows(numbers, unseen_by, np.ones(3))
    result = result_of(ChosenParts(Known(), unseen=unseen), train)
    assert result.held_out is None
    assert result.calibration_set.y.tolist() == [13, 10, 12]
    assert result.chooser is None
    assert result.choosing_set is result.calibration_set
    assert result.familiarity().width == 6.0  # the widths of members that did not see them
    assert result.familiarity().high.tolist() == [13]


def test_errors_are_taken_as_those_of_new_rows():
    """More members predict a new row, so targets are moved towards predictions of the few."""
    train = encoded([10, 20])
    unseen_by = Known().components(train.X)._replace(center=np.array([6.0, 20.0]))
    unseen = UnseenRows(np.arange(2), unseen_by, np.array([0.5, 0.5]))
    result = result_of(ChosenParts(Known(), unseen=unseen), train)
    assert result.calibration_set.y.tolist() == [8, 20]


def test_widths_follow_a_trend_that_unseen_rows_show():
    """The parts that answer for new rows change as the components of rows that calibrate do."""
    rng, said = np.random.default_rng(0), np.linspace(1, 2, 500)
    train = replace(encoded(np.zeros(500)), X=said[:, None], y=said**3 * rng.normal(size=500))
    parts = Blend([SaysWidths()], np.ones((1, 2, 1)))
    plain = parts.components(train.X)
    chosen = ChosenParts(parts, unseen=UnseenRows(np.arange(500), plain, np.ones(500)))
    result = result_of(chosen, train)
    changed = result.calibration_set.components.aleatoric
    assert changed[-1, 0, 0] / changed[0, 0, 0] > 2.5  # the ratio is 2 before, and 8 in the noise
    np.testing.assert_array_equal(result.chosen.parts.components(train.X).aleatoric, changed)
    in_time, given = {"gap": 0}, {"epistemic": object(), "aleatoric": object()}
    for rules in (in_time, given, {"direction": np.ones(1)}):
        assert result_of(chosen, train, **rules).chosen.parts is parts


def test_rows_apart_choose_and_calibrate():
    train, choose, calibrate = encoded([10, 12]), encoded([1, 2]), encoded([20, 21, 22])
    inside = Support(-math.inf, 21.0)
    result = result_of(ChosenParts(Known()), train, choose, calibrate, support=inside)
    assert result.held_out is calibrate
    assert result.calibration_set.y.tolist() == [20, 21, 22]
    assert result.calibration_set.components.center.tolist() == [20, 21, 21]  # inside the support
    assert result.choosing_set.y.tolist() == [1, 2]
    assert result.familiarity().width == 2.0
    assert result.familiarity().threshold == 10.0  # the rows that calibrate lie far outside


def test_one_share_does_both():
    result = result_of(ChosenParts(Known()), encoded([10, 12]), encoded([11]))
    assert result.chooser is None
    assert result.choosing_set is result.calibration_set


def test_the_center_of_judged_rows_tells_how_steep_it_is():
    others = encoded(np.linspace(0, 10, 41))
    result = result_of(ChosenParts(Known()), encoded([0, 5, 10]), others)
    np.testing.assert_allclose(result.slopes_at_ends().steepness, [10.0])  # per range of 10
