"""Every question about y by the command; groups and supports of a fit."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

from clearbands import load, save
from clearbands.persistence.origin import record_origin
from tests.apps.cli.questions import predict, rows_of
from tests.apps.cli.running import assert_fails, run
from tests.served import documented_houses, far_houses, linear_model


def test_the_answers_are_those_of_the_library(question_files):
    table = predict(
        question_files,
        *("--level", 0.8, "--level", 0.6, "--quantile", 0.9, "--quantile", 0.1),
        *("--above", 400, "--above", "asking", "--below", 300),
    )
    model, X, frame = rows_of(question_files)
    _, intervals = model.predict_interval(X, confidence_level=[0.8, 0.6])
    np.testing.assert_array_equal(table["lower_80"], intervals[:, 0, 0])
    np.testing.assert_array_equal(table["upper_60"], intervals[:, 1, 1])
    parts = model.predict_uncertainty(X, confidence_level=0.8)
    np.testing.assert_allclose(table["epistemic_share"], parts.epistemic_share)
    quantiles = model.predict_quantiles(X, [0.1, 0.9])
    np.testing.assert_array_equal(table.select("quantile_0.1", "quantile_0.9"), quantiles)
    np.testing.assert_array_equal(table["above_400"], model.predict_probability(X, above=400))
    asking = frame["asking"].to_numpy()
    np.testing.assert_array_equal(table["above_asking"], model.predict_probability(X, above=asking))
    np.testing.assert_array_equal(table["below_300"], model.predict_probability(X, below=300))
    np.testing.assert_array_equal(table["unfamiliar"], model.unfamiliar(X))


def test_far_outliers_leave_the_chances_numbers(question_files, tmp_path):
    X, y = far_houses()
    model = linear_model(X, y, confidence_level=0.5)
    model.origin_ = record_origin(X, y, target="price")
    save(model, tmp_path / "houses.clear")
    X.write_csv(tmp_path / "new.csv")
    chances = predict(tmp_path, "--above", "1e9").to_series(-1)
    assert chances.is_between(0, 1).all()


@pytest.mark.parametrize(("side", "column"), [("lower", 0), ("upper", 1)])
def test_one_side_is_one_column(question_files, side, column):
    table = predict(question_files, "--side", side)
    model, X, _ = rows_of(question_files)
    bounds = model.predict_interval(X, side=side)[1]
    np.testing.assert_array_equal(table[f"{side}_90"], bounds[:, column, 0])
    bounds_there = [name for name in table.columns if name.startswith(("lower", "upper"))]
    assert bounds_there == [f"{side}_90"]


def test_unequal_tails(question_files):
    table = predict(question_files, "--tails", "0.02:0.08")
    model, X, _ = rows_of(question_files)
    bounds = model.predict_interval(X, tails=(0.02, 0.08))[1]
    np.testing.assert_array_equal(table.select("lower_90", "upper_90"), bounds[:, :, 0])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--tails", "0.02"], "--tails takes BELOW:ABOVE"),
        (["--tails", "0.6:0.5"], "add up to less than 1"),
        (["--tails", "0.1:0.2", "--level", 0.8], "leave out level and side"),
        (["--level", 80], "got 80.0. Did you mean 0.8?"),
        (["--level", 0.8, "--level", 0.8], "names a level twice"),
        (["--quantile", 0], "strictly between 0 and 1"),
        (["--side", "left"], "side must be"),
        (["--above", "nan"], "above must be a finite number, got nan"),
        (["--below", "askin"], "has no column 'askin'; did you mean 'asking'?"),
        (["--below", "town"], "The column 'town' holds text"),
    ],
)
def test_questions_that_make_no_sense_are_one_sentence(question_files, asked, said):
    out = question_files / "never.csv"
    result = run(
        "predict", question_files / "houses.clear", question_files / "new.csv", "--out", out, *asked
    )
    assert_fails(result, said)
    assert not out.exists()


@pytest.mark.slow
def test_fit_calibrates_groups_and_keeps_to_a_support(tmp_path):
    """The column of the groups is dropped, so it is no feature, but the command still finds it."""
    X, y = documented_houses()
    frame = X.with_columns(price=pl.Series(np.maximum(y, 0)), year=pl.Series([2006, 2007] * 100))
    frame.write_csv(tmp_path / "houses.csv")
    out, page, table = (tmp_path / name for name in ("houses.clear", "page.html", "out.csv"))
    args = ["fit", tmp_path / "houses.csv", "--target", "price", "--out", out, "--preset", "fast"]
    result = run(
        *args,
        "--drop",
        "year",
        "--calibration-groups",
        "year",
        "--support",
        "0:900",
        "--report",
        page,
    )
    assert result.exit_code == 0, result.stderr
    model = load(out)
    assert [group.label for group in model.calibrator_.calibration_groups_] == ["2006", "2007"]
    assert "year" not in model.feature_names_in_
    assert model.support == (0.0, 900.0)
    text = page.read_text(encoding="utf-8")
    assert "--drop=year" in text
    assert "2007" in text
    result = run("predict", out, tmp_path / "houses.csv", "--out", table)
    assert (result.exit_code, result.stderr) == (0, "")
    found = pl.read_csv(table)
    rows = frame.select(model.feature_names_in_.tolist())
    _, intervals = model.predict_interval(rows, calibration_groups=frame["year"].to_numpy())
    np.testing.assert_array_equal(found["upper_90"], intervals[:, 1, 0])
    assert run("evaluate", out, tmp_path / "houses.csv").exit_code == 0
    frame.drop("year").write_csv(tmp_path / "lost.csv")
    lost = run("predict", out, tmp_path / "lost.csv", "--out", table)
    assert_fails(lost, "lost.csv has no column 'year'")
    frame.with_columns(year=2010).write_csv(tmp_path / "later.csv")
    later = run("predict", out, tmp_path / "later.csv", "--out", table)
    assert_fails(later, "Groups that were not calibrated: 2010")
    lenient = run(
        *args, "--drop", "year", "--calibration-groups", "year", "--unknown-groups", "pool"
    )
    assert lenient.exit_code == 0, lenient.stderr
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        later = run("predict", out, tmp_path / "later.csv", "--out", table)
    assert later.exit_code == 0
    assert "get the factors of all rows together" in later.stderr
    assert_fails(
        run(*args, "--unknown-groups", "pool"), "--unknown-groups needs --calibration-groups"
    )


@pytest.mark.slow
def test_groups_of_several_columns_may_overlap(tmp_path):
    X, y = documented_houses()
    frame = X.with_columns(price=y, new=pl.Series([True, False] * 100))
    frame.write_csv(tmp_path / "houses.csv")
    out, page, table = (tmp_path / name for name in ("houses.clear", "page.html", "out.csv"))
    args = ["fit", tmp_path / "houses.csv", "--target", "price", "--out", out, "--preset", "fast"]
    groups = ("--calibration-groups", "new", "--calibration-groups", "town")
    result = run(*args, "--drop", "new", *groups)
    assert result.exit_code == 0, result.stderr
    model = load(out)
    assert model.calibrator_.names_ == ("new", "town=Basel", "town=Bern")
    assert "new" not in model.feature_names_in_
    assert "| `new` |" in model.card()
    assert run("predict", out, tmp_path / "houses.csv", "--out", table).exit_code == 0
    rows = frame.select(model.feature_names_in_.tolist())
    _, intervals = model.predict_interval(rows, calibration_groups=frame.select("new", "town"))
    np.testing.assert_array_equal(pl.read_csv(table)["upper_90"], intervals[:, 1, 0])
    assert run("evaluate", out, tmp_path / "houses.csv").exit_code == 0
    assert run("report", out, tmp_path / "houses.csv", "--out", page).exit_code == 0
    other = run("report", out, tmp_path / "houses.csv", "--out", page, "--by", "rooms")
    assert_fails(other, "calibrated by the groups of 'new', 'town', and the report compares those")
    frame.drop("new").write_csv(tmp_path / "lost.csv")
    lost = run("predict", out, tmp_path / "lost.csv", "--out", table)
    assert_fails(lost, "lost.csv has no column 'new'")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--unknown-groups", "pool"], "takes one column of --calibration-groups, got town, rooms"),
        (["--weight", "area"], "several columns of --calibration-groups know no weights"),
        (["--calibration-groups", "rom"], "did you mean 'rooms'?"),
    ],
)
def test_what_several_columns_of_groups_cannot_have_is_one_sentence(tmp_path, more, said):
    X, y = documented_houses()
    X.with_columns(price=y).write_csv(tmp_path / "houses.csv")
    out = tmp_path / "houses.clear"
    args = ["fit", tmp_path / "houses.csv", "--target", "price", "--out", out]
    assert_fails(run(*args, "--calibration-groups", "town, rooms", *more), said)
    assert not out.exists()


def test_rows_that_belong_together_are_named_by_their_column(tmp_path):
    X, y = documented_houses()
    flat = pl.Series("flat", [f"flat {i // 2}" for i in range(len(y))])
    X.with_columns(flat, price=y).write_csv(tmp_path / "houses.csv")
    out = tmp_path / "houses.clear"
    args = ["fit", tmp_path / "houses.csv", "--target", "price", "--out", out, "--preset", "fast"]
    result = run(*args, "--groups", "flat")
    assert result.exit_code == 0, result.stderr
    model = load(out)
    assert "flat" not in model.feature_names_in_
    draws = model.epistemic_.draws_.counts if hasattr(model.epistemic_, "draws_") else None
    assert draws is not None
    np.testing.assert_array_equal(draws[:, 0::2] > 0, draws[:, 1::2] > 0)
    assert_fails(run(*args, "--groups", "flat", "--time", "flat"), "cannot be used at once")
    assert_fails(run(*args, "--groups", "flats"), "did you mean 'flat'?")
