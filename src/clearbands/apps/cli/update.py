"""clearbands update"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from clearbands.apps.cli import console
from clearbands.apps.cli.in_time import in_order, time_of
from clearbands.apps.cli.models import (
    count_seen,
    features_in,
    groups_in,
    load_model,
    read_for,
    target_of,
)
from clearbands.apps.cli.options import (
    Data,
    Decimal,
    Encoding,
    KnownTarget,
    KnownTime,
    Lead,
    Model,
    Rate,
    Separator,
    Window,
    asked_of,
)
from clearbands.apps.reading import files
from clearbands.apps.reading.choosing import take_target


def update(
    model: Model,
    data: Data,
    target: KnownTarget = None,
    time: KnownTime = None,
    window: Window = None,
    rate: Rate = None,
    lead: Lead = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="Write another model file; by default MODEL itself."
        ),
    ] = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Calibrate on with rows whose true values have become known, in the order of time.

    Intervals follow the last rows, and their level adapts until it is met. Nothing is fitted
    again; it is said when that would be better. The file is written anew, whole or not at all.
    """
    from clearbands.persistence.model_file import save

    files.check_output(out or model, inputs=[data])
    asked = asked_of(separator, decimal, encoding)
    fitted = load_model(model)
    reading = read_for(data, asked, fitted)
    labels: dict[str, Any] = {}
    column = time_of(fitted, time)
    if column is not None:
        reading = in_order(reading, column)
        labels["time"] = reading.frame[column].to_numpy()
    y = take_target(reading, target_of(fitted, target))
    X = features_in(fitted, reading)
    count_seen(fitted, X, y)
    fitted.update(
        X,
        y,
        calibration_groups=groups_in(fitted, reading),
        window=window,
        rate=rate,
        lead=lead,
        **labels,
    )
    save(fitted, out or model)
    console.show_updates(fitted, f"{console.title_of(data)}, {console.count(len(y), 'row')}")
    console.say(f"Wrote {out or model}.")
