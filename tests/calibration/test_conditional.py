"""The level holds in every one of several groups that overlap, and exactly with random draws."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from clearbands import (
    CalibrationWarning,
    ClearCalibrator,
    ClearRegressor,
    ConditionalCalibrator,
    FixedRatioCalibrator,
    GroupCalibrator,
    fast,
    load,
    save,
)
from clearbands.calibration.guarantee import Guarantee
from clearbands.rows.bands import covered

LEVEL = 0.8


def draw_rows(rng, n):
    """Draw noise that each of two groups multiplies, unlike the widths; rows may be in both."""
    groups = rng.random((n, 2)) < [0.5, 0.3]
    scale = np.where(groups[:, 0], 3.0, 1.0) * np.where(groups[:, 1], 0.4, 1.0)
    ones = np.ones((n, 2))
    return (scale * rng.normal(size=n), np.zeros(n), ones, 0.5 * ones), groups


def cover(rng, n_runs, n, n_new, **options):
    """Return which new rows are covered, and their groups; each of the runs calibrates anew."""
    inside, members = [], []
    for run in range(n_runs):
        calibrator = ConditionalCalibrator(
            FixedRatioCalibrator(), confidence_level=LEVEL, random_state=run, **options
        )
        rows, groups = draw_rows(rng, n)
        (y, *new), new_groups = draw_rows(rng, n_new)
        calibrator.fit(*rows, calibration_groups=groups)
        bounds = calibrator.predict_interval(*new, calibration_groups=new_groups)
        inside.append(covered(y, bounds))
        members.append(np.column_stack([np.ones(n_new, bool), new_groups]))
    return np.array(inside), np.array(members)


@pytest.mark.filterwarnings("ignore::clearbands.CalibrationWarning")
@pytest.mark.slow
def test_over_many_runs_the_level_holds_in_every_group():
    """Each of 2,000 runs has one new row, so rows are independent and follow a binomial law."""
    for randomized in (True, False):
        inside, members = cover(np.random.default_rng(1), 2000, 40, 1, randomized=randomized)
        for own in members.reshape(-1, 3).T:
            k, n = int(inside.ravel()[own].sum()), int(own.sum())
            alternative = "two-sided" if randomized else "less"
            assert stats.binomtest(k, n, LEVEL, alternative=alternative).pvalue > 0.01
    # Without draws up to one row more is covered in each group, which is visible here.
    assert inside.mean() > LEVEL + 0.02


def test_groups_that_part_the_rows_are_calibrated_as_by_label():
    rng = np.random.default_rng(0)
    rows, groups = draw_rows(rng, 120)
    chooser, _ = draw_rows(rng, 60)
    labels = np.where(groups[:, 0], "a", "b")
    levels = [0.9, 0.5]
    by_label = GroupCalibrator(confidence_level=levels)
    by_label.fit(*rows, calibration_groups=labels, validation=chooser)
    several = ConditionalCalibrator(confidence_level=levels)
    several.fit(*rows, calibration_groups=labels[:, None], validation=chooser)
    assert several.names_ == ("0=a", "0=b")
    assert several.guarantee_ == Guarantee.OVERLAPPING
    np.testing.assert_allclose(
        several.predict_interval(*rows[1:], calibration_groups=labels[:, None]),
        by_label.predict_interval(*rows[1:], calibration_groups=labels),
        rtol=1e-12,
    )


def test_other_names_of_the_same_groups_change_nothing():
    """The other names are a group's complement, its copy, and another unit of a function."""
    rng = np.random.default_rng(3)
    rows, groups = draw_rows(rng, 100)
    slope = rng.normal(size=100)

    def bounds(columns):
        calibrator = ConditionalCalibrator(FixedRatioCalibrator(), confidence_level=0.9)
        calibrator.fit(*rows, calibration_groups=columns)
        return calibrator.predict_interval(*rows[1:], calibration_groups=columns)

    np.testing.assert_allclose(
        bounds(np.column_stack([groups, slope])),
        bounds(np.column_stack([~groups[:, 0], groups, groups[:, 1], 1e3 * slope - 7])),
        rtol=1e-9,
    )


def test_a_group_of_too_few_rows_has_infinite_bounds_and_is_named():
    rng = np.random.default_rng(0)
    rows, groups = draw_rows(rng, 60)
    few = np.arange(60) < 4
    columns = pd.DataFrame({"first": groups[:, 0], "few": few})
    calibrator = ConditionalCalibrator(confidence_level=0.9).fit(*rows, calibration_groups=columns)
    with pytest.warns(CalibrationWarning, match=r"0\.9 within few \(4 calibration rows\)"):
        bounds = calibrator.predict_interval(*rows[1:], calibration_groups=columns)
    np.testing.assert_array_equal(np.isinf(bounds).all(axis=1), few)
    never = columns.assign(few=False)
    calibrator.fit(*rows, calibration_groups=never)
    with pytest.warns(CalibrationWarning, match=r"few \(0 calibration rows\)"):
        bounds = calibrator.predict_interval(*rows[1:], calibration_groups=columns)
    np.testing.assert_array_equal(np.isinf(bounds).all(axis=1), few)


def test_a_row_far_beyond_all_others_has_infinite_bounds_of_its_own():
    rows, groups = draw_rows(np.random.default_rng(0), 60)
    columns = np.column_stack([groups[:, 0], rows[0]])
    calibrator = ConditionalCalibrator(confidence_level=0.9).fit(*rows, calibration_groups=columns)
    columns[0] = 1, 1e9
    with pytest.warns(CalibrationWarning, match="valid at level 0.9 for 1 rows"):
        bounds = calibrator.predict_interval(*rows[1:], calibration_groups=columns)
    assert np.isinf(bounds).any(axis=1).sum() == 1


def test_what_cannot_be_had_is_said():
    rows, groups = draw_rows(np.random.default_rng(0), 60)
    calibrator = ConditionalCalibrator()
    with pytest.raises(ValueError, match="know no weights"):
        calibrator.fit(*rows, calibration_groups=groups, sample_weight=np.ones(60))
    with pytest.raises(ValueError, match="must have 60 rows"):
        calibrator.fit(*rows, calibration_groups=groups[:9])
    with pytest.raises(ValueError, match="gaps or infinite"):
        calibrator.fit(*rows, calibration_groups=np.where(groups, np.nan, 1.0))
    frame = pd.DataFrame({"far": groups[:, 0], "town": np.where(groups[:, 1], "Aix", "Bex")})
    calibrator.fit(*rows, calibration_groups=frame)
    new = [array[:1] for array in rows[1:]]
    for change, message in (
        ({"town": "Cax"}, "Groups of 'town' that were not calibrated: Cax"),
        ({"town": 3.0}, "'town' of calibration_groups held text"),
        ({"more": 1.0}, "have the columns far, town, more; the model"),
    ):
        with pytest.raises(ValueError, match=message):
            calibrator.predict_interval(*new, calibration_groups=frame[:1].assign(**change))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.uniform(-1, 1, 900), "town": rng.choice(["Aix", "Bex"], 900)})
    X["late"] = rng.random(900) < 0.4
    noise = (
        rng.normal(size=900) * np.where(X["late"], 1.0, 0.3) * np.where(X["town"] == "Aix", 2, 1)
    )
    return X, 2 * X["x"].to_numpy() + noise


def small(**options):
    return fast(random_state=0, **options).set_params(calibration="conformal")


def test_a_model_finds_its_groups_by_name_and_in_its_file(table, tmp_path):
    X, y = table
    model = small().fit(X[:600], y[:600], calibration_groups=["town", "late"])
    assert model.guarantee_ == Guarantee.OVERLAPPING
    assert isinstance(model.calibrator_, ConditionalCalibrator)
    assert model.calibrator_.names_ == ("town=Aix", "town=Bex", "late")
    _, bounds = model.predict_interval(X[600:])
    save(model, tmp_path / "model.clear")
    again = load(tmp_path / "model.clear")
    np.testing.assert_array_equal(again.predict_interval(X[600:])[1], bounds)
    _, given = model.predict_interval(X[600:], calibration_groups=X.loc[600:, ["town", "late"]])
    np.testing.assert_array_equal(given, bounds)
    names = ["town", "late"]
    _, two = model.predict_interval(X[600:602])  # as many rows as names
    np.testing.assert_array_equal(two, bounds[:2])
    _, two = model.predict_interval(X[600:602], calibration_groups=names)
    np.testing.assert_array_equal(two, bounds[:2])
    quantiles = model.predict_quantiles(X[600:], [0.1, 0.5])  # from all rows together
    assert np.isfinite(quantiles).all()
    pytest.importorskip("jinja2", reason="the extra `report` is not installed")
    page = model.report(X[600:], y[600:]).html
    assert "groups that may overlap" in page or "within each group" in page


def test_a_model_with_labels_of_rows_needs_them_again(table):
    X, y = table
    columns = X[["late"]].to_numpy()
    model = small().fit(X[["x"]], y, calibration_groups=columns)
    with pytest.raises(ValueError, match="give calibration_groups"):
        model.predict_interval(X[["x"]])
    with pytest.raises(ValueError, match="whose names it does not know"):
        model.report(X[["x"]], y, by=X["town"])
    with pytest.raises(ValueError, match="'nix' is no column of X, which has x, town, late"):
        small().fit(X, y, calibration_groups=["late", "nix"])
    with pytest.raises(ValueError, match="ConditionalCalibrator needs calibration_groups"):
        small(calibrator=ConditionalCalibrator()).fit(X, y)
    by_label = small().fit(X, y, calibration_groups="town")
    with pytest.raises(ValueError, match="with one label per row"):
        by_label.predict_interval(X, calibration_groups=X[["town"]])
    with pytest.raises(ValueError, match="choose ConditionalCalibrator"):
        ClearRegressor(calibrator=GroupCalibrator()).fit(X, y, calibration_groups=columns)
    with pytest.raises(ValueError, match="cannot rise or fall"):
        small(monotone={"x": 1}).fit(X, y, calibration_groups=["x", "late"])
    drawn = ConditionalCalibrator(ClearCalibrator(), randomized=True, random_state=0)
    model = small(calibrator=drawn).fit(X[["x"]], y, calibration_groups=columns)
    _, bounds = model.predict_interval(X[["x"]], calibration_groups=columns)
    assert len(np.unique(bounds[:, 1] - bounds[:, 0])) > 2
