"""Baselines against MAPIE, against each other's definitions, and as scikit-learn estimators."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands import (
    CQR,
    UACQRP,
    UACQRS,
    BootstrappedCQR,
    CalibrationWarning,
    ClearRegressor,
    FixedRatioCalibrator,
    LinearQuantiles,
    NaiveConformal,
    PCSEnsemble,
    PCSIntervals,
    ResidualCQR,
    ResidualQuantiles,
    load,
    save,
)
from clearbands.calibration.additive import AdditiveCalibrator
from clearbands.calibration.conformal import rank
from clearbands.rows.split import Rows
from tests.toys import OTHER_DRAWS, calibration_set, noisy_line


def lines(n_bootstraps=10):
    return PCSEnsemble([LinearRegression()], n_bootstraps=n_bootstraps)


def make(kind, **parameters):
    """Small and quick: lines throughout."""
    parts = {
        NaiveConformal: {"epistemic": lines()},
        PCSIntervals: {"epistemic": lines()},
        CQR: {"model": LinearQuantiles()},
        BootstrappedCQR: {
            "epistemic": lines(),
            "aleatoric": ResidualQuantiles(LinearQuantiles(), n_bootstraps=3),
        },
        ResidualCQR: {
            "epistemic": lines(),
            "aleatoric": ResidualQuantiles(LinearQuantiles(), n_bootstraps=3),
        },
        UACQRS: {"model": LinearQuantiles(), "n_bootstraps": 5},
        UACQRP: {"model": LinearQuantiles(), "n_bootstraps": 30},
    }
    return kind(**({"random_state": 0} | parts[kind] | parameters))


KINDS = [NaiveConformal, CQR, BootstrappedCQR, ResidualCQR, PCSIntervals, UACQRS, UACQRP]


def inside(y, intervals):
    return (intervals[:, 0] <= y) & (y <= intervals[:, 1])


def noisier(X, y, factor=3):
    """The targets of `noisy_line` with the noise multiplied: bounds must move outwards."""
    return 3 * X[:, 0] + factor * (y - 3 * X[:, 0])


# What every baseline keeps


@pytest.mark.filterwarnings("ignore::clearbands.CalibrationWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_shapes_center_and_nested_levels(kind):
    X, y = noisy_line(400)
    model = make(kind, confidence_level=[0.9, 0.5, 0.8]).fit(X, y)
    point, intervals = model.predict_interval(X)
    assert point.shape == (400,)
    assert intervals.shape == (400, 2, 3)
    np.testing.assert_allclose(model.predict(X), point)
    assert np.all(intervals[:, 0] <= point[:, None])
    assert np.all(point[:, None] <= intervals[:, 1])
    inner_first = intervals[:, :, [1, 2, 0]]
    assert np.all(np.diff(inner_first[:, 0], axis=1) <= 0)
    assert np.all(np.diff(inner_first[:, 1], axis=1) >= 0)
    assert (model.n_train_, model.n_calibration_) == (300, 100)


@pytest.mark.parametrize("kind", [NaiveConformal, CQR, BootstrappedCQR, ResidualCQR, PCSIntervals])
def test_covers_rank_of_the_calibration_rows(kind):
    X, y = noisy_line(300)
    X_cal, y_cal = X[200:], noisier(X[200:], y[200:])
    model = make(kind).fit(X[:200], y[:200], X_cal=X_cal, y_cal=y_cal)
    _, intervals = model.predict_interval(X_cal)
    assert inside(y_cal, intervals[:, :, 0]).sum() == rank(100, 0.9)


@pytest.mark.parametrize("kind", [NaiveConformal, CQR, ResidualCQR, PCSIntervals, UACQRS])
def test_too_few_calibration_rows_give_infinite_bounds(kind):
    X, y = noisy_line(100)
    with pytest.warns(CalibrationWarning, match="at least 19 are needed"):
        model = make(kind, confidence_level=0.95).fit(X[18:], y[18:], X_cal=X[:18], y_cal=y[:18])
    point, intervals = model.predict_interval(X)
    assert np.isfinite(point).all()
    assert np.isinf(intervals).all()


@pytest.mark.filterwarnings("ignore::clearbands.CalibrationWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_weight_1_are_rows_and_of_weight_0_none(kind):
    X, y = noisy_line(300)
    weight = (np.arange(300) % 3 > 0).astype(float)
    left = np.flatnonzero(weight)
    plain = make(kind).fit(X[left], y[left]).predict_interval(X)[1]
    np.testing.assert_array_equal(
        make(kind).fit(X, y, sample_weight=weight).predict_interval(X)[1], plain
    )
    with pytest.raises(ValueError, match="sample_weight"):
        make(kind).fit(X, y, sample_weight=-weight)


@pytest.mark.filterwarnings("ignore::clearbands.CalibrationWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_whole_weights_are_repeated_rows_in_calibration(kind):
    """The parts are of rows of weight 1; what calibrates is repeated, or weighs more."""
    X, y = noisy_line(300)
    model = make(kind).fit(X, y)
    rng = np.random.default_rng(0)
    held_out = Rows(
        X[:80], noisier(X, y, 2)[:80], sample_weight=rng.integers(1, 4, 80).astype(float)
    )
    rows = np.repeat(np.arange(80), held_out.sample_weight.astype(int))
    one = model._calibrate(held_out, [0.8])
    other = model._calibrate(Rows(held_out.X[rows], held_out.y[rows]), [0.8])
    for name in ("gamma1_", "gamma2_", "orders_"):
        if hasattr(one, name):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("kind", KINDS)
def test_what_weighs_more_is_learned_more(kind):
    """Two lines in one: the heavy rows decide which of them is predicted."""
    X, y = noisy_line(400)
    is_high = np.arange(400) % 2 == 0
    y = y + 50 * is_high
    heavy = make(kind).fit(X, y, sample_weight=np.where(is_high, 20, 1))
    assert np.median(heavy.predict(X) - 3 * X[:, 0]) > 40


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_jobs_change_nothing(kind):
    X, y = noisy_line()
    one, two = (make(kind, n_jobs=jobs).fit(X, y).predict_interval(X)[1] for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("kind", KINDS)
def test_cloned_pickled_and_saved(kind, tmp_path):
    X, y = noisy_line()
    model = make(kind).fit(X, y)
    expected = model.predict_interval(X)[1]
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict_interval(X)[1], expected)
    np.testing.assert_array_equal(clone(model).fit(X, y).predict_interval(X)[1], expected)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_interval(X)[1], expected)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("kind", [CQR, ResidualCQR, UACQRP])
def test_frames_with_text_and_gaps(kind, frame):
    rng = np.random.default_rng(0)
    town = rng.choice(["north", "south"], size=200)
    size = rng.uniform(50, 150, size=200)
    y = size + 30 * (town == "north") + rng.normal(size=200)
    size[::10] = np.nan
    model = make(kind).fit(frame({"size": size, "town": town}), y)
    point, _ = model.predict_interval(frame({"town": ["east", None], "size": [100.0, None]}))
    assert np.isfinite(point).all()


def test_parameters_are_checked():
    X, y = noisy_line()
    with pytest.raises(ValueError, match="calibration_size must lie"):
        make(CQR, calibration_size=1.5).fit(X, y)
    with pytest.raises(ValueError, match="belong together"):
        make(CQR).fit(X, y, X_cal=X)
    with pytest.raises(TypeError, match="no parameter `quantiles`"):
        make(CQR, model=LinearRegression()).fit(X, y)


# One by one


@pytest.mark.slow
def test_cqr_is_valid_whatever_the_calibration_set():
    """Over calibration sets of n rows the coverage is Beta(k, n + 1 - k)."""
    X, y = noisy_line(400)
    X_new, y_new = noisy_line(20_000, seed=1)
    model, n = make(CQR).fit(X, y), 30
    new = model._components(X_new)
    observed = []
    for seed in range(300):
        X_cal, y_cal = noisy_line(n, seed=1000 + seed)
        calibrator = AdditiveCalibrator(0.9).fit(y_cal, *model._components(X_cal))
        observed.append(inside(y_new, calibrator.predict_interval(*new)).mean())
    k = rank(n, 0.9)
    assert stats.kstest(observed, stats.beta(k, n + 1 - k).cdf).pvalue > 0.01


class Fitted(RegressorMixin, BaseEstimator):
    """A regressor whose predictions another, fitted object makes."""

    def __init__(self, predict_with=None):
        self.predict_with = predict_with

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return self.predict_with(X)


@pytest.mark.filterwarnings("ignore:Estimator does not appear fitted")
@pytest.mark.parametrize("level", [0.9, 0.6])
def test_naive_is_mapies_split_conformal(level):
    mapie = pytest.importorskip("mapie.regression")
    X, y = noisy_line(300)
    model = make(NaiveConformal, confidence_level=level)
    model.fit(X[:200], y[:200], X_cal=X[200:], y_cal=y[200:])
    theirs = mapie.SplitConformalRegressor(Fitted(model.predict), confidence_level=level)
    theirs.conformalize(X[200:], y[200:])
    np.testing.assert_allclose(model.predict_interval(X)[1], theirs.predict_interval(X)[1])


@pytest.mark.filterwarnings("ignore:Estimator does not appear fitted")
@pytest.mark.parametrize(("level", "spread"), [(0.9, 1), (0.9, 3), (0.6, 1)])
def test_cqr_is_mapies(level, spread):
    """With targets three times as noisy the bounds move outwards, else inwards or hardly."""
    mapie = pytest.importorskip("mapie.regression")
    X, y = noisy_line(300)
    model = make(CQR, confidence_level=level)
    y_cal = noisier(X[200:], y[200:], spread)
    model.fit(X[:200], y[:200], X_cal=X[200:], y_cal=y_cal)
    curves = [
        Fitted(lambda X, q=q: model.model_.predict_quantiles(X)[:, q]) for q in (0, 2, 1)
    ]  # lower, upper, median: MAPIE's order
    theirs = mapie.ConformalizedQuantileRegressor(curves, confidence_level=level, prefit=True)
    theirs.conformalize(X[200:], y_cal)
    expected = theirs.predict_interval(X, symmetric_correction=True)[1][:, :, 0]
    point, intervals = model.predict_interval(X)
    if spread > 1:
        assert np.all(expected[:, 0] < point)
    # Where bounds move inwards, ours stop at the center.
    expected[:, 0], expected[:, 1] = (
        np.minimum(expected[:, 0], point),
        np.maximum(expected[:, 1], point),
    )
    np.testing.assert_allclose(intervals[:, :, 0], expected)


def test_additive_score_is_that_of_cqr():
    y, center, aleatoric, _ = calibration_set(99)
    lower, upper = center - aleatoric[:, 0], center + aleatoric[:, 1]
    for level in (0.5, 0.9):
        scores = np.sort(np.maximum(lower - y, y - upper))
        calibrator = AdditiveCalibrator(level).fit(y, center, aleatoric)
        assert calibrator.gamma2_ == pytest.approx(scores[rank(99, level) - 1])
        assert calibrator.gamma1_ == 1


def test_bounds_that_move_inwards_stop_at_the_center():
    y, center = np.zeros(9), np.zeros(9)
    aleatoric = np.tile([1.0, 3.0], (9, 1))
    calibrator = AdditiveCalibrator(0.9).fit(y, center, aleatoric)
    assert calibrator.gamma2_ == -1  # lower - y is -1, y - upper is -3
    np.testing.assert_allclose(
        calibrator.predict_interval([0.0, 0.0], [[1.0, 3.0], [0.5, 2.0]]), [[0, 2], [0, 1]]
    )
    assert calibrator.loss_ == pytest.approx(0.05 * 2 / 2)
    shrunk, added = calibrator.scale([[1.0, 3.0]])
    np.testing.assert_array_equal(shrunk[:, :, 0], [[0, 2]])
    np.testing.assert_array_equal(added, 0)


def test_zero_spread_needs_no_multiple_or_has_none():
    center, aleatoric = np.zeros(9), np.ones((9, 2))
    still = np.zeros((9, 2))
    covered = AdditiveCalibrator(0.9).fit(np.full(9, 0.5), center, aleatoric, still)
    assert covered.gamma2_ == 0
    with pytest.warns(CalibrationWarning, match="bounds are infinite"):
        missed = AdditiveCalibrator(0.9).fit(np.full(9, 2.0), center, aleatoric, still)
    assert np.isinf(missed.predict_interval([0.0], [[1.0, 1.0]], [[0.0, 0.0]])).all()


def test_residual_cqr_moves_the_bounds_that_clear_has_from_the_noise_alone():
    X, y = noisy_line(300)
    parts = {"epistemic": lines(), "aleatoric": ResidualQuantiles(LinearQuantiles(), 3)}
    for part in parts.values():
        part.set_params(random_state=1)
    data = {"X": X[:200], "y": y[:200], "X_cal": X[200:], "y_cal": noisier(X, y)[200:]}
    cqr = ResidualCQR(**parts).fit(**data)
    clear = ClearRegressor(**parts, residuals="in-sample", show_center=False).fit(**data)

    def of_clear(X):
        return clear.predict(X), clear.aleatoric_.predict_widths(X)[:, :, 0]

    calibrator = AdditiveCalibrator(0.9).fit(data["y_cal"], *of_clear(data["X_cal"]))
    assert calibrator.gamma2_ > 0.1  # the bounds do move
    intervals = cqr.predict_interval(X)[1][:, :, 0]
    np.testing.assert_allclose(intervals, calibrator.predict_interval(*of_clear(X)))


def test_bootstrapped_cqr_learns_y_and_residual_cqr_the_residuals():
    X, y = noisy_line(400)
    y = y + 100
    seen = {}

    class Recorder(LinearQuantiles):
        def fit_bag(self, X, y, counts, **options):
            seen["mean"] = y.mean()
            return super().fit_bag(X, y, counts, **options)

    for kind, mean in ((BootstrappedCQR, 100), (ResidualCQR, 0)):
        make(kind, aleatoric=ResidualQuantiles(Recorder(), n_bootstraps=2)).fit(X, y)
        assert seen["mean"] == pytest.approx(mean, abs=1)


def test_pcs_and_naive_are_the_ends_of_the_fixed_ratio():
    X, y = noisy_line(300)
    data = {"X": X[:200], "y": y[:200], "X_cal": X[200:], "y_cal": y[200:]}
    pcs, naive = make(PCSIntervals).fit(**data), make(NaiveConformal).fit(**data)
    center, epistemic = pcs.epistemic_.predict_with_widths(X[200:])
    ones, epistemic = np.ones((100, 2)), epistemic[:, :, 0]
    for model, ratio in ((pcs, np.inf), (naive, 0)):
        calibrator = FixedRatioCalibrator(0.9, ratio=ratio).fit(y[200:], center, ones, epistemic)
        expected = calibrator.predict_interval(center, ones, epistemic)
        np.testing.assert_allclose(model.predict_interval(X[200:])[1][:, :, 0], expected)


def smallest(kind):
    """With as few members as answer at all: the checks fit it many times."""
    few = {
        "epistemic": lines(3),
        "aleatoric": ResidualQuantiles(LinearQuantiles(), n_bootstraps=2),
        "n_bootstraps": 8 if kind is UACQRP else 3,
    }
    model = make(kind, confidence_level=0.5)
    return model.set_params(**{name: few[name] for name in few.keys() & model.get_params().keys()})


@parametrize_with_checks(
    [smallest(kind) for kind in KINDS],
    expected_failed_checks=lambda _: {
        **OTHER_DRAWS,
        "check_dataframe_column_names_consistency": "reordered columns are put right by name",
    },
)
def test_estimator_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        check(estimator)
