"""Tables in the order of time."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from clearbands.apps.cli import console
from clearbands.apps.cli.models import origin_of
from clearbands.apps.reading.choosing import take_column
from clearbands.apps.reading.reading import Reading, as_dates

if TYPE_CHECKING:
    import polars as pl

    from clearbands.regressor import ClearRegressor


def in_order(reading: Reading, column: str) -> Reading:
    """The table sorted by a column of dates, times or numbers, which is said where it was not."""
    import polars as pl

    times = take_column(reading.frame, column, reading.name)
    if times.null_count():
        row = int(times.is_null().arg_true()[0]) + 1
        raise ValueError(f"The time {column!r} is missing in row {row}; remove such rows.")
    if times.dtype == pl.String:
        times = as_dates(times)  # a csv file would have told
        reading = replace(reading, frame=reading.frame.with_columns(times))
    if times.dtype == pl.String:
        raise ValueError(
            f"The time {column!r} holds text such as {_no_date(times)!r}; it must be dates such as "
            "2026-01-31 or 2026-01-31 13:45, or numbers."
        )
    if not times.is_sorted():
        console.say(f"Sorted the rows by {column!r}.")
        return replace(reading, frame=reading.frame.sort(column, maintain_order=True))
    return reading


def _no_date(texts: pl.Series) -> str:
    """The first that is not a date; the first of all where each is one, written in several ways."""
    return next((text for text in texts.drop_nulls() if not _is_date(text)), texts.drop_nulls()[0])


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def time_of(model: ClearRegressor, given: str | None) -> str | None:
    """The column of times: as given, or else as the model knows it; None where nobody does."""
    origin = origin_of(model)
    return given or (origin.time if origin is not None else "") or None
