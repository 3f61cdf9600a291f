"""The reasons why intervals are wide, and a comparison with one constant width."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from clearbands.apps.report.facts import Facts
from clearbands.calibration.conformal import order_statistic
from clearbands.diagnostics.coverage import equal_count_bins
from clearbands.metrics import interval_score
from clearbands.rows.bands import covered, make_interval
from clearbands.rows.display import count, number
from clearbands.tables.columns import Column

MOST_PANELS = 4
MOST_BINS = 6
ROWS_PER_BIN = 5
MOST_NAMED = 8


Layers: TypeAlias = tuple[str, int, list[float]]
"""The label of some rows, their number, and the mean of the two parts of their widths."""


def quartiles(facts: Facts) -> str:
    """Return the widths between which the middle half of the rows lies."""
    low, high = np.quantile(facts.widths.sum(axis=1), [0.25, 0.75])
    return f"{number(low)} to {number(high)}"


def panels(facts: Facts) -> dict[str, list[Layers]]:
    """Return the mean widths in their two parts along the most important features."""
    n_bins = int(np.clip(len(facts.widths) // ROWS_PER_BIN, 1, MOST_BINS))
    return {
        column.name: layers_of(_divide(column, n_bins, facts.widths[:, 1]), facts.widths)
        for column in facts.important_columns(MOST_PANELS)
    }


def layers_of(divided: Iterable[tuple[str, np.ndarray]], widths: np.ndarray) -> list[Layers]:
    """Return the layers of `divided`, pairs of a label and its rows as booleans."""
    return [(label, int(rows.sum()), widths[rows].mean(axis=0).tolist()) for label, rows in divided]


def longest(layers: Iterable[Layers]) -> float:
    """Return the width that a whole bar stands for."""
    return max((sum(mean) for _, _, mean in layers), default=0) or 1.0


def _divide(column: Column, n_bins: int, ignorance: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Divide the rows (booleans) by ranges of numbers or by category, with missing ones last."""
    missing = column.is_missing
    if column.is_text:
        bins = _categories(column, missing, ignorance)
    else:
        bins = _ranges(column, missing, n_bins)
    return [*bins, ("missing", missing)] if missing.any() else bins


def _ranges(column: Column, missing: np.ndarray, n_bins: int) -> list[tuple[str, np.ndarray]]:
    values = column.values[~missing]
    if len(values) == 0:
        return []
    where = np.full(len(missing), -1)
    where[~missing] = equal_count_bins(values, n_bins)
    ranges = []
    for j in range(where.max() + 1):
        low, high = column.values[where == j].min(), column.values[where == j].max()
        words = column.in_words(low)
        ranges.append((words if low == high else f"{words} to {column.in_words(high)}", where == j))
    return ranges


def _categories(
    column: Column, missing: np.ndarray, ignorance: np.ndarray
) -> list[tuple[str, np.ndarray]]:
    """Divide by the most frequent categories or, of many, those with the most ignorance."""
    labels, place, counts = np.unique(
        column.values[~missing].astype(str), return_inverse=True, return_counts=True
    )
    rank = counts.astype(float)
    if len(labels) > MOST_NAMED:
        rank = np.bincount(place, ignorance[~missing], len(labels)) / counts
    named = labels[np.argsort(-rank, kind="stable")[:MOST_NAMED]]
    categories = [(str(label), column.values == label) for label in named]
    others = ~missing & ~np.isin(column.values.astype(str), named)
    if others.any():
        categories.append((count(len(labels) - len(named), "other value"), others))
    return categories


def rows_shuffled(facts: Facts) -> str:
    """Say how many of the rows the importances come from."""
    used = facts.importance[0].n_rows if facts.importance else 0
    if used == len(facts.y):
        return f"all {count(used)}"
    return f"{used:,} of the {count(len(facts.y))}, drawn at random to bound the work"


def errors(facts: Facts) -> dict[str, float | None]:
    """Return the errors of the center on these rows; R² is None where all true values are equal."""
    off, variance = facts.y - facts.parts.center, float(np.var(facts.y))
    mse = float(np.mean(off**2))
    r2 = 1 - mse / variance if variance > 0 else None
    return {"mae": float(np.mean(np.abs(off))), "rmse": mse**0.5, "r2": r2}


def own_widths(facts: Facts) -> dict[str, float]:
    """Return the mean width, the covered rows and the interval score of the model."""
    return _widths(facts, facts.widths.sum(axis=1), facts.interval)


def constant_width(facts: Facts) -> dict[str, float]:
    """Return the same numbers for one width, the least that covers as many rows as the model's.

    It is chosen in hindsight, which favours it: no method could have known it beforehand.
    """
    n_covered = int(np.sum(facts.inside))
    off = np.abs(facts.y - facts.parts.center)
    half = order_statistic(off, n_covered) if n_covered else 0.0
    both = np.full((len(off), 2), half)
    return _widths(facts, both.sum(axis=1), make_interval(facts.parts.center, both))


def _widths(facts: Facts, widths: np.ndarray, interval: np.ndarray) -> dict[str, float]:
    return {
        "mean": float(np.mean(widths)),
        "n_covered": int(np.sum(covered(facts.y, interval))),
        "interval_score": interval_score(facts.y, interval, facts.confidence_level),
    }
