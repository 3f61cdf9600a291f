"""What happened lately counts more."""

from __future__ import annotations

import datetime as dt
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clearbands.rows.checks import check_count
from clearbands.rows.row_numbers import row_name
from clearbands.rows.time_order import as_moments


def recency_weights(time: ArrayLike | None, half_life: Any) -> np.ndarray:
    """(n,): 1 for the latest row, 1/2 for one that is a half-life older, 1/4 for one of two.

    `time` (n,) are numbers, dates or times of the rows, in any order; or how many rows there are,
    the oldest first, and then the half-life is counted in rows. `half_life` is in the unit of
    `time`, of dates a number of days or a timedelta. Give the weights as `sample_weight` (what is
    learned), as `calibration_weight` (how wide intervals are), or as both.

    Examples
    --------
    >>> from clearbands import recency_weights
    >>> recency_weights(4, half_life=1)
    array([0.125, 0.25 , 0.5  , 1.   ])
    >>> recency_weights(["2026-01-31", "2025-12-02"], half_life=30)
    array([1.  , 0.25])
    """
    if isinstance(time, Integral) and not isinstance(time, bool):
        check_count(time, "time, as a number of rows,")
        time = np.arange(int(time))
    moments = as_moments(time)
    if moments.ndim != 1 or len(moments) == 0:
        raise ValueError(f"time must have shape (n,), one per row; got {moments.shape}.")
    unknown = np.isnat(moments) if moments.dtype.kind == "M" else ~np.isfinite(moments)
    if unknown.any():
        row = row_name(int(np.argmax(unknown)))
        raise ValueError(f"time is missing in {row}; drop such rows.")
    if moments.dtype.kind == "M":
        age = (moments.max() - moments) / np.timedelta64(1, "D")
        half_life = _in_days(half_life)
    else:
        age = moments.max() - moments
    if not isinstance(half_life, Real) or not 0 < float(half_life) < np.inf:
        raise ValueError(f"half_life must be a number above 0, or a timedelta, got {half_life!r}.")
    return 0.5 ** (age / float(half_life))


def _in_days(half_life: Any) -> Any:
    if isinstance(half_life, dt.timedelta):
        return half_life / dt.timedelta(days=1)
    if isinstance(half_life, np.timedelta64):
        return half_life / np.timedelta64(1, "D")
    return half_life
