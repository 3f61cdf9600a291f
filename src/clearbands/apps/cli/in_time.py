"""Tables in the order of time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clearbands.apps.cli import console
from clearbands.apps.cli.models import origin_of
from clearbands.apps.reading.choosing import take_column
from clearbands.apps.reading.dates import read_dates
from clearbands.apps.reading.reading import Reading
from clearbands.rows.messages import row_name, rows_stand_as

if TYPE_CHECKING:
    from clearbands.regressor import ClearRegressor


def in_order(reading: Reading, column: str) -> Reading:
    """The table sorted by a column of dates, times or numbers, which is said where it was not."""
    import numpy as np
    import polars as pl

    times = take_column(reading.frame, column, reading.name)
    strays = reading.mended[column].strays if column in reading.mended else ()
    if strays:
        _refuse(column, strays[0].row, strays[0].value)
    if times.null_count():
        row = row_name(int(times.is_null().arg_true()[0]))
        raise ValueError(f"The time {column!r} is missing in {row}; remove such rows.")
    if times.dtype == pl.String:
        found = read_dates(times, reading.orders)  # a csv file has told
        if not found.is_convincing or found.strays or found.doubt:
            first = found.strays[0] if found.strays else None
            _refuse(column, first.row if first else 1, first.value if first else times[0])
        times = found.column
        reading = replace(reading, frame=reading.frame.with_columns(times))
    if not times.is_sorted():
        console.say(f"Sorted the rows by {column!r}.")
        order = np.argsort(times.to_physical().to_numpy(), kind="stable")
        rows_stand_as(order)
        return replace(reading, frame=reading.frame[order])
    return reading


def _refuse(column: str, row: int, value: str) -> None:
    raise ValueError(
        f"The time {column!r} holds {value!r} in row {row}; it must be dates such as 2026-01-31 or "
        "2026-01-31 13:45, or numbers."
    )


def time_of(model: ClearRegressor, given: str | None) -> str | None:
    """The column of times: as given, or else as the model knows it; None where nobody does."""
    origin = origin_of(model)
    return given or (origin.time if origin is not None else "") or None
