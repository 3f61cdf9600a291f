import math

import numpy as np

from clearbands.rows.split import Rows, Shares
from clearbands.rows.targets import ANYWHERE, Support
from clearbands.selection.compete import ChosenParts
from clearbands.selection.evidence import Apart, Encoded, Within, judge
from clearbands.selection.judging import UnseenRows
from clearbands.uncertainty.bands import Components


class Known:
    """The center is the first column; ignorance is 1 everywhere, and 2 for what says it so."""

    def __init__(self, ignorance=1.0):
        self.ignorance = ignorance

    def components(self, X):
        ones = np.ones((len(X), 2, 1))
        return Components(X[:, 0], ones, self.ignorance * ones)


def encoded(values):
    X = np.array(values, float)[:, None]
    return Encoded(Rows(X, X[:, 0]), np.empty((len(X), 0), "U1"))


def test_training_rows_are_judged_by_those_that_did_not_see_them():
    numbers = np.array([3, 0, 2])  # one row was seen by all
    train = encoded([10, 11, 12, 13])
    said = Known(ignorance=3.0).components(train.rows.X[numbers])
    unseen = UnseenRows(numbers, said, np.ones(3))
    found = judge(ChosenParts(Known(), unseen=unseen), Shares(train), ANYWHERE)
    assert isinstance(found, Within)
    assert found.judged.y.tolist() == [13, 10, 12]
    assert found.chooser is None
    assert found.chosen_on is found.judged
    assert found.familiarity().width == 6.0  # as wide as those say that did not see them
    assert found.familiarity().high.tolist() == [13]


def test_errors_are_taken_as_those_of_new_rows():
    """Of which more members speak: targets are moved towards what few of them said."""
    train = encoded([10, 20])
    said = Known().components(train.rows.X)._replace(center=np.array([6.0, 20.0]))
    unseen = UnseenRows(np.arange(2), said, np.array([0.5, 0.5]))
    found = judge(ChosenParts(Known(), unseen=unseen), Shares(train), ANYWHERE)
    assert found.judged.y.tolist() == [8, 20]


def test_rows_apart_choose_and_calibrate():
    shares = Shares(encoded([10, 12]), (encoded([1, 2]), encoded([20, 21, 22])))
    found = judge(ChosenParts(Known()), shares, Support(-math.inf, 21.0))
    assert isinstance(found, Apart)
    assert found.judged.y.tolist() == [20, 21, 22]
    assert found.judged.components.center.tolist() == [20, 21, 21]  # inside the support
    assert found.chosen_on.y.tolist() == [1, 2]
    assert found.familiarity().width == 2.0
    assert found.familiarity().threshold == 10.0  # those that calibrate lie far outside


def test_one_share_does_both():
    found = judge(ChosenParts(Known()), Shares(encoded([10, 12]), (encoded([11]),)), ANYWHERE)
    assert found.chooser is None
    assert found.chosen_on is found.judged


def test_the_center_of_judged_rows_tells_how_steep_it_is():
    others = encoded(np.linspace(0, 10, 41))
    found = judge(ChosenParts(Known()), Shares(encoded([0, 5, 10]), (others,)), ANYWHERE)
    np.testing.assert_allclose(found.extrapolation(None).steepness, [10.0])  # per range of 10
