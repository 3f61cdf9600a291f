"""clearbands explore refuses tables that it cannot show."""

from __future__ import annotations

import json
import urllib.request

import polars as pl
from typer.testing import CliRunner

from clearbands.apps.cli.commands import app as command
from tests.apps.web.explored import served


def test_the_command_refuses_tables_that_lack_columns(explore_files, tmp_path):
    pl.read_csv(explore_files / "rows.csv").select("x").write_csv(tmp_path / "x.csv")
    arguments = [explore_files / "model.cb", tmp_path / "x.csv", "--no-browser"]
    result = CliRunner().invoke(command, ["explore", *map(str, arguments)])
    assert result.exit_code == 2
    assert "lacks 4 columns the model was fitted on" in result.stderr


def test_rows_without_a_true_value_are_refused_or_left_out(explore_files, tmp_path):
    rows = pl.read_csv(explore_files / "rows.csv").with_columns(
        price=pl.when(pl.int_range(60) == 3).then(None).otherwise("price")
    )
    rows.write_csv(tmp_path / "gap.csv")
    arguments = [explore_files / "model.cb", tmp_path / "gap.csv", "--target", "price"]
    result = CliRunner().invoke(command, ["explore", *map(str, arguments), "--no-browser"])
    assert result.exit_code == 2
    assert "--drop-missing-target of fit, evaluate, report and explore does" in result.stderr
    left_out = "Warning: Left out 1 row of 60, whose target 'price' is missing.\n"
    with served(*arguments, "--drop-missing-target", complaints=left_out) as address:
        start = json.load(urllib.request.urlopen(f"{address}/start"))
        assert start["n_rows"] == 59
