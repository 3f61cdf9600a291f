"""Columns with which predictions rise or fall, other things being equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from clearbands.engine.quantiles import weighted_median

Monotone = Mapping[Any, int] | Sequence[int] | np.ndarray | None
"""Directions of columns, by name or number or as one for each column: predictions rise with a
column of 1 and fall with one of -1."""


def check_monotone(monotone: Monotone) -> None:
    """Raise for invalid directions, whatever the columns are."""
    if monotone is None:
        return
    if isinstance(monotone, str) or not isinstance(monotone, Mapping | Sequence | np.ndarray):
        raise ValueError(
            "monotone must be like {'size': 1, 'age': -1} or have one of -1, 0, 1 per column, "
            f"got {monotone!r}."
        )
    ways = monotone.items() if isinstance(monotone, Mapping) else enumerate(monotone)
    for column, way in ways:
        if isinstance(way, bool) or not isinstance(way, Integral) or way not in (-1, 0, 1):
            raise ValueError(
                "monotone takes 1 for a column to rise with, -1 to fall with and 0 for neither, "
                f"got {way!r} for column {column!r}."
            )


def check_groups_are_free(monotone: Monotone, calibration_groups: object) -> None:
    """Raise if a column of groups has a direction."""
    names = [calibration_groups] if isinstance(calibration_groups, str) else calibration_groups
    if (
        isinstance(names, list | tuple)
        and isinstance(monotone, Mapping)
        and any(isinstance(name, str) and monotone.get(name) for name in names)
    ):
        raise ValueError(
            f"calibration_groups={calibration_groups!r} have bounds of their own, so these "
            "cannot rise or fall with that column: leave it out of monotone, "
            "or of calibration_groups."
        )


def directions(monotone: Monotone, names: Sequence[Any]) -> np.ndarray | None:
    """Return the directions (columns,) of columns with these names, or None if all are free.

    The names of the columns of an array are their numbers.

    >>> directions({"size": 1, "age": -1}, ["age", "town", "size"])
    array([-1,  0,  1], dtype=int8)
    """
    if monotone is None:
        return None
    check_monotone(monotone)
    if not isinstance(monotone, Mapping):
        if len(monotone) != len(names):
            raise ValueError(
                f"monotone has {len(monotone)} directions, but X has {len(names)} columns: give "
                "one for each, or name the columns as in {'size': 1}."
            )
        ways = np.asarray(monotone, np.int8)
    else:
        unknown = [column for column in monotone if column not in names]
        if unknown:
            known = ", ".join(map(str, names))
            raise ValueError(f"monotone names {unknown[0]!r}, but the columns of X are {known}.")
        ways = np.array([monotone.get(name, 0) for name in names], np.int8)
    return ways if ways.any() else None


def directions_of(model: Any) -> dict[str, int]:
    """Return the columns with which a fitted model must rise (1) or fall (-1)."""
    names = list(getattr(model, "feature_names_in_", range(model.n_features_in_)))
    ways = directions(getattr(model, "monotone", None), names)
    if ways is None:
        return {}
    by_name = zip(names, ways.tolist(), strict=True)
    return {f"x{name}" if isinstance(name, int) else str(name): way for name, way in by_name if way}


@dataclass(frozen=True)
class FixedColumns:
    """Columns that are held at one value each, so that predictions do not depend on them.

    >>> FixedColumns(np.array([1]), np.array([5.0])).apply(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[1., 5.],
           [3., 5.]])
    """

    columns: np.ndarray  # (c,): the numbers of the columns
    values: np.ndarray  # (c,)

    @classmethod
    def at_medians(
        cls, X: np.ndarray, direction: np.ndarray, weight: np.ndarray | None
    ) -> FixedColumns:
        """Hold all columns that have a direction at their medians over the rows."""
        columns = np.flatnonzero(direction)
        return cls(columns, np.array([weighted_median(X[:, j], weight) for j in columns]))

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Return a copy of the rows in which these columns do not vary."""
        held = np.array(X, subok=True)
        held[:, self.columns] = self.values
        return held
