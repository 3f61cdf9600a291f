from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from clearbands import ClearCalibrator, metrics
from clearbands.calibration.conformal import CalibrationWarning
from clearbands.rows.bands import Components
from clearbands.selection.judging import (
    Contestant,
    averaged,
    blend,
    leaderboard,
    most_diverse,
    not_told_apart,
    row_losses,
    shrinkage,
    unseen_rows,
)
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble
from clearbands.uncertainty.pairs import CrossPair
from tests.toys import calibration_set


def contestant(name, losses):
    n = len(losses)
    unseen = Components(np.zeros(n), np.ones((n, 2, 1)), np.ones((n, 2, 1)))
    factors = np.array([[2.0], [3.0]])
    losses = np.asarray(losses, float)
    pair = CrossPair(FoldedEnsemble(spread="quantiles"), None)
    return Contestant(name, "noise", pair, np.zeros(n), unseen, factors, losses, np.arange(n))


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
    kept = not_told_apart(field)
    assert [c.center_name for c in kept] == ["best", "as good by chance"]
    board = leaderboard(field, kept)
    assert [(s.center, s.selected) for s in board][-1] == ("worse for sure", False)
    assert board[-1].behind == pytest.approx(0.1)
    assert board[-1].error == pytest.approx(0)


def test_pairs_of_different_centers_are_averaged_first():
    ranked = [replace(contestant(c, np.ones(3)), noise_name=n) for c, n in ("ax", "ay", "az", "bx")]
    names = [(c.center_name, c.noise_name) for c in most_diverse(ranked, 3)]
    assert names == [("a", "x"), ("b", "x"), ("a", "y")]
    assert len(most_diverse(ranked, 4)) == 3  # at most two of one center


def test_a_clearly_worse_center_is_averaged_only_where_it_helps():
    """Errors that are opposite to those of the best pair cancel them; others do not."""
    rng = np.random.default_rng(0)
    error = rng.normal(size=400)

    def around(name, center):
        unseen = Components(center, np.ones((400, 2, 1)), np.ones((400, 2, 1)))
        calibrator = ClearCalibrator([0.9]).fit(np.zeros(400), *unseen)
        losses = row_losses(np.zeros(400), unseen, calibrator, [0.9])
        return replace(contestant(name, losses), unseen=unseen)

    best = around("best", error)
    opposite, alike = around("opposite", -1.5 * error), around("alike", 1.5 * error)
    assert not_told_apart([best, opposite]) == [best]
    names = [c.center_name for c in averaged([best, alike, opposite], 3, [0.9])]
    assert names == ["best", "opposite"]
    assert averaged([best, opposite], 1, [0.9]) == [best]


def test_errors_shrink_by_what_few_members_vary_more_than_all():
    """Two of four members predict a row here, all four a new one."""
    rng = np.random.default_rng(0)
    n, deviation = 20_000, 0.8
    truth, members = rng.normal(size=n), deviation * rng.normal(size=(n, 4))
    center = members[:, :2].mean(axis=1)
    unseen = Components(center, np.ones((n, 2, 1)), np.zeros((n, 2, 1)))

    class Part:
        def surplus_variance(self, unseen):
            return np.full(n, deviation**2 * (1 / 2 - 1 / 4))

    pair = SimpleNamespace(epistemic=Part())
    factors, losses = np.ones((2, 1)), np.zeros(n)
    one = Contestant("c", "n", pair, truth, unseen, factors, losses, np.arange(n))
    shrunk = shrinkage([one], unseen) * (truth - center)
    assert shrunk.std() == pytest.approx((truth - members.mean(axis=1)).std(), rel=0.02)


def test_one_pair_alone_keeps_its_own_units():
    alone, (_, unseen, _) = blend([contestant("one", np.ones(3))])
    np.testing.assert_array_equal(alone.factors, np.ones((1, 2, 1)))
    np.testing.assert_array_equal(unseen.aleatoric, 1)
    _, (_, unseen, _) = blend([contestant("one", np.ones(3)), contestant("two", np.ones(3))])
    np.testing.assert_array_equal(unseen.aleatoric, 2)
    np.testing.assert_array_equal(unseen.epistemic, 3)


def test_what_no_pair_has_a_use_for_is_not_lost():
    """If no pair uses its epistemic part, their mean keeps it: it shows how little they know."""
    two = [replace(contestant(name, np.ones(3)), factors=np.array([[2.0], [0.0]])) for name in "ab"]
    mean, (_, unseen, _) = blend(two)
    np.testing.assert_array_equal(mean.factors, 2)
    np.testing.assert_array_equal(unseen.epistemic, 2)
    _, (_, unseen, _) = blend([two[0], contestant("c", np.ones(3))])  # one of them uses it
    np.testing.assert_array_equal(unseen.epistemic, 1.5)


def test_rows_that_every_member_saw_do_not_judge():
    with pytest.warns(CalibrationWarning, match="1 of 4 rows were seen by every member"):
        np.testing.assert_array_equal(unseen_rows(np.array([1.0, np.nan, 2.0, 3.0])), [0, 2, 3])
    with pytest.raises(ValueError, match="Only 1 of 4 rows were left out by any member"):
        unseen_rows(np.array([1.0, np.nan, np.nan, np.nan]))


def test_the_best_of_infinite_losses_is_kept_with_those_that_are_as_bad():
    """With very few rows every pair may have infinite bounds."""
    field = [
        contestant("best", [np.inf, 1.0]),
        contestant("as bad", [np.inf, 1.0]),
        contestant("worse", [np.inf, np.inf]),
    ]
    kept = not_told_apart(field)
    assert [c.center_name for c in kept] == ["best", "as bad"]
