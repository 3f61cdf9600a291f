"""Remarks of the commands about a table to learn from: its target and its copies."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

import numpy as np

from clearbands.apps.reading.choosing import holds_classes, take_classes, take_target
from clearbands.rows.display import count, first_of

if TYPE_CHECKING:
    import polars as pl

    from clearbands.apps.reading.reading import Reading

MOST_NAMED = 6  # the most classes in one line
FEW = 10  # the most different whole numbers that may be classes
FEWEST = 20  # the fewest rows whose order says something
GLANCE = 500  # the number of rows that tell most columns from the target
SAME_ORDER = 0.999  # Spearman's correlation if nearly all rows have the order of the target
MOST_ROWS = 200_000  # the most rows that are compared before a fit; more would take seconds


def read_target(reading: Reading, target: str, task: str | None) -> np.ndarray:
    """Return the target: floats, or classes as texts or whole numbers, as asked or as it looks."""
    classes = holds_classes(reading, target) if task is None else task == "classification"
    return take_classes(reading, target) if classes else take_target(reading, target)


def is_classes(y: np.ndarray) -> bool:
    """Whether a target that `read_target` returned holds classes."""
    return y.dtype.kind != "f"


def describe_target(target: str, y: np.ndarray, task: str | None) -> str:
    """Say what the target holds, and which option reads it otherwise; "" if nothing is unclear."""
    if not is_classes(y):
        return _describe_whole_numbers(target, y) if task is None else ""
    names, counts = np.unique(y, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    listed = first_of([f"{names[i]!s} ({counts[i]:,})" for i in order], MOST_NAMED)
    is_text = y.dtype.kind == "U" and not set(names.tolist()) <= {"true", "false"}
    way_out = (
        "" if task is not None or is_text else "; --task regression predicts intervals instead"
    )
    classes = count(len(names), "class", "classes")
    return f"The target {target!r} holds {classes}: {listed}{way_out}."


def _describe_whole_numbers(target: str, y: np.ndarray) -> str:
    """Say how to predict classes if the target holds a few whole numbers, or else ""."""
    values = np.unique(y)
    if not 2 < len(values) <= FEW or 2 * len(values) > len(y) or (values != np.rint(values)).any():
        return ""
    return (
        f"The target {target!r} holds {len(values)} whole numbers, {values[0]:g} to {values[-1]:g}"
        ", and is predicted as a number; --task classification predicts classes instead."
    )


def leak_warnings(X: pl.DataFrame, y: np.ndarray) -> list[str]:
    """Return a sentence for every column of numbers that gives the target away, or nearly."""
    return [
        f"Column {column.name!r} sorts the rows as the target does. If its values are known only "
        f"after the target, leave it out (--drop {quote(column.name)})."
        for column in X.iter_columns()
        if column.dtype.is_numeric() and _is_in_order(column.to_numpy().astype(float), y)
    ]


def _is_in_order(values: np.ndarray, y: np.ndarray) -> bool:
    """Whether two columns have one order by Spearman's correlation, judged on few rows first."""
    from clearbands.diagnostics.dependence import rank_correlation

    there = np.flatnonzero(np.isfinite(values))
    if 2 * len(there) < len(y):
        return False
    for rows in (there[:: 1 + len(there) // GLANCE], there[:MOST_ROWS]):
        if len(rows) < FEWEST or np.ptp(values[rows]) == 0 or np.ptp(y[rows]) == 0:
            return False
        if abs(rank_correlation(values[rows], y[rows])) < SAME_ORDER:
            return False
    return True


def copies_warning(X: pl.DataFrame, y: np.ndarray, *, in_fit: bool) -> str | None:
    """Return a sentence about copies; None if there are none, or if `fit` warns of them itself."""
    from clearbands.rows.copies import MANY_COPIES, count_copies
    from clearbands.tables.encoder import TableEncoder

    n = len(y)
    if n > MOST_ROWS:
        return None
    n_copies = count_copies(np.asarray(TableEncoder().fit_transform(X), float), y)
    if n_copies == 0 or (in_fit and n_copies > MANY_COPIES * n):
        return None
    return (
        f"{n_copies:,} of {n:,} rows have a copy among the others, with the same columns and the "
        "same target. If these are the same observations, drop the copies; if they belong "
        "together (visits of one patient, rooms of one house), name the column that says so with "
        "--groups COLUMN."
    )
