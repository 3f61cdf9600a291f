"""Tables in parquet files on the command line: not read whole, and answered like any other."""

import polars as pl
import pytest

from tests.apps.cli.test_app import run
from tests.scaling.files import table, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write(folder, table(400).with_row_index("nr"))
    write(folder, table(300, seed=1).with_row_index("nr"), cuts=(10, 200))  # the folder "houses"
    result = fit(folder, folder / "houses.parquet", "--work", folder / "work")
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return folder


def fit(folder, data, *options):
    given = ["--target", "price", "--id", "nr", "--preset", "fast", "--out", folder / "m.clear"]
    return run("fit", data, *given, *options)


def predict(folder, data, out, *options):
    result = run("predict", folder / "m.clear", data, "--out", folder / out, *options)
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return result


def test_a_fit_says_what_it_read_and_goes_on_from_its_work_folder(folder):
    result = fit(folder, folder / "houses.parquet", "--work", folder / "work", "--jobs", 2)
    assert "Read houses.parquet: 400 rows in 1 file, 3 columns to learn from" in result.stdout
    assert "400 trained" in result.stdout
    seen = run("evaluate", folder / "m.clear", folder / "houses.parquet")
    assert "ALL 400" in seen.stderr  # the record of the rows is that of all pieces


def test_predictions_in_pieces_are_those_of_the_rows_together(folder, monkeypatch):
    monkeypatch.setattr("clearbands.apps.cli.predicting.PIECE", 37)
    new = pl.concat([pl.read_parquet(f) for f in sorted((folder / "houses").iterdir())])
    new.write_csv(folder / "new.csv")
    asked = ["--keep", "town", "--quantile", 0.1, "--above", "size"]
    predict(folder, folder / "new.csv", "whole.parquet", *asked)
    whole = pl.read_parquet(folder / "whole.parquet")
    for out in ("pieces.parquet", "pieces.csv", "pieces.feather"):
        said = predict(folder, folder / "houses", out, *asked, "--work", folder / "work").stdout
        assert "(300 rows)" in said
    assert pl.read_parquet(folder / "pieces.parquet").equals(whole)
    assert pl.read_csv(folder / "pieces.csv").columns == whole.columns
    assert pl.read_ipc(folder / "pieces.feather").height == 300
    shown = run("predict", folder / "m.clear", folder / "houses", "--out", "-").stdout
    assert len(shown.splitlines()) == 301


def test_a_large_file_is_not_read_whole_unless_something_needs_it(folder, monkeypatch):
    monkeypatch.setattr("clearbands.apps.cli.fit_files.MOST_IN_MEMORY", 399)
    asked = ["--weight", "age", "--calibration-groups", "town", "--calibration", "conformal"]
    frame = table(400).with_columns(age=pl.lit(2), two=pl.col("size") > 100)
    frame.write_parquet(folder / "large.parquet")

    def fit_large(target, *options):
        given = ["--target", target, "--preset", "fast", "--out", folder / "large.clear", *options]
        return run("fit", folder / "large.parquet", *given)

    result = fit_large("price", *asked, "--drop", "two")
    assert result.exit_code == 0, result.stderr
    assert "calibration rows" not in result.stderr  # every group has enough of them
    assert "400 rows in 1 file, 2 columns to learn from" in result.stdout
    assert "300 trained, 50 chose lambda, 50 calibrated" in result.stdout
    said_of_new = run("predict", folder / "large.clear", folder / "houses", "--out", "-").stdout
    assert len(said_of_new.splitlines()) == 301
    assert "The target holds classes" in fit_large("two").stderr  # which need all rows in memory


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--report", "r.html", "--work", "w"], "--report needs the table in memory"),
        (["--time", "age", "--work", "w"], "--time needs the table in memory"),
        (["--encoding", "latin-1", "--work", "w"], "--encoding needs the table in memory"),
        (["--engine", "dask"], "belong together"),
        (["--scheduler", "tcp://127.0.0.1:1"], "belong together"),
        (["--preset", "a", "--work", "w"], "fitted with members of symmetric trees"),
    ],
)
def test_what_a_table_in_files_cannot_have_is_one_sentence(folder, options, words):
    result = fit(folder, folder / "houses.parquet", *options)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert words in line


def test_engines_are_for_parquet_files(folder):
    table(30).drop("price").write_csv(folder / "few.csv")
    given = [folder / "m.clear", folder / "few.csv", "--out", folder / "out.csv"]
    result = run("predict", *given, "--engine", "processes")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "are for tables in parquet files" in result.stderr
