"""Why intervals are wide, and what their widths are worth beside one constant width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clearbands.apps.report.facts import Facts
from clearbands.calibration.conformal import order_statistic
from clearbands.diagnostics.coverage import equal_count_bins
from clearbands.metrics import interval_score
from clearbands.rows.bands import covered, make_interval
from clearbands.rows.display import count, number, percent
from clearbands.tables.columns import Column

MOST_PANELS = 4
MOST_BINS = 6
ROWS_PER_BIN = 5
MOST_NAMED = 8


@dataclass(frozen=True)
class Layers:
    """A width in its two parts, as a bar."""

    label: str
    n: int
    total: str
    share: str
    aleatoric: float  # percent of the longest bar
    epistemic: float


@dataclass(frozen=True)
class Panel:
    """How wide intervals are along one feature."""

    name: str
    layers: Sequence[Layers]


@dataclass(frozen=True)
class Bar:
    label: str
    values: Sequence[str]
    lengths: Sequence[float]  # percent
    is_marked: bool = False


def quartiles(facts: Facts) -> str:
    """Between which widths the middle half of the rows lies."""
    low, high = np.quantile(facts.widths.sum(axis=1), [0.25, 0.75])
    return f"{number(low)} to {number(high)}"


def panels(facts: Facts) -> list[Panel]:
    """Mean widths in their two parts along the most important features, on one scale."""
    widths = facts.widths
    n_bins = int(np.clip(len(widths) // ROWS_PER_BIN, 1, MOST_BINS))
    important = facts.important_columns(MOST_PANELS)
    divided = [(column.name, _divide(column, n_bins, widths[:, 1])) for column in important]
    means = [
        [(label, int(rows.sum()), widths[rows].mean(axis=0)) for label, rows in bins]
        for _, bins in divided
    ]
    longest = max((float(mean.sum()) for bins in means for _, _, mean in bins), default=0) or 1.0
    return [
        Panel(name, [layers_of(*each, longest) for each in bins])
        for (name, _), bins in zip(divided, means, strict=True)
    ]


def layers_of(label: str, n: int, mean: np.ndarray, longest: float) -> Layers:
    aleatoric, epistemic = mean.tolist()
    total = aleatoric + epistemic
    share = percent(epistemic / total) if total > 0 else "–"
    lengths = (round(100 * part / longest, 2) for part in (aleatoric, epistemic))
    return Layers(label, n, number(total), share, *lengths)


def _divide(column: Column, n_bins: int, ignorance: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """The rows (booleans) by ranges of numbers or by category, missing ones last."""
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
    """The most frequent by name; of many, those with the most ignorance. The others together."""
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
    """How many of the rows the importances come from."""
    used = facts.importance[0].n_rows if facts.importance else 0
    if used == len(facts.y):
        return f"all {count(used)}"
    return f"{used:,} of the {count(len(facts.y))}, drawn at random to bound the work"


def importances(facts: Facts) -> list[Bar]:
    """What shuffling does to the center and to both parts of the width, per feature."""
    listed = facts.importance[:MOST_NAMED]
    error = max([each.center for each in listed] + [0.0]) or 1.0
    part = max([max(each.aleatoric, each.epistemic) for each in listed] + [0.0]) or 1.0
    return [
        Bar(
            each.name,
            (
                f"{_signed(100 * each.center)} %",
                f"{100 * each.aleatoric:.0f} %",
                f"{100 * each.epistemic:.0f} %",
            ),
            tuple(
                round(100 * max(value, 0) / most, 1)
                for value, most in (
                    (each.center, error),
                    (each.aleatoric, part),
                    (each.epistemic, part),
                )
            ),
        )
        for each in listed
    ]


def _signed(value: float) -> str:
    text = f"{value:+.0f}"
    return "0" if text in ("+0", "-0") else text.replace("-", "−")


@dataclass(frozen=True)
class Errors:
    """Of the prediction alone."""

    mae: float
    rmse: float
    r2: float | None  # None where all true values are equal


@dataclass(frozen=True)
class Widths:
    """Of one kind of interval around the same predictions."""

    mean: float
    n_covered: int
    interval_score: float


def errors(facts: Facts) -> Errors:
    """Of the report's own rows."""
    off = facts.y - facts.parts.center
    variance = float(np.var(facts.y))
    mse = float(np.mean(off**2))
    return Errors(
        float(np.mean(np.abs(off))), mse**0.5, 1 - mse / variance if variance > 0 else None
    )


def own_widths(facts: Facts) -> Widths:
    """What the model says."""
    return _widths(facts, facts.widths.sum(axis=1), facts.interval)


def constant_width(facts: Facts) -> Widths:
    """One width for all rows, the least that holds as many of these very rows as the model's.

    It is chosen in hindsight, which favours it: no method could have known it beforehand.
    """
    n_covered = int(np.sum(facts.inside))
    off = np.abs(facts.y - facts.parts.center)
    half = order_statistic(off, n_covered) if n_covered else 0.0
    both = np.full((len(off), 2), half)
    return _widths(facts, both.sum(axis=1), make_interval(facts.parts.center, both))


def _widths(facts: Facts, widths: np.ndarray, interval: np.ndarray) -> Widths:
    return Widths(
        float(np.mean(widths)),
        int(np.sum(covered(facts.y, interval))),
        interval_score(facts.y, interval, facts.confidence_level),
    )
