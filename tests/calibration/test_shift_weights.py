"""Weights for new rows: known weights make coverage exact, learned weights nearly exact."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression

from clearbands import (
    CalibrationWarning,
    ClearRegressor,
    FixedRatioCalibrator,
    MemberEnsemble,
    ScaledResiduals,
    ShiftWeights,
    metrics,
)
from tests.toys import linear_clear, noisy_line


def shifted(n, n_new, by=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, (n, 2)), rng.normal([by, 0], 1, (n_new, 2))


def test_learned_weights_follow_the_known_ratio():
    X, X_new = shifted(4000, 3000)
    known = np.exp(X[:, 0] - 0.5)
    found = ShiftWeights(LogisticRegression(), random_state=0).fit(X, X_new)
    np.testing.assert_allclose(found.weights_.mean(), 1)
    assert np.corrcoef(np.log(found.weights_), np.log(known))[0, 1] > 0.99
    trees = ShiftWeights(random_state=0).fit(X, X_new)
    assert np.corrcoef(np.log(trees.weights_), np.log(known))[0, 1] > 0.95
    exact = known.sum() ** 2 / np.sum(known**2)
    assert found.effective_size_ == pytest.approx(exact, rel=0.2)


def test_rows_of_the_same_kind_get_weights_near_one():
    X, X_new = shifted(2000, 2000, by=0.0)
    found = ShiftWeights(random_state=0).fit(X, X_new)
    assert abs(found.auc_ - 0.5) < 0.05
    assert found.effective_size_ > 1600
    assert np.median(np.abs(found.weights_ - 1)) < 0.25


def test_new_rows_get_weights_in_the_same_unit():
    X, X_new = shifted(1500, 1500)
    found = ShiftWeights(LogisticRegression(), random_state=0).fit(X, X_new)
    np.testing.assert_allclose(found.predict(X), found.weights_, rtol=0.15)
    assert found.predict(X_new).mean() > 2  # the true mean is E[w^2] of the old rows: e


def test_weights_are_clipped():
    X, X_new = shifted(800, 800, by=3.0)
    found = ShiftWeights(most=4, smallest=1, random_state=0).fit(X, X_new)
    assert found.weights_.max() / found.weights_.min() <= 16 * (1 + 1e-12)


def test_rows_too_unlike_are_refused():
    X, X_new = shifted(300, 300, by=8.0)
    message = r"the 300 old rows tell as much as \d+ rows, fewer than smallest=290: hardly any"
    with pytest.raises(ValueError, match=message):
        ShiftWeights(most=1e6, smallest=290, random_state=0).fit(X, X_new + np.array([0, 5]))


def test_tables_with_text():
    rng = np.random.default_rng(0)
    old = pd.DataFrame({"town": rng.choice(["Aix", "Bex"], 600, p=[0.8, 0.2]), "x": 1.0})
    new = pd.DataFrame({"town": rng.choice(["Aix", "Bex"], 600, p=[0.2, 0.8]), "x": 1.0})
    weights = ShiftWeights(random_state=0).fit(old, new).weights_
    is_bex = (old["town"] == "Bex").to_numpy()
    assert weights[is_bex].mean() / weights[~is_bex].mean() == pytest.approx(16, rel=0.5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"most": 1.0}, "most must be a finite number above 1"),
        ({"n_folds": 1}, "n_folds must be a whole number"),
        ({"smallest": 0}, "smallest must be a whole number"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        ShiftWeights(**parameters).fit(*shifted(50, 50))


def test_too_few_rows_and_other_columns():
    X, X_new = shifted(50, 3)
    with pytest.raises(ValueError, match="at least n_folds=5 each, got 3"):
        ShiftWeights().fit(X, X_new)
    with pytest.raises(ValueError, match="features"):
        ShiftWeights().fit(X, X_new[:, :1])


def law(n, mean, rng):
    """Draw noise whose scale depends on x; the model ignores that."""
    x = rng.normal(mean, 1, n)
    return x[:, None], rng.normal(size=n) * (0.5 + np.exp(0.7 * x))


def nothing(X):
    return np.zeros(len(X))


def one(X):
    return np.ones(len(X))


def flat_model():
    """Return a model with a center of 0 and constant widths, so that the coverage depends on x."""

    return ClearRegressor(
        MemberEnsemble([nothing, one, nothing]),
        ScaledResiduals(DummyRegressor(), 2, 1),
        FixedRatioCalibrator(ratio=0.0),
        confidence_level=0.8,
        calibration="conformal",
        random_state=0,
    )


@pytest.mark.slow
def test_coverage_of_the_whole_model_under_a_known_shift():
    """With the weights of the new rows the coverage is at least the level, without weights less."""
    rng, shift, level, shares = np.random.default_rng(0), 0.8, 0.8, {"plain": [], "weighted": []}

    def ratio(X):
        return np.exp(shift * X[:, 0] - shift**2 / 2)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        for _ in range(30):
            (X, y), (X_cal, y_cal) = law(60, 0.0, rng), law(160, 0.0, rng)
            X_new, y_new = law(400, shift, rng)
            given = {"X_cal": X_cal, "y_cal": y_cal}
            model = flat_model()
            plain = model.fit(X, y, **given).predict_interval(X_new)[1]
            model.fit(X, y, **given, calibration_weight=ratio(X_cal))
            bounds = model.predict_interval(X_new, calibration_weight=ratio(X_new))[1]
            shares["plain"].append(metrics.picp(y_new, plain))
            shares["weighted"].append(metrics.picp(y_new, bounds))
    error = np.std(shares["weighted"]) / np.sqrt(30)
    assert model.guarantee_.startswith("finite-sample coverage of rows that are distributed as")
    assert np.mean(shares["weighted"]) > level - 3 * error
    assert np.mean(shares["weighted"]) < level + 0.06
    assert np.mean(shares["plain"]) < level - 0.08


def test_learned_weights_bring_back_most_of_the_coverage():
    rng, gained = np.random.default_rng(1), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        for _ in range(4):
            (X, y), (X_cal, y_cal) = law(100, 0.0, rng), law(600, 0.0, rng)
            X_new, y_new = law(600, 0.8, rng)
            weight = ShiftWeights(random_state=0).fit(X_cal, X_new).weights_
            model, given = flat_model(), {"X_cal": X_cal, "y_cal": y_cal}
            plain = model.fit(X, y, **given).predict_interval(X_new)[1]
            found = model.fit(X, y, **given, calibration_weight=weight).predict_interval(X_new)[1]
            gained.append([metrics.picp(y_new, plain), metrics.picp(y_new, found)])
    plain, found = np.mean(gained, axis=0)
    assert found > plain + 0.05


def test_weights_of_new_rows_are_for_the_levels_of_the_fit():
    X, y = noisy_line()
    model = linear_clear().fit(X, y, calibration_weight=np.ones(240))
    with pytest.raises(ValueError, match="works only at the levels of the fit"):
        model.predict_interval(X, confidence_level=0.5, calibration_weight=np.ones(240))
    with pytest.raises(ValueError, match="fitted with calibration_weight"):
        linear_clear().fit(X, y).predict_interval(X, calibration_weight=np.ones(240))
    heavy = model.predict_interval(X, calibration_weight=np.full(240, 2.0))[1]
    light = model.predict_interval(X, calibration_weight=np.full(240, 0.01))[1]
    assert np.all(heavy[:, 1] - heavy[:, 0] >= light[:, 1] - light[:, 0])
