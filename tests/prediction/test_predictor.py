"""One model and every question about y."""

import numpy as np
import pytest
from scipy import stats

from clearbands import load, metrics, save
from clearbands.calibration.conformal import CalibrationWarning
from tests.selection.test_compete import folded_lines
from tests.toys import linear_clear, noisy_line


@pytest.fixture(scope="module")
def model():
    return folded_lines(confidence_level=[0.9, 0.5]).fit(*noisy_line(400))


@pytest.fixture(scope="module")
def rows():
    return noisy_line(500, seed=1)


@pytest.fixture(scope="module")
def much():
    """Return a model of many rows, and as many rows that are new to it."""
    X, y = noisy_line(3000, seed=5)
    return folded_lines().fit(X[:1500], y[:1500]), X[1500:], y[1500:]


def test_levels_of_the_fit_are_the_same_by_name(model, rows):
    point, intervals = model.predict_interval(rows[0])
    again, asked = model.predict_interval(rows[0], confidence_level=[0.9, 0.5])
    np.testing.assert_array_equal(asked, intervals)
    np.testing.assert_array_equal(again, point)
    one = model.predict_interval(rows[0], confidence_level=0.5)[1]
    np.testing.assert_array_equal(one, intervals[:, :, 1:])


@pytest.mark.parametrize("level", [0.2, 0.5, 0.77, 0.9, 0.95])
def test_an_interval_is_its_two_quantiles(model, rows, level):
    bounds = model.predict_interval(rows[0], confidence_level=level)[1][:, :, 0]
    half = round((1 - level) / 2, 6)
    np.testing.assert_array_equal(bounds, model.predict_quantiles(rows[0], [half, 1 - half]))


def test_quantiles_rise_with_the_level_and_the_middle_is_the_center(model, rows):
    levels = np.linspace(0.01, 0.99, 99)
    quantiles = model.predict_quantiles(rows[0], levels)
    assert quantiles.shape == (500, 99)
    assert np.all(np.diff(quantiles, axis=1) >= 0)
    np.testing.assert_array_equal(quantiles[:, 49], model.predict(rows[0]))
    np.testing.assert_array_equal(model.predict_quantiles(rows[0], 0.5)[:, 0], quantiles[:, 49])


@pytest.mark.parametrize("level", [0.1, 0.3, 0.6, 0.8, 0.95])
def test_other_levels_cover_new_rows_too(much, level):
    model, X, y = much
    bounds = model.predict_interval(X, confidence_level=level)[1][:, :, 0]
    assert metrics.picp(y, bounds) == pytest.approx(level, abs=0.04)


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_one_sided_bounds_hold_at_their_own_level(much, side):
    model, X, y = much
    bounds = model.predict_interval(X, confidence_level=0.9, side=side)[1][:, :, 0]
    assert metrics.picp(y, bounds) == pytest.approx(0.9, abs=0.04)
    open_end = bounds[:, 1] if side == "lower" else -bounds[:, 0]
    assert np.all(open_end == np.inf)


def test_probability_is_the_inverse_of_the_quantile(model, rows):
    X, _ = rows
    for share in (0.03, 0.2, 0.7, 0.95):
        t = model.predict_quantiles(X, share)[:, 0]
        below = model.predict_probability(X, below=t)
        np.testing.assert_allclose(below, share, atol=1 / 400)  # ranks are whole numbers
        np.testing.assert_allclose(model.predict_probability(X, above=t), 1 - below)


def test_probabilities_come_true(model, rows):
    X, y = rows
    chance = model.predict_probability(X, above=0.5)
    assert chance.shape == (500,)
    assert chance.mean() == pytest.approx(np.mean(y > 0.5), abs=0.03)
    likely = chance > 0.8
    assert np.mean(y[likely] > 0.5) > 0.9


def test_targets_are_uniform_in_their_distributions(much):
    model, X, y = much
    positions = model.predict_distribution(X).cdf(y)
    assert stats.kstest(positions, "uniform").statistic < 0.04


def test_samples_follow_the_quantiles(model, rows):
    X = rows[0][:3]
    drawn = model.predict_distribution(X).sample(4000, random_state=0)
    assert drawn.shape == (3, 4000)
    found = np.mean(drawn <= model.predict_quantiles(X, 0.9), axis=1)
    np.testing.assert_allclose(found, 0.9, atol=0.02)


def test_uncertainty_at_any_level_adds_up_to_the_interval(model, rows):
    for level in (0.3, 0.7, 0.9, 0.97):
        parts = model.predict_uncertainty(rows[0], confidence_level=level)
        bounds = model.predict_interval(rows[0], confidence_level=level)[1][:, :, 0]
        np.testing.assert_allclose(parts.interval, bounds, rtol=1e-12, atol=1e-12)
        assert np.all(parts.aleatoric >= 0)
        assert np.all(parts.epistemic >= 0)


def test_what_is_kept_is_8_bytes_per_row(model):
    assert model.any_level_.positions.nbytes == 8 * model.n_calibration_


def test_saved_models_answer_the_same(model, rows, tmp_path):
    save(model, tmp_path / "model.clear")
    again = load(tmp_path / "model.clear")
    levels = [0.1, 0.6]
    np.testing.assert_array_equal(
        again.predict_quantiles(rows[0], levels), model.predict_quantiles(rows[0], levels)
    )


def test_rows_kept_apart_give_infinite_bounds_where_they_are_too_few():
    X, y = noisy_line(120)
    model = linear_clear(calibration="conformal").fit(X, y)
    with pytest.warns(CalibrationWarning, match="15 calibration rows are too few for level 0.99"):
        bounds = model.predict_interval(X, confidence_level=0.99)[1]
    assert np.all(np.isinf(bounds))


def test_where_no_level_is_finite_there_are_none_between():
    X, y = noisy_line(40)
    with pytest.warns(CalibrationWarning, match="No finite interval"):
        model = linear_clear(calibration="conformal").fit(X, y)
    with pytest.raises(ValueError, match="calibrate on more rows"):
        model.predict_distribution(X)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda m, X: m.predict_interval(X, confidence_level=1.2), "strictly between 0 and 1"),
        (lambda m, X: m.predict_interval(X, confidence_level=90), "Did you mean 0.9"),
        (
            lambda m, X: m.predict_interval(X, side="left"),
            'must be "both", "lower"',
        ),
        (lambda m, X: m.predict_quantiles(X, [0.0, 0.5]), "strictly between 0 and 1"),
        (lambda m, X: m.predict_quantiles(X, [0.9, 0.5]), "must rise"),
        (lambda m, X: m.predict_probability(X), "above=t or below=t, and not both"),
        (lambda m, X: m.predict_probability(X, above=1, below=2), "and not both"),
        (lambda m, X: m.predict_probability(X, above=np.nan), "above contains NaN"),
        (lambda m, X: m.predict_probability(X, below=[1.0, 2.0]), "below has 2 rows where 500"),
        (lambda m, X: m.predict_probability(X, below="much"), "below must be numbers"),
        (lambda m, X: m.predict_uncertainty(X, confidence_level=-1), "strictly between 0 and 1"),
    ],
)
def test_mistakes_are_told_in_one_sentence(model, rows, ask, said):
    with pytest.raises(ValueError, match=said):
        ask(model, rows[0])
