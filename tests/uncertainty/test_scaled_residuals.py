import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.uncertainty.scaled_residuals import ScaledResiduals
from tests.toys import OTHER_DRAWS, noisy_line

QUICK = SymmetricTrees(n_trees=20, max_depth=2)


def noise(n=1000):
    """Return skewed residuals, three times as large if the second column is positive."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, (1 + 2 * (X[:, 1] > 0)) * (rng.exponential(size=n) - 1)


@pytest.mark.parametrize("learn_log", [False, True])
def test_the_scale_follows_the_noise_and_the_shape_its_skew(learn_log):
    X, residual = noise()
    part = ScaledResiduals(QUICK, learn_log=learn_log, random_state=0).fit(X, residual)
    widths = part.predict_widths(X)[:, :, 0]
    large = X[:, 1] > 0
    assert widths[large].mean() == pytest.approx(3 * widths[~large].mean(), rel=0.2)
    below, above = widths[~large].mean(axis=0)
    assert (below, above) == pytest.approx((1 + np.log(0.95), -1 - np.log(0.05)), rel=0.25)
    inside = (-widths[:, 0] <= residual) & (residual <= widths[:, 1])
    assert inside.mean() == pytest.approx(0.9, abs=0.03)


def test_a_constant_scale_gives_the_quantiles_of_the_residuals():
    X, residual = noise(200)
    part = ScaledResiduals(DummyRegressor(strategy="constant", constant=1.0)).fit(X, residual)
    low, high = np.quantile(residual, [0.05, 0.95])
    np.testing.assert_allclose(part.predict_widths(X)[0, :, 0], [-low, high])


def test_no_residuals_no_widths():
    X, _ = noise(50)
    for learn_log in (False, True):
        part = ScaledResiduals(QUICK, learn_log=learn_log, random_state=0).fit(X, np.zeros(50))
        assert np.all(part.predict_widths(X) == 0)


def test_the_size_of_a_residual_has_no_part_in_its_unseen_scale():
    X, residual = noise(80)
    part = ScaledResiduals(QUICK, random_state=0)
    before = part.fit(X, residual).unseen_scale_
    residual[3] += 1000
    after = part.fit(X, residual).unseen_scale_
    assert after[3] == before[3]
    assert not np.array_equal(after, before)


@parametrize_with_checks(
    [ScaledResiduals(LinearRegression(), 2, 1)],
    expected_failed_checks=lambda _: {
        **OTHER_DRAWS,
        "check_fit_score_takes_y": "what it takes are residuals, and so they are called",
    },
)
def test_estimator_checks(estimator, check):
    check(estimator)


def test_rows_of_one_label_stay_together():
    X, residual = noisy_line(60)
    visits = np.arange(60) // 3
    part = ScaledResiduals(QUICK, random_state=0).fit(X, residual, groups=visits)
    for seen in part.draws_.counts:
        assert all(len(set(seen[visits == label])) == 1 for label in range(20))
