"""A fit that reads its table piece by piece."""

import polars as pl
import pytest

from tests.apps.cli.fit_in_files import fit
from tests.apps.cli.running import run
from tests.scaling.files import table


def test_a_fit_says_what_it_read_and_goes_on_from_its_work_folder(parquet_houses):
    result = fit(
        parquet_houses,
        parquet_houses / "houses.parquet",
        "--work",
        parquet_houses / "work",
        "--jobs",
        2,
    )
    assert "Read houses.parquet: 400 rows in 1 file, 3 columns to learn from" in result.stdout
    assert "400 trained" in result.stdout
    seen = run("evaluate", parquet_houses / "m.clear", parquet_houses / "houses.parquet")
    assert "ALL 400" in seen.stderr  # the model recognises rows of all pieces


def test_a_large_file_is_not_read_whole_unless_something_needs_it(parquet_houses, monkeypatch):
    monkeypatch.setattr("clearbands.apps.cli.fit_files.MOST_IN_MEMORY", 399)
    asked = ["--weight", "age", "--calibration-groups", "town", "--calibration", "conformal"]
    frame = table(400).with_columns(age=pl.lit(2), two=pl.col("size") > 100)
    frame.write_parquet(parquet_houses / "large.parquet")

    def fit_large(target, *options):
        given = [
            "--target",
            target,
            "--preset",
            "fast",
            "--out",
            parquet_houses / "large.clear",
            *options,
        ]
        return run("fit", parquet_houses / "large.parquet", *given)

    result = fit_large("price", *asked, "--drop", "two")
    assert result.exit_code == 0, result.stderr
    assert "calibration rows" not in result.stderr  # no warning, as every group has enough
    assert "400 rows in 1 file, 2 columns to learn from" in result.stdout
    assert "300 trained, 50 chose lambda, 50 calibrated" in result.stdout
    said_of_new = run(
        "predict", parquet_houses / "large.clear", parquet_houses / "houses", "--out", "-"
    ).stdout
    assert len(said_of_new.splitlines()) == 301
    assert "The target holds classes" in fit_large("two").stderr  # classes need all rows in memory


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--report", "r.html", "--work", "w"], "--report needs the table in memory"),
        (["--time", "age", "--work", "w"], "--time needs the table in memory"),
        (["--encoding", "latin-1", "--work", "w"], "--encoding needs the table in memory"),
        (
            ["--calibration-groups", "town,size", "--work", "w"],
            "--calibration-groups of several columns needs the table in memory",
        ),
        (["--engine", "dask"], "belong together"),
        (["--scheduler", "tcp://127.0.0.1:1"], "belong together"),
        (["--preset", "a", "--work", "w"], "fitted with members of symmetric trees"),
    ],
)
def test_what_a_table_in_files_cannot_have_is_one_sentence(parquet_houses, options, words):
    result = fit(parquet_houses, parquet_houses / "houses.parquet", *options)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert words in line
