"""How fit treats a table: rows for a report, rows in time, tables that cannot be fitted."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest

import clearbands
from clearbands import TableEncoder
from clearbands.apps.cli import fitting
from clearbands.apps.cli.fit_options import Choice, Names
from clearbands.apps.reading.reading import read_table
from tests.apps.cli.running import assert_fails, houses, run, write
from tests.apps.web.updating import hours


def test_fit_keeps_rows_for_its_report_out_of_the_fit(house_files, tmp_path):
    model, page = tmp_path / "model.cb", tmp_path / "page.html"
    args = ["fit", house_files / "train.csv", "--target", "price", "--preset", "b", "--out", model]
    result = run(*args, "--report", page)
    assert result.exit_code == 0, result.stderr
    assert "96 trained, 32 calibrated" in result.stdout
    assert f"Wrote {page} (a report on 32 rows)." in result.stdout
    assert "32 of 160, drawn by the seed and kept out of the fit" in page.read_text()
    taken = re.search(r'"rows": (\[\[.*?\]\]), "share"', page.read_text())
    names = json.loads(re.search(r'"names": (\[.*?\])', page.read_text())[1])
    rows = json.loads(taken[1])
    assert len(rows) == 32
    prices = pl.read_csv(house_files / "train.csv")["price"]  # rows are numbered as in the file
    for row in rows:
        assert row[names.index("true value")] == pytest.approx(prices[row[0] - 1])
    assert_fails(run(*args, "--report", model), "both name")
    few = tmp_path / "few.csv"
    houses(12).write_csv(few)
    result = run("fit", few, "--target", "price", "--out", model, "--report", page)
    assert_fails(result, "A fifth of 12 rows is 3, and a report needs at least 4")


def test_what_a_column_of_text_holds_is_left_to_the_fit_to_tell(tmp_path):
    data, names, choice = tmp_path / "data.csv", Names(target="price"), Choice()
    data.write_text("town,price\n" + "None,1.5\n,2.5\nBern,3.5\nBern,3.5\n" * 5)
    reading = read_table(data)
    rows = fitting.choose_rows(reading, names, choice)
    fitting.show_remarks(reading, names, choice, rows)  # must not warn
    with pytest.warns(UserWarning, match="'town' has gaps and the text 'None' in 5 rows"):
        TableEncoder().fit(rows.X)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("x,prize\n1,2\n", ["has no column 'price'; did you mean 'prize'?"]),
        ("x,price\n1,cheap\n", ["The target 'price' holds text such as 'cheap'"]),
        (
            "x,price\n1,\n2,3\n",
            ["The target 'price' is missing in 1 row of 2, first in row 1 (counted from 1)"],
        ),
        ("price\n1\n2\n", ["has no column besides the target 'price'"]),
        ("x,price\n", ["data.csv has column names but no rows."]),
        ("", ["data.csv is empty (0 bytes)."]),
        ("x,price\n1,2,3\n", ["data.csv could not be read as a csv file"]),
    ],
)
def test_fit_refuses_bad_tables(tmp_path, content, said):
    data = tmp_path / "data.csv"
    data.write_text(content)
    assert_fails(run("fit", data, "--target", "price", "--out", tmp_path / "model.cb"), *said)
    assert list(tmp_path.iterdir()) == [data]


def test_too_few_rows_are_found_by_the_fit_itself(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("x,price\n1,2\n")
    result = run("fit", data, "--target", "price", "--out", tmp_path / "model.cb")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert list(tmp_path.iterdir()) == [data]


@pytest.mark.slow
@pytest.mark.filterwarnings("always:3 of 83 rows")
def test_fit_in_the_order_of_time(tmp_path):
    data = write(hours(150).sample(fraction=1, shuffle=True, seed=0), tmp_path / "table.csv")
    out, page = tmp_path / "model.clear", tmp_path / "page.html"
    options = ["--time", "when", "--gap", 2, "--preset", "fast", "--report", page, "--jobs", 1]
    done = run("fit", data, "--target", "demand", "--out", out, *options)
    assert done.exit_code == 0, done.stderr
    model = clearbands.load(out)
    assert (model.split, model.gap, model.n_train_) == ("time", 2, 118)  # the page keeps 30
    assert model.origin_.time == "when"
    assert list(model.feature_names_in_) == ["x"]
    assert "the last ones and kept out of the fit" in page.read_text("utf-8")
    write(pl.concat([hours(80), hours(80)[-3:]]), data)
    done = run("fit", data, "--target", "demand", "--out", out, *options[:2], "--preset", "fast")
    assert done.stderr.count("3 of 83 rows have the time of the row before them") == 1
    refused = run("fit", data, "--target", "demand", "--out", out, "--gap", 2)
    assert refused.exit_code == 2
    assert "--gap needs --time" in refused.stderr
