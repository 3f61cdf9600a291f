"""clearbands label"""

from __future__ import annotations

from typing import Annotated

import typer

from clearbands.apps.cli import console
from clearbands.apps.cli.models import features_in, groups_in, kept_columns, load_model, read_for
from clearbands.apps.cli.options import (
    Data,
    Decimal,
    Encoding,
    Keep,
    KnownId,
    Model,
    NoFormulas,
    Separator,
    TableOut,
    asked_of,
    names_in,
)
from clearbands.apps.reading import files
from clearbands.apps.reading.formats import STREAM


def label(
    model: Model,
    data: Data,
    out: TableOut,
    n: Annotated[int, typer.Option("-n", min=1, metavar="N", help="How many rows.")] = 20,
    keep: Keep = [],  # noqa: B006
    no_formulas: NoFormulas = False,
    row_id: KnownId = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Choose the rows whose true values would teach the model most, best first.

    They are rows that the model knows least, by the epistemic width, and that are not all alike.
    The columns are row (counted from 1) and those of predict_frame.
    """
    files.check_output(out, inputs=[model, data], table=True)
    asked = asked_of(separator, decimal, encoding)
    fitted = load_model(model)
    reading = read_for(data, asked, fitted)
    X, labels = features_in(fitted, reading), groups_in(fitted, reading)
    kept = kept_columns(fitted, reading, names_in(keep, reading.frame.columns), row_id)

    import polars as pl

    from clearbands.prediction.predictions import predict
    from clearbands.prediction.uncertainty import rank_by_epistemic

    with console.working("Choosing rows"):
        chosen = rank_by_epistemic(fitted, X, min(n, X.height))
        of_chosen = None if labels is None else labels[chosen]
        table = predict(fitted, X[chosen], calibration_groups=of_chosen).frame()
    rows = pl.Series("row", chosen + 1)
    chosen_rows = table.select(rows, *(column[chosen] for column in kept), *table)
    files.write_table(chosen_rows, out, no_formulas=no_formulas)
    if out != STREAM:
        console.say(f"Wrote {out} ({table.height} of {X.height} rows, best first).")
