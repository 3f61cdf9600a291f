"""Weights of rows, other scales of the target, and counts, by the command."""

from typing import get_args

import numpy as np
import polars as pl
import pytest

from clearbands import fast, load
from clearbands.rows.settings import ScaleName
from clearbands.rows.target_transform import NAMED
from tests.apps.cli.running import assert_fails, run


@pytest.fixture(scope="module")
def houses(tmp_path_factory):
    rng = np.random.default_rng(0)
    n, path = 120, tmp_path_factory.mktemp("houses") / "houses.csv"
    columns = {
        "size": rng.normal(100, 20, n),
        "town": rng.choice(["Aix", "Bex"], n),
        "copies": rng.integers(0, 4, n),
        "price": np.exp(rng.normal(4, 0.3, n)).round(2),
        "visits": rng.poisson(3, n),
    }
    pl.DataFrame(columns).write_csv(path)
    return path


def fit(houses, out, *asked):
    args = ("fit", houses, "--out", out, "--preset", "fast", "--jobs", "1")
    return run(*args, *asked)


def test_weights_and_scale_reach_the_model(houses, tmp_path):
    out = tmp_path / "m.clear"
    asked = ("--weight", "copies", "--target-transform", "log", "--drop", "visits")
    result = fit(houses, out, "--target", "price", *asked)
    assert result.exit_code == 0, result.stderr
    model, frame = load(out), pl.read_csv(houses)
    assert model.feature_names_in_.tolist() == ["size", "town"]
    rows = frame.select("size", "town")
    same = fast(target_transform="log", random_state=0).fit(
        rows, frame["price"], sample_weight=frame["copies"]
    )
    np.testing.assert_array_equal(model.predict_interval(rows)[1], same.predict_interval(rows)[1])


def test_counts(houses, tmp_path):
    out, table = tmp_path / "m.clear", tmp_path / "out.csv"
    asked = ("--whole-numbers", "--support", "0:", "--drop", "price", "--drop", "copies")
    assert fit(houses, out, "--target", "visits", *asked).exit_code == 0
    assert run("predict", out, houses, "--out", table).exit_code == 0
    upper = pl.read_csv(table)["upper_90"].to_numpy()
    np.testing.assert_array_equal(upper, np.rint(upper))


def test_columns_to_rise_and_fall_with_reach_the_model(houses, tmp_path):
    out = tmp_path / "m.clear"
    asked = ("--target", "price", "--drop", "visits", "--rises", "size", "--falls", "copies")
    result = fit(houses, out, *asked)
    assert result.exit_code == 0, result.stderr
    model, frame = load(out), pl.read_csv(houses).select("size", "town", "copies")
    assert model.monotone == {"size": 1, "copies": -1}
    larger = frame.with_columns(pl.col("size") + 7, pl.col("copies") - 1)
    assert (model.predict_interval(larger)[1] >= model.predict_interval(frame)[1]).all()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--target", "price", "--rises", "sizes"), "--rises names 'sizes', which is no column"),
        (("--target", "price", "--rises", "size", "--falls", "size"), "choose one"),
        (("--target", "town", "--rises", "size"), "--rises is for numbers"),
        (("--target", "price", "--weight", "town"), "--weight town must be numbers"),
        (("--target", "price", "--weight", "weights"), "no column 'weights'"),
        (("--target", "town", "--whole-numbers"), "--whole-numbers is for numbers"),
    ],
)
def test_what_makes_no_sense_is_refused(houses, tmp_path, asked, said):
    assert_fails(run("fit", houses, "--out", tmp_path / "no.clear", *asked), said)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--target", "price", "--falls", "town"), "'town', which holds text"),
        (
            ("--target", "price", "--rises", "size", "--preset", "a"),
            "PCSEnsemble cannot keep to monotone",
        ),
        (("--target", "visits", "--target-transform", "log"), "needs targets above 0, got 0"),
        (("--target", "price", "--whole-numbers"), "whole_numbers=True, but the target is"),
    ],
)
def test_targets_that_do_not_fit_are_named(houses, tmp_path, asked, said):
    result = fit(houses, tmp_path / "no.clear", *asked)
    assert result.exit_code == 2
    assert said in result.stderr


def test_the_scales_of_the_command_are_those_of_the_library():
    assert set(get_args(ScaleName)) == set(NAMED)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("more", [[], ["--report"], ["--time", "day"]])
def test_a_row_of_a_file_has_its_own_number(tmp_path, ending, more):
    rows = np.arange(120)
    frame = pl.DataFrame({"day": -rows, "x": rows / 7, "y": np.where(rows == 30, -1.0, 1.0 + rows)})
    path = tmp_path / f"data.{ending}"
    frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
    more = [*more, tmp_path / "report.html"] if more == ["--report"] else more
    asked = ["--target", "y", "--support", "0:", "--preset", "fast", "--out", tmp_path / "m.clear"]
    result = run("fit", path, *asked, *more)
    assert result.exit_code == 2
    assert "-1 in row 31 (counted from 1)" in result.stderr
