"""Models and tables that a command opens, and those that it refuses."""

from __future__ import annotations

import clearbands
from tests.apps.cli.running import assert_fails, houses, run


def test_predict_names_the_columns_it_misses(house_model, tmp_path):
    (tmp_path / "data.csv").write_text("id,x\n1,2\n")
    result = run("predict", house_model, tmp_path / "data.csv", "--out", tmp_path / "out.csv")
    assert_fails(result, "lacks 2 columns the model was fitted on: 'age', 'colour'; add")
    assert not (tmp_path / "out.csv").exists()


def test_predict_names_a_column_that_turned_into_text(house_model, tmp_path):
    (tmp_path / "data.csv").write_text("x,age,colour\nlow,30,red\n")
    result = run("predict", house_model, tmp_path / "data.csv", "--out", tmp_path / "out.csv")
    assert_fails(result, "Column 'x' must hold numbers, but row 1 (counted from 1) holds 'low'")


def test_wrong_and_cut_models_are_refused(house_files, house_model, tmp_path):
    cut = tmp_path / "cut.cb"
    cut.write_bytes(house_model.read_bytes()[:-500])
    for path, said in (
        (cut, "cut.cb is not a complete clearbands model"),
        (house_files / "test.csv", "test.csv is not a complete clearbands model"),
        (tmp_path / "nope.cb", "There is no file"),
    ):
        assert_fails(run("evaluate", path, house_files / "test.csv", "--target", "price"), said)


def test_models_that_files_cannot_serve_are_refused(house_files, tmp_path):
    frame = houses(40)
    X, y = frame["x"].to_numpy()[:, None], frame["price"].to_numpy()
    part = clearbands.LinearQuantiles().fit(X, y)
    clearbands.save(part, tmp_path / "part.cb")
    nameless = clearbands.ClearRegressor(
        clearbands.PCSEnsemble({"linear": clearbands.LinearQuantiles()}, n_bootstraps=3),
        clearbands.ResidualQuantiles(clearbands.LinearQuantiles(), n_bootstraps=3),
        calibration="joint",
    )
    clearbands.save(nameless.fit(X, y), tmp_path / "nameless.cb")
    for name, said in (
        ("part.cb", "holds a LinearQuantiles; the command needs a ClearRegressor"),
        ("nameless.cb", "was fitted on an array without column names"),
    ):
        result = run(
            "predict", tmp_path / name, house_files / "test.csv", "--out", tmp_path / "o.csv"
        )
        assert_fails(result, said)
