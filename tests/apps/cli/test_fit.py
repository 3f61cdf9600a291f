"""clearbands fit: its output, and the same model as from Python."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import clearbands
from clearbands import presets
from clearbands.rows.display import number
from tests.apps.cli.running import FEATURES, assert_fails, run
from tests.deep import TINY, need_torch


def test_fit_says_what_it_did_and_shows_no_bar_off_a_terminal(house_model, house_fit):
    assert "Fitted on train.csv" in house_fit.stdout
    assert "160 trained, 160 of them calibrated by members" in " ".join(house_fit.stdout.split())
    assert "guarantee" in house_fit.stdout
    said, unseen = " ".join(house_fit.stdout.split()), clearbands.load(house_model).unseen_
    for words in (f"{100 * unseen.coverage[1]:.1f} % of 160 rows", number(unseen.rmse_of_mean)):
        assert words in said
    assert f"typical width at 90 % {number(unseen.width[0])}" in said
    assert "lambda" not in said
    assert f"Wrote {house_model}" in house_fit.stdout
    assert house_fit.stderr == ""


def test_fit_gives_the_model_that_python_gives(house_files, house_model):
    frame = pl.read_csv(house_files / "train.csv")
    by_hand = clearbands.ClearRegressor(confidence_level=[0.9, 0.8], random_state=0)
    by_hand.fit(frame.select(FEATURES), frame["price"].to_numpy())
    X = pl.read_csv(house_files / "test.csv").select(FEATURES)
    for ours, theirs in zip(
        clearbands.load(house_model).predict_interval(X), by_hand.predict_interval(X), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_networks_from_fit_to_report(house_files, tmp_path, monkeypatch):
    need_torch()
    networks = presets.variant_deep

    def small_networks(**parameters):
        small = {f"{part}__{k}": v for part in ("epistemic", "aleatoric") for k, v in TINY.items()}
        return networks(**parameters).set_params(**small)

    monkeypatch.setitem(presets.PRESETS, "deep", small_networks)
    out, page = tmp_path / "deep.cb", tmp_path / "report.html"
    result = run(
        "fit", house_files / "train.csv", "--target", "price", "--out", out, "--preset", "deep",
        "--report", page,
    )  # fmt: skip
    assert (result.exit_code, result.stderr) == (0, "")
    assert isinstance(clearbands.load(out).epistemic_, clearbands.DeepEnsemble)
    assert "--preset=deep" in page.read_text()
    assert run("evaluate", out, house_files / "test.csv", "--target", "price").exit_code == 0


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"data": "nope.csv"}, "There is no file"),
        ({"data": "train.doc"}, "ends in '.doc'; tables are files that end in"),
        ({"--out": "nope/model.cb"}, "nope for model.cb; create it first."),
        ({"--out": "train.csv"}, "is an input and would be overwritten"),
        ({"--level": "95"}, "got 95.0. Did you mean 0.95?"),
    ],
)
def test_fit_refuses_bad_arguments_before_it_works(house_files, changed, said):
    given = {"data": "train.csv", "--out": "new.cb", "--level": "0.9"} | changed
    data, out = house_files / given["data"], house_files / given["--out"]
    before = (house_files / "train.csv").read_bytes()
    result = run("fit", data, "--target", "price", "--out", out, "--level", given["--level"])
    assert_fails(result, said)
    assert not (house_files / "new.cb").exists()
    assert (house_files / "train.csv").read_bytes() == before
