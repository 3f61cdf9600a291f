"""Options of fit reach the model, or are refused."""

from __future__ import annotations

import sys
from typing import get_args

import pytest

import clearbands
from clearbands import presets
from clearbands.apps.cli.fit_options import support_in
from clearbands.rows.settings import PresetName
from tests.apps.cli.running import assert_fails, run


def test_presets_calibration_seed_and_jobs_reach_the_model(house_files, one_level_model, tmp_path):
    variant = clearbands.load(one_level_model)
    assert [entry["model"] for entry in variant.epistemic_.leaderboard_] == ["boosting"]
    out = tmp_path / "conformal.cb"
    result = run(
        "fit", house_files / "train.csv", "--target", "price", "--out", out, "--level", 0.5,
        "--preset", "b", "--calibration", "conformal", "--seed", 7, "--jobs", 1,
    )  # fmt: skip
    assert "20 chose lambda, 20 calibrated" in result.stdout
    assert "finite-sample marginal coverage" in result.stdout
    conformal = clearbands.load(out)
    assert (conformal.random_state, conformal.n_jobs) == (7, 1)
    assert conformal.levels_.tolist() == [0.5]


def test_networks_without_torch_are_refused_before_any_work(house_files, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    result = run(
        "fit", house_files / "train.csv", "--target", "price", "--out", tmp_path / "deep.cb",
        "--preset", "deep",
    )  # fmt: skip
    assert_fails(result, 'Training networks needs the extra "deep": pip install torch')


def test_the_presets_of_the_command_are_those_of_the_library():
    assert set(get_args(PresetName)) == set(presets.PRESETS)


@pytest.mark.parametrize("text", ["", ":", "0", "a:b", "0-1"])
def test_a_support_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match="--support takes LOW:HIGH"):
        support_in(text)


def test_a_support_that_falls_is_refused_before_the_data_are_read(tmp_path):
    result = run("fit", "no.csv", "--target", "y", "--out", tmp_path / "m", "--support", "1:0")
    assert_fails(result, "support must be two rising numbers")
