"""clearbands evaluate, for people and machines."""

from __future__ import annotations

import json
import re

import polars as pl

import clearbands
from clearbands import metrics
from clearbands.apps.cli.console import HEADINGS
from clearbands.rows.display import number
from tests.apps.cli.running import FEATURES, assert_fails, run
from tests.apps.report.page import Page


def test_evaluate_gives_the_metrics_to_people_and_machines(house_files, house_model):
    result = run("evaluate", house_model, house_files / "test.csv", "--target", "price", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    said = json.loads(result.stdout)
    assert said["n_rows"] == 60
    test = pl.read_csv(house_files / "test.csv")
    center, intervals = clearbands.load(house_model).predict_interval(test.select(FEATURES))
    for j, (level, row) in enumerate(zip([0.9, 0.8], said["levels"], strict=True)):
        expected = metrics.evaluate(test["price"].to_numpy(), center, intervals[:, :, j], level)
        assert row == {"confidence_level": level, **expected}

    table = run("evaluate", house_model, house_files / "test.csv", "--target", "price").stdout
    assert "test.csv, 60 rows" in table
    for name, value in said["levels"][1].items():
        assert (
            HEADINGS[name].split("\n")[-1].split()[0] in table
        )  # the last line of a heading is the abbreviation
        assert (f"{value:g}" if name == "confidence_level" else number(value)) in table
    page = Page(clearbands.load(house_model).report(test.select(FEATURES), test["price"]).html).text
    said = " ".join(table.split())
    shown = re.findall(r"At 90 %: (\d+ of 60) .*? inside, (.*?) \(by .*? is (\S+) wide", said)
    for words in shown[0]:
        assert words in page  # the same to the last digit


def test_evaluate_refuses_a_target_it_cannot_score(house_files, house_model, tmp_path):
    data = house_files / "test.csv"
    assert_fails(run("evaluate", house_model, data, "--target", "prices"), "did you mean 'price'?")
    pl.read_csv(data).head(1).write_csv(tmp_path / "one.csv")
    result = run("evaluate", house_model, tmp_path / "one.csv", "--target", "price")
    assert_fails(result, "has the same value in every row", "evaluate on more rows")
