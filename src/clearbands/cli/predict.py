"""clearbands predict"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from clearbands.cli import console
from clearbands.cli.class_target import is_classifier
from clearbands.cli.classes import class_table, refuse_for_classes
from clearbands.cli.models import features_in, groups_in, kept_columns, load_any, read_for
from clearbands.cli.options import (
    Data,
    Decimal,
    Encoding,
    Keep,
    KnownId,
    Model,
    Separator,
    TableOut,
    asked_of,
    names_in,
)
from clearbands.tables import files
from clearbands.tables.choosing import take_target
from clearbands.tables.formats import STREAM
from clearbands.tables.reading import Reading

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from clearbands.questions import Questions
    from clearbands.regressor import ClearRegressor

ROWS_AT_ONCE = 10_000  # between two steps of the progress bar


def predict(
    model: Model,
    data: Data,
    out: TableOut,
    level: Annotated[
        list[float],
        typer.Option(
            "--level", metavar="LEVEL", help="Other levels than those of the fit; repeatable."
        ),
    ] = [],  # noqa: B006
    side: Annotated[
        str,
        typer.Option(
            "--side", metavar="SIDE", help="lower or upper: one bound, which holds at the level."
        ),
    ] = "both",
    quantile: Annotated[
        list[float],
        typer.Option("--quantile", metavar="SHARE", help="Such as 0.1; repeat for several."),
    ] = [],  # noqa: B006
    above: Annotated[
        list[str],
        typer.Option(
            "--above", metavar="VALUE", help="The chance to exceed it: a number or a column."
        ),
    ] = [],  # noqa: B006
    below: Annotated[
        list[str],
        typer.Option(
            "--below", metavar="VALUE", help="The chance to be below: a number or a column."
        ),
    ] = [],  # noqa: B006
    unfamiliar: Annotated[
        bool, typer.Option("--unfamiliar", help="Say which rows are unlike those of the fit.")
    ] = False,
    keep: Keep = [],  # noqa: B006
    row_id: KnownId = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Write point, bounds and the two parts of the width for every row.

    The columns are point, lower, upper (lower_0.9, upper_0.9, ... with several levels), and, at
    the first level, the widths aleatoric and epistemic and epistemic_share between 0 and 1; then
    quantile_0.1, above_400000, below_... and unfamiliar, if asked for. With --side the two parts
    are still those of the interval with both bounds. Columns that the model does not know are
    ignored.

    Of a model for classes: class, the classes of its set, p_ and the name of each class with its
    probability, the entropies aleatoric and epistemic in bits, and epistemic_share.
    """
    files.check_output(out, inputs=[model, data], table=True)
    asked = asked_of(separator, decimal, encoding)
    _questions(level, side, quantile, unfamiliar)  # refused before the work
    fitted = load_any(model)
    reading = read_for(data, asked, fitted)
    kept = kept_columns(fitted, reading, names_in(keep, reading.frame.columns), row_id)
    if is_classifier(fitted):
        refuse_for_classes(side=side != "both", quantile=quantile, above=above, below=below)
        table = class_table(fitted, features_in(fitted, reading), level, unfamiliar)
    else:
        values = _values(above, reading), _values(below, reading)
        questions = _questions(level, side, quantile, unfamiliar, *values)
        X = features_in(fitted, reading)
        table = _predict(fitted, X, groups_in(fitted, reading), questions)
    twice = next((column.name for column in kept if column.name in table.columns), None)
    if twice is not None:
        raise ValueError(f"The output has a column {twice!r} of its own; rename that of the data.")
    files.write_table(table.select(*kept, *table.columns), out)
    if out != STREAM:
        console.say(f"Wrote {out} ({table.height} rows).")


def _questions(
    levels: Sequence[float],
    side: str,
    quantiles: Sequence[float],
    unfamiliar: bool,
    above: dict[str, float | np.ndarray] | None = None,
    below: dict[str, float | np.ndarray] | None = None,
) -> Questions:
    from clearbands.questions import Questions

    return Questions(tuple(levels), side, tuple(quantiles), above or {}, below or {}, unfamiliar)


def _values(given: Sequence[str], reading: Reading) -> dict[str, float | np.ndarray]:
    """Each a number, or a column with one for every row."""
    found: dict[str, float | np.ndarray] = {}
    for name in given:
        try:
            found[name] = float(name)
        except ValueError:
            found[name] = take_target(reading, name, what="The column")
    return found


def _predict(
    model: ClearRegressor, X: pl.DataFrame, groups: np.ndarray | None, questions: Questions
) -> pl.DataFrame:
    import polars as pl

    from clearbands.predictions import predict

    tables = []
    with console.progress_bar() as progress:
        for start in range(0, X.height, ROWS_AT_ONCE):
            if progress is not None:
                progress("predicting", start, X.height)
            stop = start + ROWS_AT_ONCE
            labels = None if groups is None else groups[start:stop]
            rows = questions.rows(start, stop)
            tables.append(predict(model, X[start:stop], rows, labels).table())
    return pl.concat(tables)
