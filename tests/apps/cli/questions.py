"""Houses, a model of their prices, and questions to it."""

from __future__ import annotations

import polars as pl

from clearbands import load
from tests.apps.cli.running import run


def predict(folder, *asked):
    out = folder / "out.csv"
    result = run("predict", folder / "houses.clear", folder / "new.csv", "--out", out, *asked)
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return pl.read_csv(out)


def rows_of(folder):
    model = load(folder / "houses.clear")
    frame = pl.read_csv(folder / "new.csv")
    return model, frame.select(model.feature_names_in_.tolist()), frame
