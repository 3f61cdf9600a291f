import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands import BoostedQuantiles, ForestQuantiles, LinearQuantiles
from clearbands.models.bagging import predict_unseen
from clearbands.rows.draws import compact_unseen
from clearbands.uncertainty.folded_bounds import FoldedBounds
from tests.toys import OTHER_DRAWS, noisy_line

QUICK = BoostedQuantiles(n_trees=5, max_depth=2)


def test_distances_are_measured_from_the_center_and_not_from_the_middle():
    """If the center lies 1 too low, residuals are 1 on average: all of the noise is above."""
    X, y = noisy_line(400)
    residual = y - 3 * X[:, 0] + 1
    widths = FoldedBounds(LinearQuantiles(), random_state=0).fit(X, residual).predict_widths(X)
    lower, upper = np.quantile(residual, [0.05, 0.95])
    assert widths[:, 1].mean() == pytest.approx(upper, abs=0.15)
    assert widths[:, 0].mean() == pytest.approx(max(-lower, 0), abs=0.15)


def test_bounds_of_y_are_measured_from_an_origin():
    X, y = noisy_line(200)
    part = FoldedBounds(LinearQuantiles(), random_state=0).fit(X, y)
    center = 3 * X[:, 0]
    above = part.predict_widths(X, center)[:, 1, 0]
    np.testing.assert_allclose(part.predict_widths(X, center - 10)[:, 1, 0], above + 10)


def test_the_residual_of_a_row_has_no_part_in_its_unseen_widths():
    X, y = noisy_line(80)
    part = FoldedBounds(QUICK, random_state=0)
    before = part.fit(X, y).predict_unseen_widths(X)
    y[3] += 1000
    after = part.fit(X, y).predict_unseen_widths(X)
    np.testing.assert_array_equal(after[3], before[3])
    assert not np.array_equal(after, before)


@parametrize_with_checks(
    [FoldedBounds(LinearQuantiles(), 2, 1)],
    expected_failed_checks=lambda _: {
        **OTHER_DRAWS,
        "check_fit_score_takes_y": "what it takes are residuals, and so they are called",
    },
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", [ForestQuantiles(n_trees=5), BoostedQuantiles(n_trees=5)])
def test_members_are_asked_only_about_rows_that_they_did_not_see(model):
    X, residual = np.random.default_rng(0).normal(size=(2, 90, 1))
    part = FoldedBounds(model, n_folds=3, n_repeats=2, random_state=0).fit(X, residual[:, 0])
    everyone = compact_unseen(part.bag_.predict_members(X), part.draws_)
    some = predict_unseen(part.bag_, X, part.draws_)
    np.testing.assert_array_equal(some, everyone)
