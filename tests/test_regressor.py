import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearbands import (
    BoostedQuantiles,
    CalibrationWarning,
    ClearRegressor,
    FixedAleatoricCalibrator,
    FixedRatioCalibrator,
    ForestQuantiles,
    LinearQuantiles,
    MemberEnsemble,
    PCSEnsemble,
    ResidualQuantiles,
    TableEncoder,
    variant_a,
    variant_b,
    variant_c,
)
from clearbands.calibration.conformal import rank
from clearbands.rows.targets import TargetWarning
from tests.toys import OTHER_DRAWS, linear_clear, noisy_line


def coverage(y, intervals):
    return np.mean((intervals[:, 0] <= y) & (y <= intervals[:, 1]))


def mixed_frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    town = rng.choice(["north", "south", "west"], size=n)
    size = rng.uniform(50, 150, size=n)
    y = 2 * size + 50 * (town == "north") + rng.normal(size=n)
    size[::10] = np.nan
    return {"size": size, "town": town}, y


def test_five_lines():
    X, y = noisy_line(400)
    X_new, y_new = noisy_line(400, seed=1)
    model = ClearRegressor(confidence_level=0.9, random_state=0).fit(X, y)
    point, intervals = model.predict_interval(X_new)
    assert point.shape == (400,)
    assert intervals.shape == (400, 2, 1)
    assert np.all(intervals[:, 0, 0] <= point)
    assert np.all(point <= intervals[:, 1, 0])
    assert coverage(y_new, intervals[:, :, 0]) > 0.83
    parts = model.predict_uncertainty(X_new)
    assert parts.aleatoric.shape == parts.epistemic.shape == (400, 2)
    assert parts.ratio.shape == (400,)
    assert model.lambda_.shape == model.gamma1_.shape == model.gamma2_.shape == (1,)
    np.testing.assert_array_equal(model.predict(X_new), point)


def test_parts_add_up_to_the_bounds():
    X, y = noisy_line()
    model = linear_clear(confidence_level=[0.5, 0.9]).fit(X, y)
    point, intervals = model.predict_interval(X)
    for j, level in enumerate([0.5, 0.9]):
        parts = model.predict_uncertainty(X, confidence_level=level)
        np.testing.assert_array_equal(parts.interval, intervals[:, :, j])
        reach = parts.aleatoric + parts.epistemic
        np.testing.assert_allclose(point - reach[:, 0], intervals[:, 0, j])
        np.testing.assert_allclose(point + reach[:, 1], intervals[:, 1, j])
        ratio = parts.epistemic.sum(axis=1) / parts.aleatoric.sum(axis=1)
        np.testing.assert_allclose(parts.ratio, ratio)
        # Noise and errors of equal variance make an interval 1.41 times as wide as the noise.
        np.testing.assert_array_equal(parts.dominant == "ignorance", ratio > np.sqrt(2) - 1)


def test_levels_are_nested():
    X, y = noisy_line()
    _, intervals = linear_clear(confidence_level=[0.95, 0.5, 0.8]).fit(X, y).predict_interval(X)
    inner_first = intervals[:, :, [1, 2, 0]]
    assert np.all(np.diff(inner_first[:, 0], axis=1) <= 0)
    assert np.all(np.diff(inner_first[:, 1], axis=1) >= 0)


def test_joint_calibration_covers_rank_of_the_calibration_rows():
    X, y = noisy_line(300)
    model = linear_clear().fit(X[:200], y[:200], X_cal=X[200:], y_cal=y[200:])
    _, intervals = model.predict_interval(X[200:])
    n_covered = round(100 * coverage(y[200:], intervals[:, :, 0]))
    assert n_covered in (rank(100, 0.9), rank(100, 0.9) + 1)
    assert (model.n_train_, model.n_validation_, model.n_calibration_) == (200, 100, 100)
    assert model.guarantee_ != "finite-sample marginal coverage"


def test_conformal_calibration_keeps_rows_apart_for_gamma1():
    X, y = noisy_line(300)
    model = linear_clear(calibration="conformal").fit(X, y)
    assert (model.n_train_, model.n_validation_, model.n_calibration_) == (225, 37, 38)
    assert model.guarantee_ == "finite-sample marginal coverage"


@pytest.mark.slow
def test_conformal_coverage_follows_the_beta_law():
    """Over calibration sets of n rows, the coverage is Beta(k, n + 1 - k), whatever the model."""
    X, y = noisy_line(400)
    X_new, y_new = noisy_line(20_000, seed=1)
    model, n = linear_clear(calibration="conformal").fit(X, y), 30
    seen, new = model.components(X[:100]), model.components(X_new)
    observed = []
    for seed in range(300):
        X_cal, y_cal = noisy_line(n, seed=1000 + seed)
        calibrator = clone(model.calibrator_).fit(
            y_cal,
            *model.components(X_cal),
            validation=(y[:100], *seen),
        )
        interval = calibrator.predict_interval(*new)
        observed.append(coverage(y_new, interval[:, :, 0]))
    k = rank(n, 0.9)
    assert stats.kstest(observed, stats.beta(k, n + 1 - k).cdf).pvalue > 0.01


def test_calibration_rows_train_nothing():
    """The parts do not change with the targets of the calibration rows, as no models compete."""
    X, y = noisy_line(300)
    one = linear_clear().fit(X[:200], y[:200], X_cal=X[200:], y_cal=y[200:])
    other = linear_clear().fit(X[:200], y[:200], X_cal=X[200:], y_cal=10 * y[200:])
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(
        one.aleatoric_.predict_widths(X), other.aleatoric_.predict_widths(X)
    )
    assert other.gamma1_[0] > 2 * one.gamma1_[0]


def test_the_encoder_learns_from_training_rows_alone():
    X, y = noisy_line(100)
    model = linear_clear().fit(X, y, X_cal=np.full((50, 2), np.nan), y_cal=y[:50])
    np.testing.assert_allclose(model.encoder_.numeric_.statistics_, np.median(X, axis=0))


def test_out_of_bag_residuals_are_larger_where_the_center_overfits():
    X, y = noisy_line(300)
    parts = {
        kind: ClearRegressor(
            PCSEnsemble([BoostedQuantiles(min_child_weight=1)], n_bootstraps=30),
            ResidualQuantiles(LinearQuantiles(), n_bootstraps=3),
            residuals=kind,
            calibration="joint",
            random_state=0,
        ).fit(X, y)
        for kind in ("in-sample", "out-of-bag")
    }
    widths = {kind: model.aleatoric_.predict_widths(X).mean() for kind, model in parts.items()}
    assert widths["out-of-bag"] > 1.5 * widths["in-sample"]


def test_out_of_bag_residuals_need_bootstraps():
    model = linear_clear(residuals="out-of-bag").set_params(epistemic__n_bootstraps=1)
    with pytest.raises(ValueError, match="need more bootstraps"):
        model.fit(*noisy_line())


class SeenFeatures(ResidualQuantiles):
    """Lines that keep the rows that they were shown."""

    def __init__(self, confidence_level=0.9, n_jobs=None, random_state=None):
        super().__init__(
            LinearQuantiles(),
            n_bootstraps=2,
            confidence_level=confidence_level,
            n_jobs=n_jobs,
            random_state=random_state,
        )

    def fit(self, X, residual, groups=None):
        self.shown_in_fit = X
        return super().fit(X, residual, groups=groups)

    def predict_widths(self, X):
        self.shown = X
        return super().predict_widths(X)


def test_the_aleatoric_part_sees_the_center_as_of_new_rows():
    """Training rows show the out-of-bag center, or the plain one if all members saw the row."""
    X, y = noisy_line(60)
    model = linear_clear(aleatoric=SeenFeatures(), show_center=True)
    model.set_params(epistemic__n_bootstraps=4).fit(X, y, X_cal=X + 1, y_cal=y)
    shown = model.aleatoric_.shown_in_fit
    unseen, center = model.epistemic_.predict_out_of_bag(X), model.epistemic_.predict(X)
    np.testing.assert_array_equal(shown[:, :-1], X)
    np.testing.assert_array_equal(shown[:, -1], np.where(np.isnan(unseen), center, unseen))
    assert 0 < np.isnan(unseen).sum() < 60
    model.predict_interval(X)
    np.testing.assert_array_equal(model.aleatoric_.shown[:, -1], center)


def test_members_that_are_given_have_no_unseen_rows():
    X, y = noisy_line(60)
    members = MemberEnsemble([LinearRegression().fit(X, y), LinearRegression().fit(X, 2 * y)])
    model = linear_clear(epistemic=members, aleatoric=SeenFeatures(), show_center=True)
    model.fit(X, y, X_cal=X + 1, y_cal=y)
    np.testing.assert_array_equal(model.aleatoric_.shown_in_fit[:, -1], members.predict(X))


def test_out_of_bag_residuals_need_an_ensemble_of_bootstraps():
    X, y = noisy_line(60)
    members = MemberEnsemble([LinearRegression().fit(X, y)] * 2)
    with pytest.raises(ValueError, match="MemberEnsemble has none"):
        linear_clear(epistemic=members, residuals="out-of-bag").fit(X, y)


def test_only_aleatoric_parts_that_compete_see_the_center_unasked():
    X, y = noisy_line(60)
    quick = PCSEnsemble([LinearRegression()], n_bootstraps=30)
    competing = ClearRegressor(quick, random_state=0)
    assert competing.fit(X, y).parts_.pairs[0].visible == "center and spread"
    assert linear_clear().fit(X, y).parts_.visible == "nothing"
    assert linear_clear(show_center=True).fit(X, y).parts_.visible == "center"
    competing.set_params(show_center=False)
    assert competing.fit(X, y).parts_.pairs[0].visible == "nothing"


def test_a_table_that_nobody_encodes_cannot_get_the_center_as_a_column():
    columns, y = mixed_frame()
    X = pl.DataFrame(columns)
    parts = (
        PCSEnsemble([LinearRegression()], [TableEncoder()], n_bootstraps=5),
        ResidualQuantiles(LinearQuantiles(), 3, preprocessing=TableEncoder()),
    )
    joint = {"encoder": None, "calibration": "joint"}
    assert ClearRegressor(*parts, **joint).fit(X, y).parts_.visible == "nothing"
    with pytest.raises(ValueError, match="encoder=None leaves X a table"):
        ClearRegressor(*parts, **joint, show_center=True).fit(X, y)


def test_the_aleatoric_model_is_of_the_type_that_won():
    X, y = noisy_line()
    epistemic = PCSEnsemble([BoostedQuantiles(n_trees=7)], n_bootstraps=2)
    model = linear_clear(epistemic=epistemic, aleatoric=ResidualQuantiles(n_bootstraps=2)).fit(X, y)
    assert isinstance(model.aleatoric_.model, BoostedQuantiles)
    assert model.aleatoric_.model.n_trees == 7
    of_the_mean = linear_clear(aleatoric=ResidualQuantiles(n_bootstraps=2)).fit(X, y)
    assert isinstance(of_the_mean.aleatoric_.model, ForestQuantiles)


@pytest.mark.parametrize("calibrator", [FixedRatioCalibrator(), FixedAleatoricCalibrator()])
def test_other_calibrators(calibrator):
    X, y = noisy_line()
    model = linear_clear(calibrator=calibrator, confidence_level=0.8).fit(X, y)
    expected = model.lambda_ if isinstance(calibrator, FixedRatioCalibrator) else model.gamma1_
    assert expected == [1.0]


@pytest.mark.slow
def test_jobs_change_nothing_and_the_global_generator_is_left_alone():
    X, y = noisy_line()
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    one = ClearRegressor(n_jobs=1, random_state=3).fit(X, y)
    two = ClearRegressor(n_jobs=2, random_state=3).fit(X, y)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.testing.assert_array_equal(one.predict_interval(X)[1], two.predict_interval(X)[1])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_mixed_frames_with_gaps_and_unseen_categories(frame):
    columns, y = mixed_frame()
    model = linear_clear().fit(frame(columns), y)
    assert model.feature_names_in_.tolist() == ["size", "town"]
    new = frame({"town": ["east", None], "size": [100.0, None]})  # another order, too
    point, intervals = model.predict_interval(new)
    assert np.isfinite(point).all()
    assert np.isfinite(intervals).all()


def test_text_columns_of_pandas_and_polars_agree():
    columns, y = mixed_frame()
    one, two = (
        linear_clear().fit(frame(columns), y).predict(frame(columns))
        for frame in (pd.DataFrame, pl.DataFrame)
    )
    np.testing.assert_array_equal(one, two)


def test_to_frame_keeps_the_index():
    columns, y = mixed_frame()
    X = pd.DataFrame(columns, index=[f"house {i}" for i in range(200)])
    frame = linear_clear().fit(X, y).predict_uncertainty(X.tail(3)).to_frame()
    assert frame.index.tolist() == ["house 197", "house 198", "house 199"]
    assert list(frame.columns) == [
        "prediction",
        "lower_90",
        "upper_90",
        "aleatoric",
        "epistemic",
        "epistemic_share",
        "dominant",
        "aleatoric_below",
        "aleatoric_above",
        "epistemic_below",
        "epistemic_above",
    ]


def test_columns_missing_or_extra_are_named():
    columns, y = mixed_frame()
    model = linear_clear().fit(pd.DataFrame(columns), y)
    with pytest.raises(ValueError, match="missing: town"):
        model.predict(pd.DataFrame({"size": [1.0]}))
    with pytest.raises(ValueError, match="not seen in fit: id"):
        model.predict(pd.DataFrame({**columns, "id": 1}))


def test_scikit_learns_tools():
    X, y = noisy_line()
    pipeline = make_pipeline(StandardScaler(), linear_clear()).fit(X, y)
    assert pipeline.predict(X).shape == (240,)
    search = GridSearchCV(linear_clear(), {"epistemic__n_bootstraps": [2, 4]}, cv=2).fit(X, y)
    assert search.best_estimator_.predict_interval(X)[1].shape == (240, 2, 1)
    assert cross_val_predict(linear_clear(), X, y, cv=2).shape == (240,)


def test_cloned_pickled_and_refitted():
    X, y = noisy_line()
    model = linear_clear().fit(X, y)
    expected = model.predict_interval(X)[1]
    np.testing.assert_array_equal(clone(model).fit(X, y).predict_interval(X)[1], expected)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_interval(X)[1], expected)
    np.testing.assert_array_equal(model.fit(X, y).predict_interval(X)[1], expected)


def test_progress_reaches_the_caller():
    stages = {}
    linear_clear().fit(
        *noisy_line(), progress=lambda stage, done, total: stages.update({stage: (done, total)})
    )
    assert stages["epistemic"] == (10, 10)
    assert stages["aleatoric"] == (3, 3)
    assert set(stages) == {"choosing a model", "epistemic", "aleatoric"}


def test_constant_y_and_constant_columns_work():
    X, _ = noisy_line(200)
    _, intervals = linear_clear().fit(X, np.full(200, 5.0)).predict_interval(X)
    np.testing.assert_allclose(intervals, 5.0, atol=1e-9)
    X[:, 1] = 1.0
    linear_clear().fit(X, X[:, 0])


def test_the_papers_variants_are_set_up_as_in_the_paper():
    assert list(variant_a().epistemic.models) == ["forest", "boosting", "gam"]
    assert list(variant_b(stock=True).epistemic.models) == ["boosting"]
    assert variant_b(stock=True).epistemic.models["boosting"].backend == "xgboost"
    pytest.importorskip("xgboost")
    assert len(variant_c().epistemic.models) == 9
    assert isinstance(variant_c().aleatoric.model, ForestQuantiles)
    assert variant_c(confidence_level=0.95).confidence_level == 0.95


def test_a_variant_runs_end_to_end():
    X, y = noisy_line()
    model = variant_a(random_state=0)
    model.set_params(epistemic__n_bootstraps=5, aleatoric__n_bootstraps=5)
    assert np.isfinite(model.fit(X, y).predict_interval(X)[1]).all()


def with_nan(y):
    return np.where(np.arange(len(y)) == 3, np.nan, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"confidence_level": 95}, "Did you mean 0.95?"),
        ({"confidence_level": []}, "empty list"),
        ({"calibration": "split"}, 'calibration must be one of "cross", "joint", "conformal"'),
        ({"calibration_size": 0}, "calibration_size must lie"),
        ({"residuals": "oob"}, "residuals must be"),
        ({"encoder": "none"}, "encoder must be"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        linear_clear(**parameters).fit(*noisy_line())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, with_nan(y)), "contains NaN"),
        (lambda X, y: (X, y[:-1]), "rows and y has .* values: give one for every row"),
        (lambda X, y: (X, y.astype(str)), "y must be numbers, but it holds text such as"),
        (lambda X, y: (X[:1], y[:1]), "cannot be held out of n_samples=1"),
        (lambda X, y: (np.where(X > 0.9, np.inf, X), y), "infinity"),
        (lambda X, y: (X[:0], y[:0]), "0 sample"),
    ],
)
def test_bad_data(change, message):
    with pytest.raises(ValueError, match=message):
        linear_clear().fit(*change(*noisy_line()))


def test_calibration_sets_come_in_pairs_and_match():
    X, y = noisy_line()
    with pytest.raises(ValueError, match="belong together"):
        linear_clear().fit(X, y, X_cal=X)
    with pytest.raises(ValueError, match="features"):
        linear_clear().fit(X, y, X_cal=X[:, :1], y_cal=y)


def test_too_few_calibration_rows_warn_or_give_infinite_bounds():
    X, y = noisy_line(30)
    with pytest.warns(CalibrationWarning, match="too few for level 0.95"):
        linear_clear(confidence_level=0.95).fit(X, y)
    with pytest.warns(CalibrationWarning, match="bounds are infinite"):
        model = linear_clear(confidence_level=0.95, calibration="conformal").fit(X, y)
    point, intervals = model.predict_interval(X)
    assert np.isfinite(point).all()
    assert np.isinf(intervals).all()
    assert (model.predict_uncertainty(X).ratio == 1).all()


def test_predict_before_fit():
    X, _ = noisy_line()
    for method in ("predict", "predict_interval", "predict_uncertainty"):
        with pytest.raises(NotFittedError):
            getattr(linear_clear(), method)(X)


@parametrize_with_checks(
    [linear_clear(), linear_clear(confidence_level=0.5, encoder=None)],
    expected_failed_checks=lambda _: {
        **OTHER_DRAWS,
        "check_dataframe_column_names_consistency": "reordered columns are put right by name",
    },
)
def test_estimator_checks(estimator, check):
    with warnings.catch_warnings():
        # The checks fit on a few rows, too few to calibrate at 0.9.
        warnings.simplefilter("ignore", CalibrationWarning)
        warnings.simplefilter("ignore", TargetWarning)  # the targets are classes
        check(estimator)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_units_beyond_calibration_are_refused_at_the_door(unit):
    X, y = noisy_line(40)
    with pytest.raises(ValueError, match=r"The largest value of y is .* in another unit"):
        linear_clear().fit(X, y * unit)
