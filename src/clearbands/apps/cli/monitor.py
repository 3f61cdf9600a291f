"""clearbands monitor"""

from __future__ import annotations

from typing import Annotated

import typer

from clearbands.apps.cli import console
from clearbands.apps.cli.command import typed_command
from clearbands.apps.cli.opened import ModelAndTable
from clearbands.apps.cli.options import (
    Data,
    KnownTarget,
    KnownTime,
    Model,
    PageOut,
    TextFile,
    option,
)
from clearbands.apps.reading import files
from clearbands.rows import display


def monitor(
    ctx: typer.Context,
    model: Model,
    data: Data,
    out: PageOut,
    text: TextFile,
    target: KnownTarget = None,
    time: KnownTime = None,
    stretch: Annotated[
        int | None,
        option(
            "How many rows each point of a curve looks back over; by default a twentieth of all.",
            "N",
            min=10,
        ),
    ] = None,
) -> None:
    """Draw how a model fares as time goes on, on rows whose true values are known.

    The page has rolling coverage with and without updates, the width in two layers, unfamiliar
    rows and drift. Without --time the rows count as they stand. The model is not changed.
    """
    files.check_output(out, inputs=[model, data])
    rows, column = ModelAndTable.from_files(model, data, text).in_time(time)
    times = None
    if column:
        from clearbands.rows.time_order import check_time

        times = check_time(rows.reading.frame[column].to_numpy(), rows.reading.frame.height)
    y = rows.y(target)
    n_seen = rows.count_seen(y)
    from clearbands.apps.report.over_time import make_monitor, measure_history

    with console.working("Drawing"):
        history = measure_history(
            rows.model,
            rows.X,
            y,
            times=times,
            calibration_groups=rows.groups,
            stretch=stretch,
        )
        page = make_monitor(
            history,
            target=rows.target(target),
            unit=rows.origin.unit,
            n_seen=n_seen,
            origin={
                "Command": typed_command(ctx),
                "Data": rows.reading.fingerprint,
                "Model file": files.fingerprint(model),
            },
        )
        page.save(out)
    if history.advice is not None:
        console.print_error(f"Warning: {history.advice}")
    console.print_line(f"Wrote {out} ({display.count(len(y), 'row')} in the order of time).")
