"""LinearQuantiles: scikit-learn's quantile regression, exact cases, and laws."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import QuantileRegressor
from sklearn.metrics import mean_pinball_loss
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands.models.linear_quantiles import LinearQuantiles
from clearbands.rows.draws import Bootstraps

QUANTILES = (0.05, 0.5, 0.95)


def noisy_rows(n=150, d=3, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, d) * 10.0 ** np.arange(d) + 5
    return X, X.sum(axis=1) + (1 + np.abs(X[:, 0])) * rng.randn(n)


def lines(model, X):
    """Return predictions (n, q) as fitted, a column per level, before sorting ends crossings."""
    return X @ model.bag_.coef[0].T + model.bag_.intercept[0]


@parametrize_with_checks(
    [LinearQuantiles()],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": "of more columns than rows any line fits"
    },
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("alpha", [0.0, 0.05, 1.0])
def test_equals_quantile_regressor_on_standardised_columns(alpha):
    X, y = noisy_rows(151)
    model = LinearQuantiles((0.1, 0.5, 0.83), alpha=alpha).fit(X, y)
    Z = StandardScaler().fit_transform(X)
    for column, level in enumerate(model.quantiles):
        other = QuantileRegressor(quantile=level, alpha=alpha, solver="highs").fit(Z, y)
        # With 151 rows and levels that split no row, the solution is unique.
        np.testing.assert_allclose(lines(model, X)[:, column], other.predict(Z), rtol=1e-7)
    assert alpha < 1 or (model.bag_.coef == 0).any()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), level=st.floats(0.02, 0.98), d=st.integers(1, 4))
def test_no_line_has_a_smaller_loss_than_scikit_learns(seed, level, d):
    X, y = noisy_rows(40, d, seed)
    ours = LinearQuantiles((level,)).fit(X, y).predict(X)
    theirs = QuantileRegressor(quantile=level, alpha=0, solver="highs").fit(X, y).predict(X)
    loss, other = (mean_pinball_loss(y, fit, alpha=level) for fit in (ours, theirs))
    assert loss == pytest.approx(other, rel=1e-6)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(6, 50))
def test_counts_equal_repeated_rows(seed, n):
    """Only the losses agree, as the line itself need not be unique."""
    X, y = noisy_rows(n, 2, seed)
    counts = Bootstraps.draw(n, 1, np.random.RandomState(seed)).counts
    rows = np.repeat(np.arange(n), counts[0])
    model = LinearQuantiles((0.3,))
    counted = model.fit_bag(X, y, counts).predict_members(X[rows])[:, 0, 0]
    repeated = model.fit(X[rows], y[rows]).predict(X[rows])
    losses = [mean_pinball_loss(y[rows], fit, alpha=0.3) for fit in (counted, repeated)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-7, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), scale=st.floats(1e-6, 1e6), shift=st.floats(-1e3, 1e3))
def test_follows_scale_and_shift_of_target_and_columns(seed, scale, shift):
    X, y = noisy_rows(41, 2, seed)
    predicted = LinearQuantiles((0.29,)).fit(X, y).predict(X)
    moved = LinearQuantiles((0.29,)).fit(X * scale + shift, scale * (y + shift))
    lost = 1e-8 + 1e-12 * abs(shift) / scale  # digits of X that vanish behind the shift
    np.testing.assert_allclose(
        moved.predict(X * scale + shift),
        scale * (predicted + shift),
        atol=scale * np.ptp(y) * lost,
    )


def test_level_is_the_share_of_rows_below():
    """A line through d + 1 rows leaves at most level * n below and (1 - level) * n above."""
    X, y = noisy_rows(500)
    model = LinearQuantiles(QUANTILES).fit(X, y)
    residual = y[:, None] - lines(model, X)
    touching = 1e-9 * np.ptp(y)
    assert ((residual < -touching).sum(axis=0) <= 500 * np.array(QUANTILES)).all()
    assert ((residual > touching).sum(axis=0) <= 500 * (1 - np.array(QUANTILES))).all()
    assert (np.sum(np.abs(residual) <= touching, axis=0) == 4).all()


def test_line_without_noise_is_found_exactly():
    X, _ = noisy_rows()
    model = LinearQuantiles(QUANTILES).fit(X, 3 + X @ [2, -0.1, 0.01])
    np.testing.assert_allclose(model.bag_.coef[0], [[2, -0.1, 0.01]] * 3, rtol=1e-9)
    np.testing.assert_allclose(model.bag_.intercept[0], 3, rtol=1e-9)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e9])
def test_constant_target_is_predicted(value):
    X, _ = noisy_rows()
    predicted = LinearQuantiles().fit(X, np.full(len(X), value)).predict_quantiles(X)
    np.testing.assert_allclose(predicted, value, rtol=1e-12)


def test_outputs_never_cross():
    X, y = noisy_rows(30)
    far = np.random.RandomState(0).randn(500, 3) * 1000
    model = LinearQuantiles((0.3, 0.4, 0.5, 0.6)).fit(X, y)
    assert (np.diff(lines(model, far), axis=1) < 0).any()
    assert (np.diff(model.predict_quantiles(far), axis=1) >= 0).all()


def test_constant_and_repeated_columns_get_the_coefficient_zero():
    X, y = noisy_rows()
    wide = np.column_stack((np.full(len(X), 0.1), X, X[:, 0] - X[:, 1]))
    model = LinearQuantiles(QUANTILES).fit(wide, y)
    expected = LinearQuantiles(QUANTILES).fit(X, y).predict_quantiles(X)
    np.testing.assert_allclose(model.predict_quantiles(wide), expected, rtol=1e-8)
    zeros = (model.bag_.coef[0] == 0).sum(axis=1)
    assert (zeros == 2).all()


def test_bootstrap_without_a_group_predicts_it_moderately():
    """The dummy of a group that was not drawn is constant, and must not replace the intercept.

    Otherwise the prediction for the group would be far off.
    """
    X = np.eye(5)[np.arange(100) % 5]
    y = 10 + np.random.RandomState(0).randn(100)
    counts = np.ones((1, 100), np.uint8)
    counts[0, X[:, 3] == 1] = 0
    members = LinearQuantiles().fit_bag(X, y, counts).predict_members(X)
    assert np.abs(members - 10).max() < 5


def test_wide_dummies_are_fitted_by_group_medians():
    rng = np.random.RandomState(0)
    group = np.repeat(np.arange(200), 3)
    X, y = np.eye(200)[group], rng.randn(600)
    predicted = LinearQuantiles((0.5,)).fit(X, y).predict(np.eye(200))
    np.testing.assert_allclose(predicted, np.median(y.reshape(200, 3), axis=1), atol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_fewer_rows_than_columns(alpha):
    X, y = noisy_rows(4, d=6)
    predicted = LinearQuantiles(alpha=alpha).fit(X, y).predict_quantiles(X)
    assert np.isfinite(predicted).all()
    if alpha == 0:
        np.testing.assert_allclose(predicted, np.repeat(y[:, None], 3, axis=1), rtol=1e-6)


def test_n_jobs_changes_nothing():
    X, y = noisy_rows()
    counts = Bootstraps.draw(len(y), 5, np.random.RandomState(1)).counts
    one, two = (LinearQuantiles().fit_bag(X, y, counts, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert np.array_equal(one.coef, two.coef)
    assert np.array_equal(one.intercept, two.intercept)
    assert len(np.unique(one.intercept[:, 0])) == len(counts)


def test_bag_predicts_rows_by_levels_by_members_and_survives_pickle():
    X, y = noisy_rows()
    counts = Bootstraps.draw(len(y), 5, np.random.RandomState(1)).counts
    model = LinearQuantiles((0.1, 0.9))
    bag = model.fit_bag(X, y, counts)
    members = bag.predict_members(X[:11])
    assert members.shape == (11, 2, 5)
    assert np.array_equal(pickle.loads(pickle.dumps(bag)).predict_members(X[:11]), members)
    alone = model.fit_bag(X, y, counts[3:4]).predict_members(X[:11])
    np.testing.assert_allclose(members[:, :, 3:4], alone, rtol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1}, "alpha must be"),
        ({"alpha": np.inf}, "alpha must be"),
        ({"alpha": "auto"}, "alpha must be"),
        ({"quantiles": (0.0, 0.5)}, "strictly between"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    X, y = noisy_rows(20)
    with pytest.raises(ValueError, match=message):
        LinearQuantiles(**parameters).fit(X, y)


def test_overflow_is_an_error_and_never_nan():
    X, y = noisy_rows(20)
    huge = np.where(np.arange(20) % 3 == 0, 1.7e308, -1.7e308)
    with pytest.raises(ValueError, match="Rescale X and y"):
        LinearQuantiles().fit(X, huge)
    with pytest.raises(ValueError, match="Rescale X and y"):
        LinearQuantiles().fit(np.column_stack((X, huge)), y)


@pytest.mark.parametrize("seed", [79, 138])
def test_an_outlier_far_beyond_all_others_does_not_stop_the_solver(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + np.abs(X[:, 1]) + rng.lognormal(0, 2.5, 80)
    y[0] += 10 ** rng.uniform(4, 7)
    model = LinearQuantiles((0.5,)).fit(X, y)
    below = y <= model.predict_quantiles(X)[:, 0]
    assert 37 <= below.sum() <= 43
