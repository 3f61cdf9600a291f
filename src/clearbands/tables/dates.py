"""The parts that people see in a date: the year, the season, the day of the week, the hour."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

DAY = 86_400
YEAR = 365.2425  # days


def _moments(seconds: np.ndarray) -> np.ndarray:
    return np.floor(seconds).astype(np.int64).astype("datetime64[s]")


def _year(seconds: np.ndarray) -> np.ndarray:
    return _moments(seconds).astype("datetime64[Y]").astype(np.int64) + 1970


def _month(seconds: np.ndarray) -> np.ndarray:
    return _moments(seconds).astype("datetime64[M]").astype(np.int64) % 12 + 1


def _weekday(seconds: np.ndarray) -> np.ndarray:
    return (np.floor(seconds / DAY).astype(np.int64) + 3) % 7  # 1970 began on a Thursday


def _hour(seconds: np.ndarray) -> np.ndarray:
    return np.floor(seconds / 3600).astype(np.int64) % 24


def _angle(seconds: np.ndarray) -> np.ndarray:
    moments = _moments(seconds)
    days = (moments - moments.astype("datetime64[Y]").astype("datetime64[s]")).astype(np.int64)
    return 2 * np.pi * days / DAY / YEAR


PARTS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = MappingProxyType(
    {
        "year": _year,
        "month": _month,
        "weekday": _weekday,
        "hour": _hour,
        "season_sin": lambda seconds: np.sin(_angle(seconds)),
        "season_cos": lambda seconds: np.cos(_angle(seconds)),
    }
)
"""The functions that turn seconds since 1970 into parts of a date. Monday is 0. The season is the
day of the year on a circle, where the last of December lies beside the first of January."""


@dataclass(frozen=True)
class DateParts:
    """The parts of a column of dates that vary among the rows of the fit.

    Examples
    --------
    >>> parts = DateParts.of(np.array([0.0, 3600.0, np.nan]))
    >>> parts.names, parts.block(np.array([7200.0])).tolist()
    (['hour'], [[2.0]])
    """

    names: list[str]
    usual: float  # the date that stands for a missing one

    @classmethod
    def of(cls, seconds: np.ndarray) -> DateParts:
        """Find the parts that vary among the dates of the fit, seconds in which NaN is missing."""
        known = seconds[~np.isnan(seconds)]
        parts = {name: read(known) for name, read in PARTS.items()}
        varying = [name for name, part in parts.items() if np.ptp(part) > 0]
        if "month" not in varying:  # within a month the season is the date itself
            varying = [name for name in varying if not name.startswith("season")]
        return cls(varying, float(np.median(known)))

    def block(self, seconds: np.ndarray) -> np.ndarray:
        """Return the parts (n, parts) of dates without gaps."""
        columns = [PARTS[name](seconds) for name in self.names]
        return np.column_stack([np.empty((len(seconds), 0)), *columns])
