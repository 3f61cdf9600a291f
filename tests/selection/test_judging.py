from dataclasses import replace

import numpy as np
import pytest

from clearbands import ClearCalibrator, metrics
from clearbands.calibration.conformal import CalibrationWarning
from clearbands.selection.judging import (
    Contestant,
    blend,
    leaderboard,
    not_told_apart,
    row_losses,
    unseen_rows,
)
from clearbands.uncertainty.bands import Components
from tests.toys import calibration_set


def contestant(name, losses):
    n = len(losses)
    unseen = Components(np.zeros(n), np.ones((n, 2, 1)), np.ones((n, 2, 1)))
    factors = np.array([[2.0], [3.0]])
    losses = np.asarray(losses, float)
    return Contestant(name, "noise", None, np.zeros(n), unseen, factors, losses, np.arange(n))


def test_losses_of_rows_are_those_of_the_metric():
    y, center, aleatoric, epistemic = calibration_set()
    rows = Components(center, aleatoric[:, :, None], epistemic[:, :, None])
    calibrator = ClearCalibrator([0.9]).fit(y, *rows)
    losses = row_losses(y, rows, calibrator, [0.9])
    bounds = calibrator.predict_interval(*rows)[:, :, 0]
    assert losses.mean() == pytest.approx(metrics.quantile_loss(y, bounds, 0.9))


def test_those_whom_the_rows_cannot_tell_from_the_best_are_kept():
    rng = np.random.default_rng(0)
    best = rng.uniform(size=400)
    field = [
        contestant("worse for sure", best + 0.1),
        contestant("best", best),
        contestant("as good by chance", rng.permutation(best)),
    ]
    kept = not_told_apart(field, most=4, errors=1.0)
    assert [c.center_name for c in kept] == ["best", "as good by chance"]
    assert [c.center_name for c in not_told_apart(field, most=1, errors=1.0)] == ["best"]
    alone = not_told_apart(field, most=4, errors=1.0, n_centers=1)
    assert [c.center_name for c in alone] == ["best"]
    board = leaderboard(field, kept)
    assert [(s.center, s.kept) for s in board][-1] == ("worse for sure", False)
    assert board[-1].behind == pytest.approx(0.1)
    assert board[-1].error == pytest.approx(0)


def test_one_pair_alone_keeps_its_own_units():
    alone, unseen = blend([contestant("one", np.ones(3))])
    np.testing.assert_array_equal(alone.factors, np.ones((1, 2, 1)))
    np.testing.assert_array_equal(unseen.aleatoric, 1)
    _, unseen = blend([contestant("one", np.ones(3)), contestant("two", np.ones(3))])
    np.testing.assert_array_equal(unseen.aleatoric, 2)
    np.testing.assert_array_equal(unseen.epistemic, 3)


def test_what_no_pair_has_a_use_for_is_not_lost():
    """All would drop the epistemic part: the mean of them could not say how little it knows."""
    two = [replace(contestant(name, np.ones(3)), factors=np.array([[2.0], [0.0]])) for name in "ab"]
    mean, unseen = blend(two)
    np.testing.assert_array_equal(mean.factors, 2)
    np.testing.assert_array_equal(unseen.epistemic, 2)
    _, unseen = blend([two[0], contestant("c", np.ones(3))])  # one of them has
    np.testing.assert_array_equal(unseen.epistemic, 1.5)


def test_rows_that_every_member_saw_do_not_judge():
    with pytest.warns(CalibrationWarning, match="1 of 4 rows were seen by every member"):
        np.testing.assert_array_equal(unseen_rows(np.array([1.0, np.nan, 2.0, 3.0])), [0, 2, 3])
    with pytest.raises(ValueError, match="Only 1 of 4 rows were left out by any member"):
        unseen_rows(np.array([1.0, np.nan, np.nan, np.nan]))


def test_the_best_of_infinite_losses_is_kept_with_those_that_are_as_bad():
    """Of very few rows every pair may have infinite bounds."""
    field = [
        contestant("best", [np.inf, 1.0]),
        contestant("as bad", [np.inf, 1.0]),
        contestant("worse", [np.inf, np.inf]),
    ]
    kept = not_told_apart(field, most=4, errors=1.0)
    assert [c.center_name for c in kept] == ["best", "as bad"]
