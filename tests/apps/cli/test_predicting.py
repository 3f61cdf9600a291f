"""Predictions in pieces are those of all rows together."""

from __future__ import annotations

import polars as pl

from tests.apps.cli.questions import predict
from tests.apps.cli.running import run


def predict_files(folder, data, out, *options):
    result = run("predict", folder / "m.clear", data, "--out", folder / out, *options)
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return result


def test_predictions_in_pieces_are_those_of_the_rows_together(parquet_houses, monkeypatch):
    monkeypatch.setattr("clearbands.apps.cli.predicting.PIECE", 37)
    new = pl.concat([pl.read_parquet(f) for f in sorted((parquet_houses / "houses").iterdir())])
    new.write_csv(parquet_houses / "new.csv")
    asked = ["--keep", "town", "--quantile", 0.1, "--above", "size"]
    predict_files(parquet_houses, parquet_houses / "new.csv", "whole.parquet", *asked)
    whole = pl.read_parquet(parquet_houses / "whole.parquet")
    for out in ("pieces.parquet", "pieces.csv", "pieces.feather"):
        data, work = parquet_houses / "houses", parquet_houses / "work"
        result = predict_files(parquet_houses, data, out, *asked, "--work", work)
        assert "(300 rows)" in result.stdout
    assert pl.read_parquet(parquet_houses / "pieces.parquet").equals(whole)
    assert pl.read_csv(parquet_houses / "pieces.csv").columns == whole.columns
    assert pl.read_ipc(parquet_houses / "pieces.feather").height == 300
    shown = run(
        "predict", parquet_houses / "m.clear", parquet_houses / "houses", "--out", "-"
    ).stdout
    assert len(shown.splitlines()) == 301


def test_many_rows_are_answered_in_pieces_as_one(question_files, monkeypatch):
    whole = predict(question_files, "--above", "asking")
    monkeypatch.setattr("clearbands.apps.cli.predicting.ROWS_AT_ONCE", 7)
    assert predict(question_files, "--above", "asking").equals(whole)
