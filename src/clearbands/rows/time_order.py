"""Rows in the order of time: checks of times, and blocks that earlier rows judge.

Every row has a place: 0 for the first moment, 1 for the next, and so on. Rows of one moment have
the same place. A model that judges a row has seen only rows whose place is smaller by more than
`gap`.
"""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from clearbands.rows.messages import row_name, warn

FIRST_SHARE = 0.25
"""The share of the moments that only train. Models of much fewer rows would tell little about the
last model."""

N_BLOCKS = 5
"""The number of blocks of the other moments. A model of earlier rows judges each block."""

LONG_STEP = 5  # in usual steps; with 5, a weekend and two holidays give no warning


class TimeOrderWarning(UserWarning):
    """The times look as if rows were repeated or missing.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     _ = check_time([1, 2, 3, 4, 4], 5)
    >>> told[0].category.__name__
    'TimeOrderWarning'
    """


def check_time(time: ArrayLike | None, n: int) -> np.ndarray:
    """Return the times (n,) of rows, as numbers or as moments in UTC; raise if they fall.

    >>> check_time(["2026-01-01", "2026-01-02T12:00"], 2)
    array(['2026-01-01T00:00:00.000000', '2026-01-02T12:00:00.000000'],
          dtype='datetime64[us]')
    """
    times = as_moments(time)
    if times.shape != (n,):
        raise ValueError(f"time must have shape ({n},), one per row; got {times.shape}.")
    unknown = np.isnat(times) if times.dtype.kind == "M" else ~np.isfinite(times)
    if unknown.any():
        missing = row_name(int(np.argmax(unknown)))
        raise ValueError(f"time is missing in {missing}; drop such rows.")
    steps = np.diff(times)
    falls = steps < np.zeros(1, steps.dtype)
    if falls.any():
        row = int(np.argmax(falls)) + 1
        raise ValueError(
            f"time must not fall, but {row_name(row)}, {show_time(times[row])}, comes after "
            f"{show_time(times[row - 1])}: sort the rows by time."
        )
    _warn_of_repeats(steps, n)
    _warn_of_gaps(times, steps)
    return times


def check_later(times: np.ndarray, last: Any, first: Any = None) -> None:
    """Raise unless all times are after `last`; `first`, the oldest that counts, is for messages."""
    if times.dtype.kind != np.asarray(last).dtype.kind:
        kinds = {True: "moments", False: "numbers"}
        raise ValueError(
            f"time holds {kinds[times.dtype.kind == 'M']}, but the model knows its rows by "
            f"{kinds[times.dtype.kind != 'M']} such as {show_time(last)}: give the same."
        )
    if times[0] > last:
        return
    if first is not None and times[0] < first:
        raise ValueError(
            f"Row 0 is of {show_time(times[0])}, before the window of rows that calibrate, which "
            f"reaches from {show_time(first)} to {show_time(last)}: leave such rows out."
        )
    raise ValueError(
        f"Row 0 is of {show_time(times[0])}, not after {show_time(last)}, up to which the model "
        "knows its rows: give every row once, in the order of time."
    )


def show_time(time: Any) -> str:
    """Write a moment without trailing zeros.

    >>> show_time(np.datetime64("2026-01-02T12:30:00.000000")), show_time(7.0)
    ('2026-01-02 12:30', '7')
    """
    if not isinstance(time, np.datetime64):
        return f"{float(time):.15g}"
    text = str(time.astype("datetime64[us]")).replace("T", " ")
    for nothing in (".000000", ":00", " 00:00"):
        text = text.removesuffix(nothing)
    return text


def as_moments(time: ArrayLike | None) -> np.ndarray:
    """Return times as floats if they are numbers, otherwise as moments in UTC."""
    values = np.asarray(time)
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    if values.dtype.kind == "O":
        values = np.array([_in_utc(value) for value in values.ravel()], dtype=object)
    try:
        return values.astype("datetime64[us]")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"time must be numbers, dates or times, got {str(values.ravel()[0])!r}."
        ) from error


def _in_utc(value: Any) -> Any:
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.astimezone(dt.UTC).replace(tzinfo=None)
    return value


def _warn_of_repeats(steps: np.ndarray, n: int) -> None:
    """Warn of repeated times, unless there are many: then rows are of several shops or patients."""
    n_repeats = int(np.count_nonzero(steps == np.zeros(1, steps.dtype)))
    if 0 < n_repeats < n / 4:
        warn(
            f"{n_repeats} of {n} rows have the time of the row before them; if they are repeats, "
            "drop them. Rows of one time are kept together.",
            TimeOrderWarning,
        )


def _warn_of_gaps(times: np.ndarray, steps: np.ndarray) -> None:
    moved = steps[steps > np.zeros(1, steps.dtype)]
    if len(moved) == 0:
        return
    usual = np.sort(moved)[len(moved) // 2]
    n_long = int(np.count_nonzero(steps > LONG_STEP * usual))
    if 0 < n_long < len(moved) / 20:
        row = int(np.argmax(steps))
        warn(
            f"time has {n_long} step(s) more than {LONG_STEP} times as long as usual, the longest "
            f"after {show_time(times[row])}: lags that count rows reach further back there.",
            TimeOrderWarning,
        )


def time_ranks(n: int, time: np.ndarray | None = None) -> np.ndarray:
    """Return the place (n,) of each row's moment; without times every row has its own.

    >>> time_ranks(4, np.array([0.5, 2, 2, 7])).tolist()
    [0, 1, 1, 2]
    """
    return np.arange(n) if time is None else np.unique(time, return_inverse=True)[1]


class TimeBlock(NamedTuple):
    """A block of rows, and the rows that are earlier by more than the gap."""

    past: np.ndarray
    block: np.ndarray


def time_blocks(place: np.ndarray, gap: int) -> list[TimeBlock]:
    """Divide the moments after the first ones into blocks of about equally many, in their order.

    `place` (n,) may have holes if only some rows take part; the gap counts them.

    >>> [(len(stage.past), len(stage.block)) for stage in time_blocks(np.arange(100), gap=2)]
    [(23, 15), (38, 16), (54, 14), (68, 15), (83, 15)]
    """
    moments = np.unique(place)
    n = len(moments)
    ends = [ceil(n * (FIRST_SHARE + (1 - FIRST_SHARE) * k / N_BLOCKS)) for k in range(N_BLOCKS + 1)]
    blocks = []
    for start, end in pairwise(ends):
        if start >= end:
            continue
        block = np.flatnonzero((moments[start] <= place) & (place <= moments[end - 1]))
        past = np.flatnonzero(place < moments[start] - gap)
        if len(past) >= 2:
            blocks.append(TimeBlock(past, block))
    if not blocks:
        raise ValueError(
            f"n_samples={len(place)} rows at {n} moment(s) leave no row that earlier rows could "
            f"judge with gap={gap}: give more rows, or a smaller gap."
        )
    return blocks
