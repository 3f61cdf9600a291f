"""Targets on another scale, as whole numbers and within a range; answers are on the scale of y."""

import math
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    Normalizer,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)

from clearbands import (
    FixedRatioCalibrator,
    FoldedEnsemble,
    RefitWarning,
    ScaledResiduals,
    fast,
    load,
    save,
    variant_a,
)
from clearbands.rows.target_transform import Named
from clearbands.rows.targets import Support, Targets, TargetWarning, support_hint
from tests.toys import linear_clear

QUANTILES = [0.05, 0.3, 0.5, 0.7, 0.95]


def prices(n=240, seed=0):
    """Return a line with noise that is a factor."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 2, (n, 2))
    return X, np.exp(1 + X[:, 0] + 0.3 * rng.normal(size=n))


def counts(n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 2, (n, 2))
    return X, rng.poisson(np.exp(0.5 + X[:, 0])).astype(float)


def lines(**parameters):
    parts = (
        FoldedEnsemble(LinearRegression(), 4, 2),
        ScaledResiduals(LinearRegression(), 4, 1),
    )
    return linear_clear(epistemic=parts[0], aleatoric=parts[1], calibration="cross", **parameters)


@pytest.fixture(scope="module")
def log_model():
    X, y = prices()
    return lines(target_transform="log", confidence_level=[0.5, 0.9]).fit(X, y)


def test_everything_is_what_the_logarithms_say(log_model):
    """A model of log y gives the same after `exp`."""
    X, y = prices()
    other = lines(confidence_level=[0.5, 0.9]).fit(X, np.log(y))
    point, intervals = log_model.predict_interval(X)
    inner_point, inner = other.predict_interval(X)
    np.testing.assert_allclose(point, np.exp(inner_point))
    np.testing.assert_allclose(intervals, np.exp(inner), rtol=1e-12)
    np.testing.assert_allclose(log_model.predict(X), point)
    np.testing.assert_allclose(
        log_model.predict_quantiles(X, QUANTILES),
        np.exp(other.predict_quantiles(X, QUANTILES)),
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        log_model.predict_probability(X, above=10), other.predict_probability(X, above=np.log(10))
    )
    one, two = log_model.predict_distribution(X), other.predict_distribution(X)
    np.testing.assert_allclose(one.sample(5, 0), np.exp(two.sample(5, 0)), rtol=1e-12)
    np.testing.assert_allclose(one.mean(), np.exp(two.ppf((np.arange(200) + 0.5) / 200)).mean(1))
    np.testing.assert_array_equal(log_model.lambda_, other.lambda_)
    np.testing.assert_array_equal(log_model.unfamiliar(X), other.unfamiliar(X))


def test_both_layers_add_up_to_the_interval_on_the_scale_of_y(log_model):
    X, _ = prices()
    for level in (0.5, 0.9, 0.8):
        parts = log_model.predict_uncertainty(X, confidence_level=level)
        _, intervals = log_model.predict_interval(X, confidence_level=level)
        np.testing.assert_allclose(parts.interval, intervals[:, :, 0], rtol=1e-12)
        reach = parts.aleatoric + parts.epistemic
        np.testing.assert_allclose(parts.center - reach[:, 0], intervals[:, 0, 0], rtol=1e-9)
        np.testing.assert_allclose(parts.center + reach[:, 1], intervals[:, 1, 0], rtol=1e-9)
        assert parts.aleatoric.min() >= 0
        assert parts.epistemic.min() >= 0
        np.testing.assert_array_equal(parts.take([3, 1]).interval, parts.interval[[3, 1]])
    assert np.all(log_model.predict_interval(X)[1] > 0)


def test_probability_is_inverse_to_quantile(log_model):
    X, _ = prices()
    distribution = log_model.predict_distribution(X)
    for p in (0.1, 0.4, 0.8):
        np.testing.assert_allclose(distribution.cdf(distribution.ppf(p)[:, 0]), p, atol=1e-9)
    np.testing.assert_array_equal(distribution.cdf(0.0), 0)
    np.testing.assert_array_equal(distribution.cdf(-5.0), 0)


@pytest.mark.parametrize("name", ["log", "log1p", "sqrt"])
def test_named_transforms_come_back_and_never_fall(name):
    transform, y = Named(name), np.geomspace(1e-3, 1e6, 50)
    np.testing.assert_allclose(transform.back(transform.forward(y)), y, rtol=1e-12)
    assert np.all(np.diff(transform.back(np.linspace(-50, 50, 999))) >= 0)


@pytest.mark.parametrize(
    "transformer",
    [StandardScaler(), MaxAbsScaler(), PowerTransformer(), QuantileTransformer(n_quantiles=240)],
    ids=lambda transformer: type(transformer).__name__,
)
def test_transformers_of_scikit_learn(transformer, tmp_path):
    X, y = prices()
    model = lines(target_transform=transformer).fit(X, y)
    point, intervals = model.predict_interval(X)
    inside = np.mean((intervals[:, 0, 0] <= y) & (y <= intervals[:, 1, 0]))
    assert 0.85 < inside < 0.97
    assert np.all((intervals[:, 0, 0] <= point) & (point <= intervals[:, 1, 0]))
    save(model, tmp_path / "model.clear")
    again = load(tmp_path / "model.clear")
    np.testing.assert_array_equal(again.predict_interval(X)[1], intervals)


def test_a_linear_transform_changes_nothing():
    X, y = prices()
    plain = lines().fit(X, y).predict_interval(X)[1]
    scaled = lines(target_transform=StandardScaler()).fit(X, y).predict_interval(X)[1]
    np.testing.assert_allclose(scaled, plain, rtol=1e-9)


def test_variants_presets_and_held_out_rows_take_it():
    X, y = prices()
    for model in (
        variant_a(target_transform="log", random_state=0),
        fast(target_transform="log", calibration="conformal", random_state=0),
    ):
        assert model.target_transform == "log"
    held = fast(target_transform="log", calibration="conformal", random_state=0).fit(X, y)
    assert held.guarantee_ == "finite-sample marginal coverage"
    assert held.predict_interval(X)[1].min() > 0


def test_just_as_many_calibration_rows_are_covered_as_without():
    """The order statistic covers its own row, also after the way to the scale and back."""
    for seed in range(2):
        X, y = prices(40, seed)
        X_cal, y_cal = prices(99, seed + 100)
        for transform in ("log", PowerTransformer()):
            model = linear_clear(target_transform=transform, calibrator=FixedRatioCalibrator())
            _, bounds = model.fit(X, y, X_cal=X_cal, y_cal=y_cal).predict_interval(X_cal)
            assert np.sum((bounds[:, 0, 0] <= y_cal) & (y_cal <= bounds[:, 1, 0])) == 90


def test_update_takes_targets_as_they_are():
    X, y = prices(200, seed=5)
    model = lines(target_transform="log").fit(*prices())
    inner = lines().fit(prices()[0], np.log(prices()[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RefitWarning)
        model.update(X, y)
        inner.update(X, np.log(y))
    np.testing.assert_allclose(
        model.predict_interval(X)[1], np.exp(inner.predict_interval(X)[1]), rtol=1e-12
    )
    with pytest.raises(ValueError, match='target_transform="log" needs targets above 0, got -1'):
        model.update(X, np.append(y[1:], -1.0))


def test_a_support_and_a_scale():
    X, y = prices()
    model = lines(target_transform="log", support=(0, 20)).fit(X[y < 20], y[y < 20])
    point, intervals = model.predict_interval(X)
    assert intervals.max() == 20
    assert point.max() <= 20
    np.testing.assert_array_equal(model.predict_probability(X, above=20), 0)
    assert model.predict_distribution(X).sample(20, 0).max() <= 20
    assert Targets(Support(0.0, 20.0), Named("log")).inner == Support(-math.inf, math.log(20))


@pytest.fixture(scope="module")
def count_model():
    X, y = counts()
    model = lines(whole_numbers=True, support=(0, None), confidence_level=[0.5, 0.9])
    return model.fit(X, y)


def test_counts_have_whole_bounds_that_cover_as_much(count_model):
    X, y = counts()
    X_new, y_new = counts(400, seed=1)
    plain = lines(support=(0, None), confidence_level=[0.5, 0.9])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TargetWarning)
        _, real = plain.fit(X, y).predict_interval(X_new)
    point, whole = count_model.predict_interval(X_new)
    np.testing.assert_array_equal(whole, np.rint(whole))
    np.testing.assert_array_equal(point, np.rint(point))
    assert np.all((whole[:, 0] <= point[:, None]) & (point[:, None] <= whole[:, 1]))
    inside = [(b[:, 0] <= y_new[:, None]) & (y_new[:, None] <= b[:, 1]) for b in (real, whole)]
    assert np.all(inside[1] >= inside[0])
    wider = (whole[:, 1] - whole[:, 0]) - (real[:, 1] - real[:, 0])
    assert np.all(wider < 1)  # only if an interval has no whole number on one side
    assert np.mean(wider) < -0.3
    assert np.all(whole[:, 0, 1] <= whole[:, 0, 0])  # nested
    np.testing.assert_array_equal(whole, np.maximum(whole, 0))


def test_quantiles_chances_and_samples_of_counts(count_model):
    X, _ = counts()
    quantiles = count_model.predict_quantiles(X, QUANTILES)
    assert np.all(np.diff(quantiles, axis=1) >= 0)
    _, intervals = count_model.predict_interval(X)
    np.testing.assert_array_equal(quantiles[:, [0, -1]], intervals[:, :, 1])
    distribution = count_model.predict_distribution(X)
    draws = distribution.sample(400, random_state=0)
    np.testing.assert_array_equal(draws, np.rint(draws))
    for t in (0, 1, 3, 5):
        above = count_model.predict_probability(X, above=t)
        below = count_model.predict_probability(X, below=t)
        np.testing.assert_allclose(above, np.mean(draws > t, axis=1), atol=0.1)
        np.testing.assert_allclose(below, np.mean(draws < t, axis=1), atol=0.1)
        np.testing.assert_array_equal(above, count_model.predict_probability(X, above=t + 0.5))
        assert np.all(above + below <= 1 + 1e-12)
    assert np.any(distribution.mean() != np.rint(distribution.mean()))


def test_layers_of_counts_add_up(count_model):
    X, _ = counts()
    parts = count_model.predict_uncertainty(X, confidence_level=0.9)
    reach = parts.aleatoric + parts.epistemic
    np.testing.assert_allclose(parts.center + reach[:, 1], parts.interval[:, 1])
    np.testing.assert_allclose(parts.center - reach[:, 0], parts.interval[:, 0])


def test_a_fitted_model_of_counts_is_saved(count_model, tmp_path):
    X, _ = counts()
    save(count_model, tmp_path / "counts.clear")
    again = load(tmp_path / "counts.clear").predict_interval(X)[1]
    np.testing.assert_array_equal(again, count_model.predict_interval(X)[1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"target_transform": "lgo"}, 'target_transform must be None, "log", "log1p", "sqrt" or'),
        ({"target_transform": 3}, "or a transformer of scikit-learn, got 3"),
        ({"target_transform": Normalizer()}, "Normalizer has no inverse_transform"),
        (
            {"target_transform": FunctionTransformer(np.cbrt)},
            "The inverse of target_transform FunctionTransformer does not lead back to y",
        ),
        (
            {"target_transform": FunctionTransformer(np.negative, np.negative)},
            "must rise with y, but FunctionTransformer does not",
        ),
        ({"target_transform": "log"}, "needs targets above 0, got -1 in row 7"),
        ({"target_transform": "sqrt"}, "needs targets of at least 0, got -1 in row 7"),
        ({"support": (0, None)}, "excludes 1 of the targets, such as -1 in row 7"),
        ({"whole_numbers": True}, "whole_numbers=True, but the target is 0.5 in row 8"),
    ],
)
def test_bad_input(parameters, message):
    X, y = counts()
    y[7], y[8] = -1, 0.5
    with pytest.raises(ValueError, match=message):
        lines(**parameters).fit(X, y)


def test_bounds_that_leave_the_range_of_all_targets_are_told_of():
    X, y = counts()
    with pytest.warns(TargetWarning, match="No target is negative, but .* whole_numbers=True"):
        lines().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lines(support=(0, None), whole_numbers=True).fit(X, y)
        lines().fit(X, 1000 * y + 20_000)  # whole, and rounding would not show


def test_hints_by_hand():
    bounds = np.column_stack([np.full(200, -1.0), np.full(200, 2.0)])
    y = np.arange(200) / 10
    assert "100% of the lower bounds" in support_hint(y, bounds, Targets())
    assert support_hint(y - 1, bounds, Targets()) is None
    assert support_hint(np.arange(200.0), bounds + 1, Targets()).startswith(
        "All targets are whole numbers"
    )
    two_values = np.arange(200) % 2  # these are no counts
    assert support_hint(two_values, bounds + 1, Targets()) is None
    assert support_hint(y[:99], bounds, Targets()) is None
