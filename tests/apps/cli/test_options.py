"""Options that several commands share."""

from __future__ import annotations

import clearbands
from tests.apps.cli.running import assert_fails, run
from tests.scaling.files import table


def test_engines_are_for_parquet_files(parquet_houses):
    table(30).drop("price").write_csv(parquet_houses / "few.csv")
    given = [
        parquet_houses / "m.clear",
        parquet_houses / "few.csv",
        "--out",
        parquet_houses / "out.csv",
    ]
    result = run("predict", *given, "--engine", "processes")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "are for tables in parquet files" in result.stderr


def test_columns_can_be_chosen_and_read_otherwise(messy_files, tmp_path):
    out = tmp_path / "model.cb"
    result = run(
        "fit", messy_files / "houses.csv", "--target", "price", "--out", out, "--preset", "b",
        "--features", "size,zip", "--columns-as", "zip=number",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert clearbands.load(out).encoder_.kinds_ == {"size": "number", "zip": "number"}
    wrong = run(
        "fit", messy_files / "houses.csv", "--target", "price", "--out", out, "--drop", "Zip"
    )
    assert_fails(wrong, "has no column 'Zip'; did you mean 'zip'?")
