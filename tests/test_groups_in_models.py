"""Coverage of whole models: in every group, under a shift, and inside a support."""

import numpy as np
import pandas as pd
import pytest

from clearbands import AdditiveCalibrator, CalibrationWarning, load, metrics, save
from clearbands.calibration.groups import GroupCalibrator
from tests.selection.test_compete import folded_lines
from tests.toys import linear_clear, noisy_line


def towns(n, seed=0):
    """The noise in the second town is four times that in the first; X does not show the town."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    labels = np.where(rng.random(n) < 0.5, "Aix", "Bex")
    return X, 3 * X[:, 0] + rng.normal(size=n) * np.where(labels == "Aix", 0.25, 1.0), labels


def coverage(model, X, y, labels, **asked):
    bounds = model.predict_interval(X, **asked)[1][:, :, 0]
    return [metrics.picp(y[labels == name], bounds[labels == name]) for name in ("Aix", "Bex")]


@pytest.mark.parametrize("make", [folded_lines, linear_clear])
def test_every_group_is_covered_at_the_level(make):
    X, y, labels = towns(1600)
    new = towns(4000, seed=1)
    without = coverage(make().fit(X, y), *new)
    assert without[0] > 0.97
    assert without[1] < 0.84
    model = make().fit(X, y, calibration_groups=labels)
    np.testing.assert_allclose(coverage(model, *new, calibration_groups=new[2]), 0.9, atol=0.04)
    assert [group.label for group in model.calibrator_.calibration_groups_] == ["Aix", "Bex"]
    assert model.lambda_.shape == (1,)


def test_a_column_names_the_groups_in_fit_and_predict():
    X, y, labels = towns(300)
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "town": labels})
    model = folded_lines().fit(table, y, calibration_groups="town")
    found = model.predict_interval(table)[1]
    np.testing.assert_array_equal(
        found, model.predict_interval(table, calibration_groups=labels)[1]
    )
    with pytest.raises(ValueError, match="Groups that were not calibrated: Cham"):
        model.predict_interval(table.assign(town="Cham"))


def test_groups_belong_to_the_calibration_rows_that_are_given():
    X, y, labels = towns(600)
    model = linear_clear(calibration="conformal")
    model.fit(X[:200], y[:200], X_cal=X[200:], y_cal=y[200:], calibration_groups=labels[200:])
    assert model.guarantee_ == "finite-sample coverage within every group"
    assert (
        sum(group.n for group in model.calibrator_.calibration_groups_)
        == model.n_calibration_
        == 200
    )


def with_a_rare_town(n, n_rare, seed=0):
    """The noise in the rare town is ten times that in the others."""
    X, y, labels = towns(n, seed)
    labels = labels.astype(object)
    labels[:n_rare] = "Cham"
    return X, y + 10 * np.random.default_rng(seed).normal(size=n) * (labels == "Cham"), labels


def test_a_conformal_promise_holds_in_rare_groups():
    X, y, labels = with_a_rare_town(300, 8)
    cal = with_a_rare_town(300, 8, seed=1)
    model = linear_clear(calibration="conformal")
    with pytest.warns(CalibrationWarning, match="infinite") as told:
        model.fit(X, y, X_cal=cal[0], y_cal=cal[1], calibration_groups=cal[2])
    assert any("within Cham (" in str(warning.message) for warning in told)
    assert model.guarantee_ == "finite-sample coverage within every group"
    bounds = model.predict_interval(X, calibration_groups=labels)[1]
    assert np.isinf(bounds[:8]).all()
    assert np.isfinite(bounds[8:]).all()
    for ask in (
        lambda rows: model.predict_quantiles(X[rows], [0.1, 0.9], calibration_groups=labels[rows]),
        lambda rows: model.predict_probability(X[rows], above=0, calibration_groups=labels[rows]),
        lambda rows: model.predict_interval(
            X[rows], confidence_level=0.7, calibration_groups=labels[rows]
        )[1],
    ):
        assert np.isfinite(ask(slice(8, None))).all()
        with pytest.raises(ValueError, match=r"row 0 \(counted from 0\) are infinite .* group"):
            ask(slice(5, 20))
    with pytest.raises(ValueError, match=r"row 0 .* are infinite"):
        model.update(X[:1], y[:1], calibration_groups=labels[:1])


@pytest.mark.parametrize("make", [folded_lines, linear_clear])
def test_groups_that_share_rows_are_named_where_nothing_is_promised(make):
    X, y, labels = with_a_rare_town(300, 8)
    model = make().fit(X, y, calibration_groups=labels)
    assert model.guarantee_.endswith("which share those of others: Cham")
    assert np.isfinite(model.predict_interval(X, calibration_groups=labels)[1]).all()


def test_models_with_groups_answer_every_question_and_are_saved(tmp_path):
    X, y, labels = towns(300)
    model = linear_clear(calibrator=GroupCalibrator(small="pool"))
    model.fit(X, y, calibration_groups=labels)
    save(model, tmp_path / "model.clear")
    again = load(tmp_path / "model.clear")
    for asked in (model, again):
        assert asked.predict_quantiles(X, [0.1, 0.9], calibration_groups=labels).shape == (300, 2)
        assert asked.predict_probability(X, above=0, calibration_groups=labels).shape == (300,)
        assert len(asked.predict_uncertainty(X, calibration_groups=labels)) == 300
    assert again.calibrator_.guarantee_ == model.calibrator_.guarantee_


def test_weights_make_the_level_hold_for_rows_that_are_distributed_otherwise():
    X, y = noisy_line(3000)
    model = linear_clear(calibration="conformal", calibration_size=0.6)
    weight = np.where(X[:, 1] > 0, 9.0, 1.0)  # new rows are mostly noisy ones
    shown = X[:, :1]  # the model does not see the second column
    plain = model.fit(shown, y)
    X_new, y_new = noisy_line(6000, seed=1)
    heavy = np.random.default_rng(0).random(6000) < np.where(X_new[:, 1] > 0, 0.9, 0.1)
    rows = X_new[heavy][:, :1], y_new[heavy]
    before = metrics.picp(rows[1], plain.predict_interval(rows[0])[1])
    model = linear_clear(calibration="conformal", calibration_size=0.6)
    model.fit(shown, y, calibration_weight=weight)
    assert before < 0.86
    assert metrics.picp(rows[1], model.predict_interval(rows[0])[1]) == pytest.approx(0.9, abs=0.03)
    inner = model.predict_interval(rows[0], confidence_level=0.6)[1]
    assert metrics.picp(rows[1], inner) == pytest.approx(0.6, abs=0.05)
    assert model.guarantee_.endswith("distributed as the weights say")


def test_equal_weights_change_nothing():
    X, y = noisy_line(300)
    plain = folded_lines().fit(X, y)
    weighed = folded_lines().fit(X, y, calibration_weight=np.full(300, 2.0))
    np.testing.assert_allclose(weighed.gamma1_, plain.gamma1_)
    asked = {"confidence_level": [0.3, 0.8]}
    np.testing.assert_allclose(
        weighed.predict_interval(X, **asked)[1], plain.predict_interval(X, **asked)[1]
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"calibration_groups": ["a"]}, r"calibration_groups must have shape \(240,\)"),
        ({"calibration_groups": "town"}, "names a column, but X is an array"),
        ({"calibration_weight": -np.ones(240)}, "calibration_weight must not be negative"),
        ({"calibration_weight": np.zeros(240)}, "zero in every row"),
        ({"calibration_weight": np.full(240, np.nan)}, "calibration_weight contains NaN"),
        ({"calibration_weight": np.ones(3)}, "calibration_weight has 3 rows where 240"),
        (
            {"calibration_weight": np.ones(240), "calibration_groups": ["a"] * 240},
            "cannot be used at once",
        ),
    ],
)
def test_labels_and_weights_that_make_no_sense(given, said):
    X, y = noisy_line()
    with pytest.raises(ValueError, match=said):
        linear_clear().fit(X, y, **given)


def test_groups_at_predict_are_needed_or_have_no_use():
    X, y, labels = towns(200)
    with pytest.raises(ValueError, match="calibrated by group: give calibration_groups"):
        linear_clear().fit(X, y, calibration_groups=labels).predict_interval(X)
    with pytest.raises(ValueError, match="fitted without: fit it with them"):
        linear_clear().fit(X, y).predict_interval(X, calibration_groups=labels)
    table = pd.DataFrame(X, columns=["a", "b"])
    with pytest.raises(
        ValueError, match="calibration_groups='town' is no column of X, which has a, b"
    ):
        linear_clear().fit(table, y, calibration_groups="town")
    with pytest.raises(ValueError, match="cannot calibrate groups"):
        linear_clear(calibrator=AdditiveCalibrator()).fit(X, y, calibration_groups=labels)


# Support


def shares(n, seed=0):
    X, y = noisy_line(n, seed=seed)
    return X, np.clip(0.4 * np.abs(y), 0, 1)


@pytest.mark.parametrize("make", [folded_lines, linear_clear])
def test_nothing_leaves_the_support_and_the_coverage_stays(make):
    X, y = shares(1200)
    X_new, y_new = shares(2000, seed=1)
    model = make(support=(0, 1), confidence_level=[0.9, 0.5]).fit(X, y)
    point, intervals = model.predict_interval(X_new)
    np.testing.assert_array_equal(point, model.predict(X_new))
    quantiles = model.predict_quantiles(X_new, [0.01, 0.25, 0.99])
    samples = model.predict_distribution(X_new).sample(20, random_state=0)
    one_sided = model.predict_interval(X_new, confidence_level=0.8, side="lower")[1]
    parts = [p.interval for p in model.predict_uncertainties(X_new)]
    for values in (point, intervals, quantiles, samples, one_sided, *parts):
        assert values.min() >= 0
        assert values.max() <= 1
    np.testing.assert_allclose(np.stack(parts, axis=2), intervals, atol=1e-12)
    assert np.all((intervals[:, 0] <= point[:, None]) & (point[:, None] <= intervals[:, 1]))
    assert metrics.picp(y_new, intervals[:, :, 0]) == pytest.approx(0.9, abs=0.04)
    np.testing.assert_array_equal(model.predict_probability(X_new, below=-0.1), 0)
    np.testing.assert_array_equal(model.predict_probability(X_new, above=1), 0)


def test_a_support_without_an_end_changes_nothing_there():
    X, y = noisy_line(300)
    free, held = (
        linear_clear().fit(X, y),
        linear_clear(support=(None, 1.0)).fit(X, np.minimum(y, 1)),
    )
    for parts in held.predict_uncertainties(X):
        assert np.isfinite(parts.aleatoric).all()
        assert parts.interval[:, 1].max() <= 1
    assert free.predict_interval(X)[1].shape == held.predict_interval(X)[1].shape


@pytest.mark.parametrize(
    ("support", "said"),
    [
        ((0, None), r"support=\(0.0, inf\) excludes \d+ of the targets, such as -"),
        ((1, 0), "two rising numbers"),
        ((1, np.nan), "two rising numbers"),
        ("positive", "two rising numbers"),
        (3, "two rising numbers"),
    ],
)
def test_a_support_that_makes_no_sense(support, said):
    with pytest.raises(ValueError, match=said):
        linear_clear(support=support).fit(*noisy_line())
