"""A row of weight 3 is three rows: in every kernel, every part and the whole model."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clearbands import (
    BoostedQuantiles,
    CalibrationWarning,
    ClearCalibrator,
    ClearRegressor,
    ExpectileGAM,
    FoldedBounds,
    FoldedEnsemble,
    ForestQuantiles,
    GaussianProcess,
    KernelRidge,
    LinearQuantiles,
    Mixture,
    ModelSearch,
    PCSEnsemble,
    ResidualQuantiles,
    ScaledResiduals,
    SymmetricTrees,
    TreesOnSmooth,
    fast,
    recency_weights,
)
from clearbands.models.bagging import fit_bag
from clearbands.rows.draws import Bootstraps, Folds
from clearbands.uncertainty.gaussian_process import NoiseByWeight
from tests.toys import linear_clear, noisy_line

KERNELS = {
    "squared": SymmetricTrees(n_trees=12, max_depth=4, random_state=0),
    "absolute": SymmetricTrees("absolute", n_trees=12, max_depth=4, random_state=0),
    "boosting": BoostedQuantiles(n_trees=8, max_depth=4, min_child_weight=3),
    "forest": ForestQuantiles(n_trees=4, min_samples_leaf=3, random_state=0),
}
KERNEL = pytest.mark.parametrize("model", KERNELS.values(), ids=KERNELS)


def weighted_rows(n, n_columns, seed=0, smallest=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    weight = rng.integers(smallest, 4, n)
    weight[:2] = 1
    return X, X[:, 0] + rng.normal(size=n), weight


def members(model, X, y, draws, new, **options):
    return fit_bag(model, X, y, draws, n_jobs=1, stage="test", **options).predict_members(new)


@KERNEL
@pytest.mark.parametrize("shape", [(150, 3), (90, 600), (5000, 1)], ids=["few", "wide", "long"])
def test_whole_weights_are_repeated_rows_bit_for_bit(model, shape):
    """This also holds if columns are screened, and if there are more values than bins."""
    X, y, weight = weighted_rows(*shape)
    rows = np.repeat(np.arange(len(y)), weight)
    one = model.fit(X, y, weight).predict(X[:200])
    other = model.fit(X[rows], y[rows]).predict(X[:200])
    np.testing.assert_array_equal(one, other)


@KERNEL
def test_a_member_counts_a_row_as_often_as_it_is_drawn_times_its_weight(model):
    X, y, weight = weighted_rows(120, 2, smallest=1)
    rows = np.repeat(np.arange(len(y)), weight)
    draws = Bootstraps.draw(len(y), 2, np.random.RandomState(0))
    again = Bootstraps.draw(len(rows), 2, np.random.RandomState(0), groups=rows)
    np.testing.assert_array_equal(draws.counts[:, rows], again.counts)
    np.testing.assert_array_equal(
        members(model, X, y, draws, X, weight=weight.astype(float)),
        members(model, X[rows], y[rows], again, X),
    )


@KERNEL
def test_weights_that_are_hardly_whole_give_hardly_another_model(model):
    """They are rounded to grains, and then limits on numbers of rows count grains."""
    X, y, weight = weighted_rows(150, 3, smallest=1)
    one = model.fit(X, y, weight).predict(X)
    other = model.fit(X, y, weight + 1e-9).predict(X)
    assert np.corrcoef(one, other)[0, 1] > 0.98
    if isinstance(model, SymmetricTrees) and model.loss == "squared":
        np.testing.assert_allclose(one, other, rtol=1e-4)


@pytest.mark.parametrize(
    "model",
    [
        ExpectileGAM((0.5,)),
        ExpectileGAM((0.1, 0.9)),
        LinearQuantiles((0.1, 0.5)),
        LinearQuantiles(alpha=0.01),
        TreesOnSmooth(trees=SymmetricTrees(n_trees=8, max_depth=3, random_state=0)),
        KernelRidge(random_state=0),
        Mixture([ExpectileGAM((0.5,))], [1.0]),
    ],
    ids=lambda model: type(model).__name__,
)
def test_weights_are_repeated_rows_up_to_rounding(model):
    X, y, weight = weighted_rows(150, 2)
    rows = np.repeat(np.arange(len(y)), weight)
    one, other = model.fit(X, y, weight).predict(X), model.fit(X[rows], y[rows]).predict(X)
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


EPISTEMIC = [
    FoldedEnsemble(SymmetricTrees(n_trees=8), 3, 2, random_state=0),
    FoldedEnsemble(make_pipeline(StandardScaler(), Ridge(alpha=0)), 3, 1, random_state=0),
    PCSEnsemble([LinearRegression()], n_bootstraps=4, random_state=0),
    PCSEnsemble({"a": ExpectileGAM(), "b": LinearQuantiles()}, n_bootstraps=3, random_state=0),
]


@pytest.mark.parametrize("part", EPISTEMIC, ids=lambda part: type(part).__name__)
def test_epistemic_parts(part):
    X, y, weight = weighted_rows(100, 2, smallest=1)
    rows = np.repeat(np.arange(len(y)), weight)
    given = {"validation": (X, y), "validation_weight": weight}
    again = {"validation": (X[rows], y[rows])}
    if not isinstance(part, PCSEnsemble):
        given = again = {}
    one = part.fit(X, y, weight, **given).predict_unseen(X)
    other = part.fit(X[rows], y[rows], groups=rows, **again).predict_unseen(X[rows])
    np.testing.assert_allclose(one.center[rows], other.center, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(one.widths[rows], other.widths, rtol=1e-6, atol=1e-6)


ALEATORIC = [
    ResidualQuantiles(BoostedQuantiles(n_trees=5), n_bootstraps=3, random_state=0),
    FoldedBounds(BoostedQuantiles(n_trees=5), 3, 1, random_state=0),
    ScaledResiduals(n_folds=3, n_repeats=1, confidence_level=[0.5, 0.9], random_state=0),
    ScaledResiduals(n_folds=3, n_repeats=1, learn_log=True, random_state=0),
]


@pytest.mark.parametrize("part", ALEATORIC, ids=lambda part: type(part).__name__)
def test_aleatoric_parts_bit_for_bit(part):
    X, y, weight = weighted_rows(100, 2, smallest=1)
    rows = np.repeat(np.arange(len(y)), weight)
    one = part.fit(X, y, weight).predict_widths(X)
    other = part.fit(X[rows], y[rows], groups=rows).predict_widths(X)
    np.testing.assert_array_equal(one, other)


def test_a_gaussian_process_takes_a_heavy_row_for_many_equal_ones():
    X, y, weight = weighted_rows(40, 1, smallest=1)
    rows = np.repeat(np.arange(len(y)), weight)
    signal, noise = RBF(1.0, "fixed"), (0.5, "fixed")
    weighted = GaussianProcessRegressor(signal + NoiseByWeight(*noise, weight=weight), alpha=0)
    repeated = GaussianProcessRegressor(signal + WhiteKernel(*noise), alpha=0)
    one = weighted.fit(X, y).predict(X + 0.1, return_std=True)
    other = repeated.fit(X[rows], y[rows]).predict(X + 0.1, return_std=True)
    np.testing.assert_allclose(one, other, rtol=1e-8)
    part = GaussianProcess(RBF(), random_state=0).fit(X, y, np.where(y > 0, 50, 0.02))
    assert np.corrcoef(part.predict(X[y > 0]), y[y > 0])[0, 1] > 0.5


def fitted_both_ways(model, weight, **options):
    X, y = noisy_line(160)
    rows = np.repeat(np.arange(len(y)), weight)
    one = model.fit(X, y, sample_weight=weight, **options).predict_interval(X)
    lambda_ = model.lambda_
    other = model.fit(X[rows], y[rows], groups=rows, **options)
    return one, other.predict_interval(X), (lambda_, other.lambda_)


def test_the_whole_model_bit_for_bit():
    weight = np.random.default_rng(0).integers(0, 4, 160)
    model = fast(calibrator=ClearCalibrator(), random_state=0)
    one, other, lambdas = fitted_both_ways(model, weight)
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[1], other[1])
    np.testing.assert_array_equal(*lambdas)


def test_weights_of_one_change_nothing():
    X, y = noisy_line(160)
    one = fast(random_state=0).fit(X, y).predict_interval(X)[1]
    other = fast(random_state=0).fit(X, y, sample_weight=np.ones(160)).predict_interval(X)[1]
    np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_the_whole_competition():
    """Both agree up to rounding, with weights by which no two splits of a tree are equally good."""
    quick = ClearRegressor(search=ModelSearch(folds=4, repeats=1, n_centers=1), random_state=0)
    weight = np.random.default_rng(2).integers(1, 4, 160)
    one, other, _ = fitted_both_ways(quick, weight)
    np.testing.assert_allclose(one[1], other[1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("calibration", ["joint", "conformal"])
def test_weights_where_rows_are_held_out(calibration):
    """The rows with large weights lie on another line, which the center follows."""
    X, y = noisy_line(240)
    second = np.arange(240) % 2 == 0
    y = np.where(second, y + 10, y)
    weight = np.where(second, 5.0, 0.01)
    model = linear_clear(calibration=calibration).fit(X, y, sample_weight=weight)
    residual = (y - model.predict(X))[second]
    assert abs(np.median(residual)) < 0.5
    _, intervals = model.predict_interval(X)
    inside = (intervals[:, 0, 0] <= y) & (y <= intervals[:, 1, 0])
    assert inside[second].mean() > 0.8
    assert inside[~second].mean() < 0.2


def test_a_conformal_promise_counts_rows_however_much_they_weigh():
    X, y = noisy_line(120)
    cal, weight = noisy_line(30, seed=1), np.full(120, 50.0)
    model = linear_clear(calibration="conformal", confidence_level=0.95)
    with pytest.warns(CalibrationWarning, match="15 calibration rows are too few for level 0.95"):
        model.fit(X, y, X_cal=cal[0], y_cal=cal[1], sample_weight=weight)
    model = linear_clear(calibration="conformal", confidence_level=0.9, calibration_size=0.1)
    with pytest.warns(CalibrationWarning, match="6 calibration rows are too few for level 0.9"):
        model.fit(X, y, sample_weight=weight)
    assert np.isinf(model.predict_interval(X)[1]).all()
    model = linear_clear(calibration="conformal", confidence_level=0.8, calibration_size=0.2)
    model.fit(X, y, sample_weight=weight)
    assert model.any_level_.highest == 12 / 13
    assert model.guarantee_ == "finite-sample marginal coverage"
    model.fit(X, y, sample_weight=1.0 + np.arange(120) % 2)
    assert model.guarantee_.endswith("distributed as the weights say")


def test_other_levels_count_rows_the_same_way():
    X, y = noisy_line(160)
    weight = np.random.default_rng(0).integers(1, 4, 160)
    rows = np.repeat(np.arange(160), weight)
    model = fast(random_state=0)
    one = model.fit(X, y, sample_weight=weight).predict_quantiles(X, [0.2, 0.7])
    other = model.fit(X[rows], y[rows], groups=rows).predict_quantiles(X, [0.2, 0.7])
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_sample_and_calibration_weight_together():
    """A row of weight 2 that is three times as frequent among new rows counts six times."""
    X, y = noisy_line(240)
    counts = np.random.default_rng(0).integers(1, 3, 240)
    rows = np.repeat(np.arange(240), counts)
    shift = np.where(X[:, 1] > 0, 3.0, 1.0)
    model = fast(random_state=0)
    one = model.fit(X, y, sample_weight=counts, calibration_weight=shift).predict_interval(X)[1]
    other = model.fit(X[rows], y[rows], groups=rows, calibration_weight=shift[rows])
    np.testing.assert_array_equal(one, other.predict_interval(X)[1])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-np.ones(240), "sample_weight must not be negative, got -1 in row 0"),
        (np.zeros(240), "sample_weight is zero in every row"),
        (np.full(240, np.nan), "sample_weight contains NaN"),
        (np.ones(239), "sample_weight has 239 rows where 240 are needed"),
        (np.full(240, 1 / 240), "adds up to 1, but it says how many rows each row counts as"),
    ],
)
@pytest.mark.parametrize("calibration", ["cross", "joint"])
def test_bad_weights(weight, message, calibration):
    X, y = noisy_line()
    with pytest.raises(ValueError, match=message):
        linear_clear(calibration=calibration).fit(X, y, sample_weight=weight)


def test_one_that_takes_none_leaves_the_pool():
    X, y = noisy_line()
    pool = {"near": KNeighborsRegressor(), "line": LinearRegression()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        part = PCSEnsemble(pool, n_bootstraps=2, random_state=0).fit(X, y, np.ones(240))
    assert [entry["model"] for entry in part.leaderboard_] == ["line"]
    assert "'near' is left out: KNeighborsRegressor takes no sample_weight" in str(
        caught[0].message
    )


def test_folds_of_weighted_rows_are_those_of_repeated_ones():
    rows = np.repeat(np.arange(50), np.arange(50) % 3 + 1)
    one = Folds.draw(50, 5, 2, np.random.RandomState(0))
    other = Folds.draw(len(rows), 5, 2, np.random.RandomState(0), groups=rows)
    np.testing.assert_array_equal(one.counts[:, rows], other.counts)


def test_half_after_each_half_life():
    np.testing.assert_allclose(recency_weights(7, 2)[::-2], [1, 0.5, 0.25, 0.125])
    np.testing.assert_allclose(recency_weights([3.0, 9.0, 6.0], 3), [0.25, 1, 0.5])


@pytest.mark.parametrize("half_life", [30, dt.timedelta(days=30), np.timedelta64(30, "D")])
def test_dates_in_days(half_life):
    times = pd.to_datetime(["2026-01-31", "2026-01-01", "2025-12-02"])
    np.testing.assert_allclose(recency_weights(times, half_life), [1, 0.5, 0.25])


def test_a_model_follows_what_is_recent():
    """The level of y jumps by 10 in the last third."""
    X = np.linspace(0, 1, 150)[:, None] * 0
    y = np.where(np.arange(150) < 100, 0.0, 10.0) + np.resize([-0.1, 0.0, 0.1], 150)
    weight = recency_weights(150, half_life=10)
    assert fast(random_state=0).fit(X, y).predict([[0.0]])[0] < 5
    assert fast(random_state=0).fit(X, y, sample_weight=weight).predict([[0.0]])[0] > 9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((10, 0), "half_life must be a number above 0"),
        ((10, "soon"), "half_life must be a number above 0"),
        ((0, 1), "must be a whole number of at least 1"),
        (([1.0, np.nan], 1), "time is missing in row 1"),
        (([[1.0]], 1), r"time must have shape \(n,\)"),
        ((["soon"], 1), "time must be numbers, dates or times"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        recency_weights(*arguments)
