"""The forecast of widths with more rows, by the command."""

import json

import numpy as np
import polars as pl
import pytest

from clearbands import fast, save
from tests.apps.cli.running import assert_fails, run
from tests.served import documented_houses, linear_model


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = pl.DataFrame({name: rng.uniform(size=80) for name in "ab"})
    path = tmp_path_factory.mktemp("forecast") / "waves.clear"
    save(fast(random_state=0).fit(X, np.sin(9 * X["a"].to_numpy())), path)
    return path


def test_a_line_per_number_of_rows_and_a_sentence(model):
    result = run("forecast", model)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[2:6]] == ["80", "160", "320", "800"]
    assert lines[6].split()[0] == "endless"
    assert lines[7].startswith("10 times the rows would make these intervals")


def test_machines_get_json(model):
    answer = json.loads(run("forecast", model, "--json", "--more", 3).stdout)
    assert [line["rows"] for line in answer["forecast"]] == [80, 240, None]
    first, later, _ = answer["forecast"]
    assert later["width_low"] <= later["width"] <= later["width_high"] <= first["width"]


def test_what_cannot_be_said_is_one_sentence(model, tmp_path):
    assert_fails(run("forecast", model, "--more", "0.5"), "more must be numbers above 1")
    X, y = documented_houses()
    save(linear_model(X, y), tmp_path / "given.clear")
    assert_fails(run("forecast", tmp_path / "given.clear"), "parts of this model were given")
