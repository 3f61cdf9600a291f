"""clearbands predict"""

from __future__ import annotations

from typing import Annotated

import typer

from clearbands.apps.cli import console
from clearbands.apps.cli.class_target import is_classifier
from clearbands.apps.cli.classes import refuse_for_classes
from clearbands.apps.cli.models import load_any, read_for
from clearbands.apps.cli.options import (
    Data,
    Decimal,
    Encoding,
    Engine,
    Jobs,
    Keep,
    KnownId,
    Model,
    NoFormulas,
    Scheduler,
    Separator,
    TableOut,
    Work,
    asked_of,
    engine_of,
    refuse_engine,
)
from clearbands.apps.reading import files
from clearbands.apps.reading.formats import STREAM
from clearbands.engine.progress import listening


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
    tails: Annotated[
        str | None,
        typer.Option(
            "--tails",
            metavar="BELOW:ABOVE",
            help="Shares of targets below and above, such as 0.02:0.08, instead of a level.",
        ),
    ] = None,
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
    keep: Keep = [],  # noqa: B006
    no_formulas: NoFormulas = False,
    row_id: KnownId = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    jobs: Jobs = None,
    engine: Engine = None,
    scheduler: Scheduler = None,
    work: Work = None,
) -> None:
    """Write the prediction, its bounds and why they are wide for every row.

    The columns are those of predict_frame: prediction; lower_90 and upper_90, a pair for every
    level; at the first level the widths aleatoric and epistemic, epistemic_share between 0 and 1,
    and dominant (noise, ignorance or unclear); unfamiliar, whether the row is unlike those of the
    fit. Then come quantile_0.1, above_400000 and below_..., if asked for. With --side the two parts
    are still those of the interval with both bounds. Columns that the model does not know are
    ignored. Parquet files are read piece by piece: the table may be larger than memory.

    A model for classes gives prediction; set_90, the classes of the set; p_ and the name of each
    class with its probability; the entropies aleatoric and epistemic in bits, epistemic_share,
    dominant and unfamiliar.
    """
    from clearbands.apps.cli.predict_files import predict_files, table_in_files
    from clearbands.apps.cli.predicting import Wanted

    files.check_output(out, inputs=[model, data], table=True)
    asked = asked_of(separator, decimal, encoding)
    wanted = Wanted(
        tuple(level),
        side,
        tuple(quantile),
        tuple(above),
        tuple(below),
        tuple(keep),
        row_id,
        tails,
    )
    fitted = load_any(model)
    if is_classifier(fitted):
        refuse_for_classes(
            side=side != "both", tails=tails, quantile=quantile, above=above, below=below
        )
    table_on_disk = table_in_files(data, fitted)
    if table_on_disk is not None:
        workers = engine_of(engine, scheduler, jobs)
        predict_files(model, wanted, table_on_disk, out, workers, work, no_formulas=no_formulas)
        n_rows = table_on_disk.n_rows
    else:
        refuse_engine(engine, scheduler, work)
        reading = read_for(data, asked, fitted)
        with console.progress_bar() as progress, listening(progress):
            table = wanted.table(fitted, reading)
            files.write_table(table, out, no_formulas=no_formulas)
        n_rows = reading.frame.height
    if out != STREAM:
        console.say(f"Wrote {out} ({n_rows} rows).")
