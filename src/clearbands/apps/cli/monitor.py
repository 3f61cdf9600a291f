"""clearbands monitor"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clearbands.apps.cli import console
from clearbands.apps.cli.command import as_typed
from clearbands.apps.cli.in_time import in_order, time_of
from clearbands.apps.cli.models import (
    count_seen,
    features_in,
    groups_in,
    load_model,
    origin_of,
    read_for,
    target_of,
)
from clearbands.apps.cli.options import (
    Data,
    Decimal,
    Encoding,
    KnownTarget,
    KnownTime,
    Model,
    Separator,
    asked_of,
)
from clearbands.apps.reading import files
from clearbands.apps.reading.choosing import take_target


def monitor(
    ctx: typer.Context,
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page, a .html file.")],
    target: KnownTarget = None,
    time: KnownTime = None,
    stretch: Annotated[
        int | None,
        typer.Option(
            "--stretch",
            min=10,
            metavar="N",
            help="Rows that each point looks back over; by default a twentieth of them.",
        ),
    ] = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Draw how a model fares as time goes on, on rows whose true values are known.

    The page has rolling coverage with and without updates, the width in two layers, unfamiliar
    rows and drift. Without --time the rows count as they stand. The model is not changed.
    """
    files.check_output(out, inputs=[model, data])
    asked = asked_of(separator, decimal, encoding)
    fitted = load_model(model)
    reading = read_for(data, asked, fitted)
    column, times = time_of(fitted, time), None
    if column is not None:
        from clearbands.rows.time_order import check_time

        reading = in_order(reading, column)
        times = check_time(reading.frame[column].to_numpy(), reading.frame.height)
    name = target_of(fitted, target)
    y, X = take_target(reading, name), features_in(fitted, reading)
    seen = count_seen(fitted, X, y)
    from clearbands.apps.report.monitor import make_monitor
    from clearbands.apps.report.watch import watch

    origin = origin_of(fitted)
    with console.working("Drawing"):
        labels = groups_in(fitted, reading)
        watched = watch(fitted, X, y, times=times, calibration_groups=labels, stretch=stretch)
        page = make_monitor(
            watched,
            target=name,
            unit="" if origin is None else origin.unit,
            n_seen=seen,
            origin={
                "Command": as_typed(ctx),
                "Data": reading.fingerprint,
                "Model file": files.fingerprint(model),
            },
        )
        page.save(out)
    if watched.advice is not None:
        console.complain(f"Warning: {watched.advice}")
    console.say(f"Wrote {out} ({console.count(len(y), 'row')} in the order of time).")
