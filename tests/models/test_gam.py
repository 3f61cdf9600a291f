"""ExpectileGAM: pygam's numbers, the definition of an expectile, and laws."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import SplineTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from clearbands.models.gam import ExpectileGAM, SplineBasis
from clearbands.models.quantile_model import TooLarge
from clearbands.rows.draws import Bootstraps
from tests.golden.make_pygam import draw
from tests.models.gam_rows import (
    GOLDEN_VALUES,
    RECORDS,
    case_name,
    noisy_rows,
    unsorted_predictions,
)

UNIT = np.array([-1e6, -0.5, 0.0, 1e-9, 0.3, 0.999, 1.0, 1.5, 7.0])


@pytest.mark.parametrize(("n_splines", "spline_order"), [(20, 3), (8, 2), (5, 1)])
def test_splines_are_those_of_scikit_learn_and_go_on_as_straight_lines(n_splines, spline_order):
    knots = np.linspace(0, 1, n_splines - spline_order + 1)[:, None]
    theirs = SplineTransformer(
        degree=spline_order, knots=knots, extrapolation="linear", include_bias=False
    ).fit(knots)
    basis = SplineBasis.from_data(knots, n_splines, spline_order)
    terms = basis.apply(UNIT[:, None])
    np.testing.assert_array_equal(terms[:, 0], 1)
    expected = theirs.transform(UNIT[:, None])
    np.testing.assert_allclose(terms[:, 1:], expected, rtol=1e-12, atol=1e-15)


def test_every_column_has_splines_over_its_own_range():
    columns = np.column_stack([[0.0, 1.0, 0.0], [5.0, 5.0, 5.0], [-3.0, 1.0, 2.0], [0.0, 9.0, 2.0]])
    basis = SplineBasis.from_data(columns, 6, 3)
    terms = basis.apply(np.asfortranarray(columns))
    assert terms.shape == (3, 1 + 1 + 2 * 5)
    np.testing.assert_array_equal(terms[:, :2], [[1, 0], [1, 1], [1, 0]])
    for first, column in ((2, 2), (7, 3)):
        alone = SplineBasis.from_data(columns[:, [column]], 6, 3)
        own = alone.apply(columns[:, [column]])[:, 1:]
        np.testing.assert_array_equal(terms[:, first : first + 5], own)


def test_a_missing_value_has_no_splines():
    basis = SplineBasis.from_data(np.linspace(0, 1, 5)[:, None], 6, 3)
    assert np.isnan(basis.apply(np.array([[np.nan]]))[0, 1:]).all()


QUANTILES = (0.05, 0.5, 0.95)


@parametrize_with_checks([ExpectileGAM()])
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("record", RECORDS, ids=case_name)
def test_predicts_what_pygam_predicts(record):
    """Inside the range the two differ only by their ridges, which are 1e-8 beside the penalty.

    That is 1e-5 of the smallest penalty, 1e-3, and therefore the bound is 3e-5. Lines beyond the
    range depend on few rows, where the ridges weigh most, so their bound is 5e-3.
    """
    X, y, new = draw(record["case"], record["seed"])
    for golden in record["predictions"]:
        model = ExpectileGAM(GOLDEN_VALUES["expectiles"], smoothing=golden["smoothing"]).fit(X, y)
        difference = unsorted_predictions(model, new) - np.transpose(golden["values"])
        beyond, inside = difference[:2] / np.std(y), difference[2:] / np.std(y)
        assert np.abs(inside).max() < 3e-5
        assert np.abs(beyond).max() < 5e-3


@settings(max_examples=25, deadline=None)
@example(seed=673, n=5, d=3)
@given(seed=st.integers(0, 10_000), n=st.integers(5, 60), d=st.integers(1, 3))
def test_counts_equal_repeated_rows(seed, n, d):
    """They agree on the rows; in between, a small ridge that depends on the whole table differs."""
    X, y = noisy_rows(n, d, seed)
    counts = Bootstraps.draw(n, 1, np.random.RandomState(seed)).counts
    # Rows at the ends of the range must be drawn, as all rows together decide the knots.
    counts[0, np.r_[X.argmin(axis=0), X.argmax(axis=0)]] += 1
    rows = np.repeat(np.arange(n), counts[0])
    model = ExpectileGAM(QUANTILES, smoothing=0.5)
    counted = model.fit_bag(X, y, counts).predict_members(X[rows])
    repeated = model.fit_bag(X[rows], y[rows], np.ones((1, len(rows)))).predict_members(X[rows])
    np.testing.assert_allclose(counted, repeated, atol=1e-5 * np.ptp(y))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    scale=st.floats(1e-6, 1e6),
    shift=st.floats(-1e3, 1e3),
    level=st.floats(0.02, 0.98),
)
def test_follows_scale_and_shift_of_target_and_columns(seed, scale, shift, level):
    X, y = noisy_rows(80, 2, seed)
    predicted = ExpectileGAM((level,), smoothing=1).fit(X, y).predict(X)
    moved = ExpectileGAM((level,), smoothing=1).fit(X * scale + shift, scale * (y + shift))
    expected = scale * (predicted + shift)
    # These digits of X * scale + shift are lost behind the shift.
    lost = 1e-5 + 1e-13 * abs(shift) / scale
    np.testing.assert_allclose(
        moved.predict(X * scale + shift), expected, atol=scale * np.ptp(y) * lost
    )


def test_negated_target_mirrors_the_levels():
    X, y = noisy_rows()
    up = ExpectileGAM((0.1, 0.7)).fit(X, y).predict_quantiles(X)
    down = ExpectileGAM((0.3, 0.9)).fit(X, -y).predict_quantiles(X)
    np.testing.assert_allclose(up, -down[:, ::-1], atol=1e-8)


@pytest.mark.parametrize("smoothing", ["gcv", 0.1])
def test_n_jobs_changes_nothing(smoothing):
    X, y = noisy_rows(300, d=4)
    counts = Bootstraps.draw(len(y), 7, np.random.RandomState(1)).counts
    model = ExpectileGAM(smoothing=smoothing)
    one, two = (model.fit_bag(X, y, counts, n_jobs=n_jobs).coef for n_jobs in (1, 2))
    assert np.array_equal(one, two)
    assert len(np.unique(one[:, 0, 0])) == len(counts)


def test_fits_at_once_agree_to_the_last_bit():
    """They share the threads of BLAS, whose number changes the last digits of a sum."""
    X, y = noisy_rows(n=400, d=12)
    alone = ExpectileGAM().fit(X, y).predict_quantiles(X)
    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(4) as pool:
        for model in pool.map(lambda _: ExpectileGAM().fit(X, y), range(12)):
            np.testing.assert_array_equal(model.predict_quantiles(X), alone)


def test_members_do_not_depend_on_their_neighbours():
    """The warm start saves time and leaves no trace."""
    X, y = noisy_rows(150)
    counts = Bootstraps.draw(len(y), 4, np.random.RandomState(1)).counts
    together = ExpectileGAM().fit_bag(X, y, counts).coef
    alone = ExpectileGAM().fit_bag(X, y, counts[2:3]).coef
    assert np.array_equal(together[2:3], alone)


def test_bag_predicts_rows_by_levels_by_members_and_survives_pickle():
    X, y = noisy_rows()
    counts = Bootstraps.draw(len(y), 5, np.random.RandomState(1)).counts
    bag = ExpectileGAM((0.1, 0.4, 0.6, 0.9)).fit_bag(X, y, counts)
    members = bag.predict_members(X[:11])
    assert members.shape == (11, 4, 5)
    assert np.array_equal(pickle.loads(pickle.dumps(bag)).predict_members(X[:11]), members)
    in_chunks = np.concatenate([bag.predict_members(X[:4]), bag.predict_members(X[4:11])])
    np.testing.assert_allclose(in_chunks, members, rtol=1e-12, atol=1e-12)


def test_outputs_never_cross():
    """With eight noisy rows per function, the fits themselves do cross beyond the data."""
    X, y = noisy_rows(25, d=3)
    far = np.random.RandomState(0).uniform(-4, 4, (500, 3))
    model = ExpectileGAM((0.3, 0.4, 0.5, 0.6), smoothing=0.01).fit(X, y)
    assert (np.diff(unsorted_predictions(model, far), axis=1) < 0).any()
    assert (np.diff(model.predict_quantiles(far), axis=1) >= 0).all()


def test_goes_on_as_a_straight_line_beyond_the_training_rows():
    X, y = noisy_rows(300, d=1)
    model = ExpectileGAM((0.5,)).fit(X, y)
    for edge, outward in ((X.max(), 1), (X.min(), -1)):
        beyond = model.predict(edge + outward * np.array([[0.0], [1e-6], [1.0], [2.0], [3.0]]))
        slope_at_edge = (beyond[1] - beyond[0]) / 1e-6
        np.testing.assert_allclose(np.diff(beyond[2:]), slope_at_edge, rtol=1e-5)
    inside = model.predict(np.linspace(X.min(), X.max(), 50)[:, None])
    assert np.abs(np.diff(inside, n=2)).max() > 1e-3


def test_straight_line_without_noise_is_found_exactly_everywhere():
    X = np.random.RandomState(0).uniform(-5, 5, (200, 2))
    far = np.array([[100.0, -100.0], [0.0, 0.0]])
    model = ExpectileGAM(QUANTILES, smoothing=1).fit(X, 3 + X @ [2, -1])
    predicted = model.predict_quantiles(far)
    np.testing.assert_allclose(predicted, np.repeat([[303.0], [3.0]], 3, axis=1), rtol=1e-5)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e9])
def test_constant_target_is_predicted(value):
    X, _ = noisy_rows()
    predicted = ExpectileGAM().fit(X, np.full(len(X), value)).predict_quantiles(X)
    np.testing.assert_allclose(predicted, value, rtol=1e-12)


def test_constant_column_is_ignored_even_when_it_moves():
    X, y = noisy_rows()
    with_constant = np.column_stack((X, np.full(len(X), 7.0)))
    model = ExpectileGAM().fit(with_constant, y)
    expected = ExpectileGAM().fit(X, y).predict_quantiles(X)
    assert np.array_equal(model.predict_quantiles(with_constant), expected)
    with_constant[:, -1] = -1e6
    assert np.array_equal(model.predict_quantiles(with_constant), expected)


def test_only_constant_columns_leave_the_expectile_of_the_target():
    y = np.array([0.0, 0.0, 0.0, 1.0])
    predicted = ExpectileGAM((0.5, 0.75)).fit(np.ones((4, 2)), y).predict_quantiles(np.ones((1, 2)))
    # The balance 0.75 * (1 - m) = 3 * 0.25 * m holds at m = 1/2.
    np.testing.assert_allclose(predicted, [[0.25, 0.5]], rtol=1e-6)


def test_two_values_are_a_straight_line_between_two_groups():
    rng = np.random.RandomState(0)
    group = rng.randint(2, size=200) * 4.0
    y = rng.randn(200) + 3 * group
    model = ExpectileGAM((0.5,)).fit(group[:, None], y)
    low, high = y[group == 0].mean(), y[group == 4].mean()
    predicted = model.predict([[0.0], [4.0], [2.0], [8.0]])
    np.testing.assert_allclose(predicted, [low, high, (low + high) / 2, 2 * high - low], rtol=1e-6)
    assert model.bag_.coef.shape == (1, 1, 2)


def test_wide_dummies_are_fitted_by_group_means():
    """400 dummies of one factor are collinear with the intercept, and some groups have one row."""
    rng = np.random.RandomState(0)
    group = np.r_[np.arange(400), rng.randint(400, size=800)]
    X = np.eye(400)[group]
    y = group / 100 + rng.randn(len(group))
    predicted = ExpectileGAM((0.5,)).fit(X, y).predict(np.eye(400))
    means = np.bincount(group, y) / np.bincount(group)
    np.testing.assert_allclose(predicted, means, atol=1e-6)


def test_bootstrap_without_a_group_stays_finite_and_moderate():
    X = np.eye(5)[np.arange(100) % 5]
    y = np.random.RandomState(0).randn(100)
    counts = np.ones((1, 100), np.uint8)
    counts[0, X[:, 3] == 1] = 0
    members = ExpectileGAM().fit_bag(X, y, counts).predict_members(X)
    assert np.abs(members).max() < 10


def test_repeated_columns_share_one_function():
    X, y = noisy_rows(300)
    model = ExpectileGAM(QUANTILES, smoothing=1).fit(np.column_stack((X, X[:, 0], -X[:, 1])), y)
    once = ExpectileGAM(QUANTILES, smoothing=0.5).fit(X, y)
    # Two copies share the coefficients, and the penalty on two halves is half the penalty.
    predicted = model.predict_quantiles(np.column_stack((X, X[:, 0], -X[:, 1])))
    np.testing.assert_allclose(predicted, once.predict_quantiles(X), atol=1e-5)


@pytest.mark.parametrize("smoothing", ["gcv", 0.0, 0.6])
@pytest.mark.parametrize("n", [2, 3, 9])
def test_fewer_rows_than_coefficients(n, smoothing):
    X, y = noisy_rows(n, d=6)
    predicted = ExpectileGAM(smoothing=smoothing).fit(X, y).predict_quantiles(X)
    assert (np.abs(predicted) <= 2 * np.abs(y).max()).all()


def test_more_splines_follow_more_waves():
    x = np.linspace(0, 1, 400)[:, None]
    y = np.sin(40 * x[:, 0])
    errors = [
        np.abs(ExpectileGAM((0.5,), n_splines=n, spline_order=order).fit(x, y).predict(x) - y).max()
        for n, order in ((10, 3), (40, 1), (40, 3))
    ]
    assert errors[0] > 0.5 > 0.1 > errors[1] > 5 * errors[2]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"smoothing": -1}, "smoothing must be"),
        ({"smoothing": "aic"}, "smoothing must be"),
        ({"smoothing": np.nan}, "smoothing must be"),
        ({"n_splines": 3}, "n_splines > spline_order"),
        ({"n_splines": 10.5}, "whole numbers"),
        ({"spline_order": 0}, "spline_order >= 1"),
        ({"quantiles": (0.5, 0.1)}, "quantiles must rise"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    X, y = noisy_rows(20)
    with pytest.raises(ValueError, match=message):
        ExpectileGAM(**parameters).fit(X, y)


def test_overflow_is_an_error_and_never_nan():
    X, y = noisy_rows(20)
    huge = np.where(np.arange(20) % 3 == 0, 1.7e308, -1.7e308)
    with pytest.raises(ValueError, match="Rescale X and y"):
        ExpectileGAM().fit(X, huge)
    with pytest.raises(ValueError, match="Rescale X and y"):
        ExpectileGAM().fit(np.column_stack((X, huge)), y)


def test_too_many_columns_are_refused_before_they_cost_anything():
    wide = np.random.RandomState(0).randn(40, 300)
    with pytest.raises(TooLarge, match="2,701 splines for 40 rows"):
        ExpectileGAM().fit(wide, wide[:, 0])
    # Dummies are straight lines with one term each.
    dummies = (wide > 0).astype(float)
    assert ExpectileGAM().fit(dummies, wide[:, 0]).predict(dummies).shape == (40,)
