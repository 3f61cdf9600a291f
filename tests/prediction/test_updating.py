"""ClearRegressor.update: calibration goes on, and nothing is fitted again."""

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from clearbands import CalibrationWarning, RefitWarning, load, save
from clearbands.calibration.guarantee import Guarantee
from tests.test_regressor_in_time import in_time
from tests.toys import noisy_line

DAYS = np.datetime64("2026-01-01") + np.arange(400)


def fitted(X, y, **parameters):
    return in_time(calibrator=None, **parameters).fit(X[:160], y[:160])


def test_updates_change_intervals_and_nothing_else():
    X, y = noisy_line(300)
    model = fitted(X, y, confidence_level=[0.5, 0.9])
    before = model.predict_interval(X)
    factors = model.gamma1_.copy(), model.lambda_.copy()
    assert model.update(X[160:], y[160:]) is model
    after = model.predict_interval(X)
    np.testing.assert_array_equal(before[0], after[0])
    assert not np.array_equal(before[1], after[1])
    np.testing.assert_array_equal(factors, (model.gamma1_, model.lambda_))
    assert model.guarantee_ == Guarantee.ADAPTIVE
    np.testing.assert_array_equal(after[1], model.predict_interval(X)[1])  # predict changes nothing


@pytest.mark.parametrize("split", ["time", "random"])
def test_what_was_missed_is_what_lay_outside_the_intervals_of_its_time(split):
    X, y = noisy_line(220)
    model = fitted(X, y, split=split, confidence_level=[0.5, 0.9])
    missed = np.zeros(2)
    for row in range(160, 220):
        _, bounds = model.predict_interval(X[[row]])
        missed += (y[row] < bounds[0, 0]) | (y[row] > bounds[0, 1])
        model.update(X[[row]], y[[row]], rate=0.02)
    assert model.rolling_.n_missed.tolist() == missed.tolist()
    assert model.rolling_.n_rows == 60


def test_all_answers_follow():
    X, y = noisy_line(300)
    model = fitted(X, y).update(X[160:], y[160:])
    new = X[:5]
    _, bounds = model.predict_interval(new)
    quantiles = model.predict_quantiles(new, [0.05, 0.95])
    np.testing.assert_allclose(quantiles, bounds[:, :, 0])
    parts = model.predict_uncertainty(new)
    widths = parts.aleatoric + parts.epistemic
    np.testing.assert_allclose(parts.center - widths[:, 0], bounds[:, 0, 0])
    again = model.predict_interval(new, confidence_level=[0.8, 0.9])[1]
    np.testing.assert_array_equal(again[:, :, 1], bounds[:, :, 0])


def test_a_level_shift_moves_bounds_and_quantiles_and_leaves_points():
    X, y = noisy_line(1200, seed=1)
    moved = y + np.where(np.arange(1200) >= 160, 2.0, 0)  # four standard deviations
    model = fitted(X, moved, confidence_level=[0.5, 0.9])
    before, _ = model.predict_interval(X[900:])
    with pytest.warns(RefitWarning):
        model.update(X[160:900], moved[160:900], window=500)
    point, bounds = model.predict_interval(X[900:])
    np.testing.assert_array_equal(point, before)
    assert np.all(bounds[:, 0] <= point[:, None])
    assert np.all(point[:, None] <= bounds[:, 1])
    low, middle, high = model.predict_quantiles(X[900:], [0.05, 0.5, 0.95]).T
    late = moved[900:]
    assert 0.02 < np.mean(late < low) < 0.1
    assert 0.02 < np.mean(late > high) < 0.1
    assert abs(np.mean(late < middle) - 0.5) < 0.15
    np.testing.assert_array_equal(bounds[:, 1, 1], high)
    assert np.all(low > point)  # so the interval reaches farther than the quantile
    np.testing.assert_array_equal(bounds[:, 0, 1], point)
    chance = model.predict_probability(X[900:], below=middle)
    np.testing.assert_allclose(chance, 0.5, atol=0.01)
    parts = model.predict_uncertainty(X[900:], confidence_level=0.9)
    reach = parts.aleatoric + parts.epistemic
    np.testing.assert_allclose(reach[:, 1], bounds[:, 1, 1] - point)
    np.testing.assert_allclose(reach[:, 0], 0)
    upper = model.predict_interval(X[900:], confidence_level=0.95, side="upper")[1][:, 1, 0]
    np.testing.assert_allclose(upper, high)


def test_rows_that_become_noisier_are_covered_again_and_a_refit_is_advised():
    X, y = noisy_line(1200, seed=1)
    rng = np.random.default_rng(0)
    noisy = y + np.where(np.arange(1200) > 160, 2, 0) * rng.normal(size=1200)
    model = fitted(X, noisy)
    _, stale = model.predict_interval(X[700:])
    with pytest.warns(RefitWarning, match="a model that is fitted anew"):
        model.update(X[160:700], noisy[160:700], window=200)
    model.update(X[700:], noisy[700:])  # it warns once
    inside = (stale[:, 0, 0] <= noisy[700:]) & (noisy[700:] <= stale[:, 1, 0])
    assert inside.mean() < 0.6
    _, bounds = model.predict_interval(X[700:])
    inside = (bounds[:, 0, 0] <= noisy[700:]) & (noisy[700:] <= bounds[:, 1, 0])
    assert inside.mean() > 0.85


def test_strange_rows_advise_a_refit():
    X, y = noisy_line(400)
    model = fitted(X, y)
    with pytest.warns(RefitWarning, match="are unlike those of the fit"):
        model.update(X[160:] + 1.5, y[160:] + 4.5)


def test_a_model_is_saved_with_its_updates(tmp_path):
    X, y = noisy_line(400)
    model = in_time(calibrator=None).fit(X[:160], y[:160], time=DAYS[:160])
    model.update(X[160:300], y[160:300], time=DAYS[160:300], lead=7)
    save(model, tmp_path / "model.clear")
    again = load(tmp_path / "model.clear")
    for each in (model, again):
        each.update(X[300:], y[300:], time=DAYS[300:])
    assert again.rolling_.pace == model.rolling_.pace
    assert again.rolling_.last_time == DAYS[-1]
    np.testing.assert_array_equal(again.predict_interval(X)[1], model.predict_interval(X)[1])


def test_threads_that_update_at_once_lose_no_rows():
    X, y = noisy_line(n=300)
    model = fitted(X[:200], y[:200])
    alone = copy.deepcopy(model)
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda i: model.update(X[i : i + 1], y[i : i + 1]), range(200, 300)))
    finally:
        sys.setswitchinterval(switch)
    assert model.rolling_.n_rows == 100
    alone.update(X[200:], y[200:])
    np.testing.assert_allclose(np.sort(model.rolling_.positions), np.sort(alone.rolling_.positions))


def test_a_model_that_was_updated_is_copied_cloned_and_pickled():
    X, y = noisy_line(n=240)
    model = fitted(X[:200], y[:200]).update(X[200:220], y[200:220])
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.update(X[220:], y[220:]).rolling_.n_rows == 40
    assert model.rolling_.n_rows == 20
    assert clone(model).get_params().keys() == model.get_params().keys()


def test_a_fit_forgets_the_updates():
    X, y = noisy_line(300)
    model = fitted(X, y)
    before = model.predict_interval(X)[1]
    model.update(X[160:], y[160:]).fit(X[:160], y[:160])
    assert not hasattr(model, "rolling_")
    np.testing.assert_array_equal(model.predict_interval(X)[1], before)


def test_groups_are_updated_in_their_own_units():
    X, y = noisy_line(300)
    labels = np.where(X[:, 1] > 0, "loud", "quiet")
    model = in_time(calibrator=None).fit(X[:160], y[:160], calibration_groups=labels[:160])
    with pytest.raises(ValueError, match="give calibration_groups, a label for every row"):
        model.update(X[160:], y[160:])
    model.update(X[160:], y[160:], calibration_groups=labels[160:])
    _, bounds = model.predict_interval(X, calibration_groups=labels)
    widths = bounds[:, 1, 0] - bounds[:, 0, 0]
    assert widths[labels == "loud"].mean() > 1.5 * widths[labels == "quiet"].mean()


@pytest.mark.parametrize(
    ("time", "words"),
    [
        (None, "The model knows the time of its last row, 2026-06-09: give time"),
        (DAYS[159:259], "Row 0 is of 2026-06-09, not after 2026-06-09, up to which the model"),
        (DAYS[260:160:-1], "time must not fall"),
        (np.arange(100), "the model knows its rows by moments such as 2026-06-09"),
    ],
)
def test_rows_that_are_not_the_next_ones(time, words):
    X, y = noisy_line(400)
    model = in_time(calibrator=None).fit(X[:160], y[:160], time=DAYS[:160])
    with pytest.raises(ValueError, match=words):
        model.update(X[160:260], y[160:260], time=time)
    assert not hasattr(model, "rolling_")


def test_rows_before_the_window():
    X, y = noisy_line(400)
    model = in_time(calibrator=None).fit(X[:160], y[:160], time=DAYS[:160])
    model.update(X[160:300], y[160:300], time=DAYS[160:300], window=100)
    with pytest.raises(ValueError, match="before the window of rows that calibrate, which"):
        model.update(X[170:180], y[170:180], time=DAYS[170:180])
    with pytest.raises(ValueError, match="give every row once"):
        model.update(X[250:260], y[250:260], time=DAYS[250:260])


def test_other_columns_targets_or_weights():
    X, y = noisy_line(300)
    table = pd.DataFrame(X, columns=["one", "two"])
    model = in_time(calibrator=None).fit(table[:160], y[:160])
    with pytest.raises(ValueError, match="missing: two; not seen in fit: three"):
        model.update(table[160:].rename(columns={"two": "three"}), y[160:])
    with pytest.raises(ValueError, match="X has 140 rows and y has 10 values"):
        model.update(table[160:], y[:10])
    weighted = in_time(calibrator=None).fit(X, y, calibration_weight=np.linspace(1, 2, 300))
    with pytest.raises(ValueError, match="calibrated with weights, which new rows do not have"):
        weighted.update(X, y)


def test_the_first_lead_is_what_the_gap_leaves_unknown():
    X, y = noisy_line(300)
    model, told = (fitted(X, y, gap=4) for _ in range(2))
    model.update(X[160:], y[160:])
    told.update(X[160:], y[160:], lead=5)
    assert model.rolling_.pace.lead == 5
    np.testing.assert_array_equal(model.rolling_.coverage, told.rolling_.coverage)
    assert model.update(X[:9], y[:9], lead=2).update(X[:9], y[:9]).rolling_.pace.lead == 2  # kept


def test_rows_that_trained_are_told_of():
    X, y = noisy_line(300)
    model = in_time(calibrator=None, split="random").fit(X, y)
    inside = model.predict(X)  # as if it remembered them
    with pytest.warns(CalibrationWarning, match="100% of these 300 rows lie inside"):
        model.update(X, inside)
