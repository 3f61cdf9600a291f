"""clearbands update"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from clearbands.apps.cli import console
from clearbands.apps.cli.opened import ModelAndTable
from clearbands.apps.cli.options import Data, KnownTarget, KnownTime, Model, TextFile, option
from clearbands.apps.reading import files
from clearbands.rows import display


def update(
    model: Model,
    data: Data,
    text: TextFile,
    target: KnownTarget = None,
    time: KnownTime = None,
    window: Annotated[
        int | None, option("How many of the last rows calibrate; by default 1000.", "N", min=1)
    ] = None,
    rate: Annotated[
        float | None,
        option(
            "How far one row moves the share of its side; by default a twentieth of that share.",
            "NUMBER",
        ),
    ] = None,
    lead: Annotated[
        int | None,
        option(
            "How many rows pass until a true value is known; by default the gap plus 1.", "N", min=1
        ),
    ] = None,
    out: Annotated[
        Path | None, option("Write another model file; by default MODEL itself.", "FILE")
    ] = None,
) -> None:
    """Go on calibrating with rows whose true values have become known, in the order of time.

    Intervals follow the last rows, and their level adapts until it is met. Nothing is fitted
    again; a line says when that would be better. The file is written anew, whole or not at all.
    """
    from clearbands.persistence.model_file import save

    files.check_output(out or model, inputs=[data])
    rows, column = ModelAndTable.from_files(model, data, text).in_time(time)
    labels: dict[str, Any] = {"calibration_groups": rows.groups}
    if column:
        labels["time"] = rows.reading.frame[column].to_numpy()
    y = rows.y(target)
    rows.count_seen(y)
    rows.model.update(rows.X, y, window=window, rate=rate, lead=lead, **labels)
    save(rows.model, out or model)
    console.show_updates(rows.model, f"{console.title_of(data)}, {display.count(len(y), 'row')}")
    console.print_line(f"Wrote {out or model}.")
