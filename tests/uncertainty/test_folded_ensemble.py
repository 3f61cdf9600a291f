import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble
from tests.toys import OTHER_DRAWS, noisy_line

QUICK = SymmetricTrees(n_trees=8, max_depth=2)


def test_every_row_is_judged_by_members_that_left_it_out():
    X, y = noisy_line(60)
    fitted = FoldedEnsemble(LinearRegression(), 5, 3, random_state=0).fit(X, y)
    members = fitted.predict_members(X)
    center, widths = fitted.predict_unseen(X)
    for row in range(60):
        judges = members[row, fitted.draws_.unseen[:, row]]
        assert len(judges) == 3
        assert center[row] == pytest.approx(np.median(judges))
        assert widths[row, 0, 0] == pytest.approx(1.6448536 * judges.std(ddof=1))


def test_the_target_of_a_row_has_no_part_in_what_is_said_of_it_unseen():
    X, y = noisy_line(50)
    ensemble = FoldedEnsemble(QUICK, 5, 2, random_state=0)
    before = ensemble.fit(X, y).predict_unseen(X)
    y[7] += 1000
    after = ensemble.fit(X, y).predict_unseen(X)
    assert after.center[7] == before.center[7]
    np.testing.assert_array_equal(after.widths[7], before.widths[7])
    assert not np.array_equal(after.center, before.center)


def test_widths_of_new_rows_are_of_the_kind_that_calibrated():
    """Outer points of 4 members lie closer than those of 40, so groups of 4 are compared."""
    X, y = noisy_line(2000)
    fitted = FoldedEnsemble(LinearRegression(), 10, 4, spread="quantiles", random_state=0)
    fitted.fit(X[:1000], y[:1000])
    calibrating = fitted.predict_unseen(X[:1000]).widths.mean()
    assert fitted.predict_like_unseen(X[1000:]).widths.mean() == pytest.approx(calibrating, rel=0.2)
    assert fitted.predict_with_widths(X[1000:]).widths.mean() > 1.3 * calibrating


def test_rows_that_belong_together_are_left_out_together():
    X, y = noisy_line(60)
    patient = np.arange(60) // 6
    fitted = FoldedEnsemble(LinearRegression(), 5, 2, random_state=0).fit(X, y, groups=patient)
    for seen in fitted.draws_.counts:
        assert all(len(set(seen[patient == label])) == 1 for label in range(10))


def test_fewer_rows_than_folds_make_fewer_folds():
    X, y = noisy_line(4)
    fitted = FoldedEnsemble(LinearRegression(), 10, 1, random_state=0).fit(X, y)
    assert len(fitted.draws_) == 4
    with pytest.raises(ValueError, match="n_samples=1 row: at least 2 are needed"):
        fitted.fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="n_samples=1 label that keeps rows together"):
        fitted.fit(X, y, groups=np.zeros(4))


def test_jobs_change_nothing():
    X, y = noisy_line(80)
    one, two = (
        FoldedEnsemble(QUICK, 5, 2, n_jobs=n, random_state=1).fit(X, y).predict_with_widths(X)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.center, two.center)
    np.testing.assert_array_equal(one.widths, two.widths)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_folds": 1}, "n_folds must be a whole number of at least 2"),
        ({"n_repeats": 0}, "n_repeats must be"),
        ({"spread": "iqr"}, 'spread must be one of "quantiles", "gaussian"'),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        FoldedEnsemble(**parameters).fit(*noisy_line())


@parametrize_with_checks(
    [FoldedEnsemble(LinearRegression(), 2, 2)],
    expected_failed_checks=lambda _: OTHER_DRAWS,
)
def test_estimator_checks(estimator, check):
    check(estimator)
