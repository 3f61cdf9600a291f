"""clearbands label"""

from __future__ import annotations

from typing import Annotated

from clearbands.apps.cli import console
from clearbands.apps.cli.opened import ModelAndTable
from clearbands.apps.cli.options import Data, Model, TableOut, TextFile, option
from clearbands.apps.reading import files
from clearbands.apps.reading.formats import STREAM


def label(
    model: Model,
    data: Data,
    output: TableOut,
    text: TextFile,
    n: Annotated[int, option("How many rows.", "N", name="-n", min=1)] = 20,
) -> None:
    """Choose the rows whose true values would teach the model most, best first.

    The model knows little about these rows, by their epistemic width, and they are not all alike.
    The columns are row_from_1, the number of the row, and those of predict_frame.
    """
    files.check_output(output.out, inputs=[model, data], table=True)
    rows = ModelAndTable.from_files(model, data, text)
    X, groups, carried = rows.X, rows.groups, rows.carried_columns(output)

    import polars as pl

    from clearbands.prediction.uncertainty import rank_by_epistemic

    with console.working("Choosing rows"):
        chosen = rank_by_epistemic(rows.model, X, min(n, X.height))
        of_chosen = None if groups is None else groups[chosen]
        table = rows.task.predict(X[chosen], groups=of_chosen).frame()
    numbers = pl.Series("row_from_1", chosen + 1)
    chosen_rows = table.select(numbers, *(column[chosen] for column in carried), *table)
    files.write_table(chosen_rows, output.out, no_formulas=output.no_formulas)
    if output.out != STREAM:
        console.print_line(
            f"Wrote {output.out} ({table.height:,} of {X.height:,} rows, best first)."
        )
