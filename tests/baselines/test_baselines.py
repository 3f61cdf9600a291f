"""All baselines: their weights, tables and files, and scikit-learn's checks of estimators."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands import (
    CQR,
    UACQRP,
    UACQRS,
    BootstrappedCQR,
    CalibrationWarning,
    LinearQuantiles,
    NaiveConformal,
    PCSIntervals,
    ResidualCQR,
    ResidualQuantiles,
    load,
    save,
)
from clearbands.calibration.conformal import rank
from clearbands.rows.split import Rows
from tests.baselines.small import inside, lines, make, noisier
from tests.toys import OTHER_DRAWS, noisy_line

KINDS = [NaiveConformal, CQR, BootstrappedCQR, ResidualCQR, PCSIntervals, UACQRS, UACQRP]


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
    """The parts are fitted without weights; the calibration rows are repeated or weighted."""
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
    """Rows follow two parallel lines: the heavy rows decide which of them is predicted."""
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


def smallest(kind):
    """Return a baseline with as few members as possible, since the checks fit it many times."""
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
