"""clearbands update."""

import numpy as np
import polars as pl
import pytest

import clearbands
from tests.apps.cli.running import run, write
from tests.apps.web.updating import hours, in_time


@pytest.fixture
def timed_model(tmp_path):
    path = tmp_path / "model.clear"
    clearbands.save(in_time(), path)
    return path


def test_update_writes_the_model_anew(timed_model, tmp_path):
    data = write(hours(60, first=120), tmp_path / "new.csv")
    done = run("update", timed_model, data, "--lead", 3, "--window", 90, "--rate", 0.02)
    assert done.exit_code == 0, done.stderr
    assert "60 rows since the fit" in done.stdout
    found = clearbands.load(timed_model).rolling_
    assert (found.n_rows, found.pace.lead, found.pace.window, found.pace.rate) == (60, 3, 90, 0.02)
    again = run("update", timed_model, data)  # the same rows
    assert again.exit_code == 2
    assert "give every row once" in again.stderr


def test_update_sorts_the_rows_and_may_write_elsewhere(timed_model, tmp_path):
    before = timed_model.read_bytes()
    data = write(hours(60, first=120).reverse(), tmp_path / "new.csv")
    done = run("update", timed_model, data, "--out", tmp_path / "other.clear")
    assert done.exit_code == 0, done.stderr
    assert "Sorted the rows by 'when'." in done.stdout
    assert timed_model.read_bytes() == before
    expected = in_time()
    table = hours(60, first=120)
    expected.update(table.select("x"), table["demand"].to_numpy(), time=table["when"])
    found = clearbands.load(tmp_path / "other.clear").rolling_
    np.testing.assert_array_equal(found.positions, expected.rolling_.positions)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: table.drop("when"), "has no column 'when'"),
        (lambda table: table.drop("x"), "lacks the column"),
        (
            lambda table: table.with_columns(when=pl.lit("soon")),
            "holds 'soon' in row 1 (counted from 1);",
        ),
        (
            lambda table: table.with_columns(
                when=pl.concat([table["when"].cast(pl.String)[:19], pl.Series(["soon"])])
            ),
            "holds 'soon' in row 20 (counted from 1);",
        ),
        (lambda table: table.with_columns(demand=pl.lit("much")), "must be numbers only"),
    ],
)
def test_rows_that_are_refused(change, words, timed_model, tmp_path):
    data = write(change(hours(20, first=120)), tmp_path / "new.csv")
    done = run("update", timed_model, data)
    assert done.exit_code == 2
    assert words in done.stderr
    assert not hasattr(clearbands.load(timed_model), "rolling_")


@pytest.mark.filterwarnings("always:3 of 63 rows")
def test_what_is_odd_about_times_is_said_once(timed_model, tmp_path):
    table = hours(60, first=120)
    data = write(pl.concat([table, table[-3:]]), tmp_path / "new.csv")
    for command in (["update"], ["monitor", "--out", tmp_path / "page.html"]):
        done = run(command[0], timed_model, data, *command[1:])
        assert done.exit_code == 0, done.stderr
        assert done.stderr.count("3 of 63 rows have the time of the row before them") == 1


def test_times_that_are_text_in_a_typed_file_are_times(timed_model, tmp_path):
    table = hours(60, first=120)
    table.with_columns(pl.col("when").cast(pl.String)).write_parquet(tmp_path / "new.parquet")
    done = run("update", timed_model, tmp_path / "new.parquet")
    assert done.exit_code == 0, done.stderr
    assert clearbands.load(timed_model).rolling_.n_rows == 60
