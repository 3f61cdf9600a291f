"""clearbands predict"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clearbands.cli import console
from clearbands.cli.models import features_in, load_model, origin_of, read_for
from clearbands.cli.options import Data, Decimal, Encoding, Model, Separator, asked_of, names_in
from clearbands.tables import files
from clearbands.tables.choosing import take_column
from clearbands.tables.formats import STREAM

if TYPE_CHECKING:
    import polars as pl

    from clearbands.regressor import ClearRegressor

ROWS_AT_ONCE = 10_000  # between two steps of the progress bar


def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="FILE",
            help="A .csv, .parquet or .feather file; - for standard output.",
        ),
    ],
    keep: Annotated[
        list[str],
        typer.Option(
            "--keep", metavar="COLUMN", help="Carry a column into the output; repeat for several."
        ),
    ] = [],  # noqa: B006
    row_id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COLUMN", help="What names the rows, carried along; as in fit."
        ),
    ] = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Write point, bounds and the two parts of the width for every row.

    The columns are point, lower, upper (lower_0.9, upper_0.9, ... with several levels), and, at
    the first level, the widths aleatoric and epistemic and epistemic_share between 0 and 1.
    Columns that the model does not know are ignored.
    """
    files.check_output(out, inputs=[model, data], table=True)
    asked = asked_of(separator, decimal, encoding)
    fitted = load_model(model)
    reading = read_for(data, asked, fitted)
    kept = _kept(fitted, reading.frame, names_in(keep, reading.frame.columns), row_id, reading.name)
    table = _predict(fitted, features_in(fitted, reading))
    twice = next((column.name for column in kept if column.name in table.columns), None)
    if twice is not None:
        raise ValueError(f"The output has a column {twice!r} of its own; rename that of the data.")
    files.write_table(table.select(*kept, *table.columns), out)
    if out != STREAM:
        console.say(f"Wrote {out} ({table.height} rows).")


def _kept(
    model: ClearRegressor, frame: pl.DataFrame, keep: list[str], row_id: str | None, name: str
) -> list[pl.Series]:
    """The columns to carry along: what names the rows first."""
    known = origin_of(model)
    if row_id is None and known is not None and known.id in frame.columns:
        row_id = known.id
    names = dict.fromkeys(([row_id] if row_id else []) + keep)
    return [take_column(frame, column, name) for column in names]


def _predict(model: ClearRegressor, X: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    from clearbands.predictions import prediction_table

    tables = []
    with console.progress_bar() as progress:
        for start in range(0, X.height, ROWS_AT_ONCE):
            if progress is not None:
                progress("predicting", start, X.height)
            tables.append(prediction_table(model, X[start : start + ROWS_AT_ONCE]))
    return pl.concat(tables)
