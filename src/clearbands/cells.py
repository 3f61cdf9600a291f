"""Coverage in parts of the rows, each with its exact binomial interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from clearbands.bands import covered
from clearbands.metrics import check_intervals
from clearbands.tables import check_count, check_share

MISSING = "missing"
THIRDS = ("lowest third", "middle third", "highest third")


class Range(NamedTuple):
    """Two ends that belong to it."""

    low: float
    high: float


@dataclass(frozen=True)
class Cell:
    """Coverage in some rows. Best is the confidence level."""

    by: str  # what the rows were divided by
    where: str  # which of them these are, in words
    n: int
    n_covered: int
    low: float  # exact (Clopper-Pearson) interval of the coverage
    high: float

    @property
    def coverage(self) -> float:
        return self.n_covered / self.n


def coverage(y: Any, intervals: Any, *, confidence: float = 0.95) -> Cell:
    """The share of rows inside, bounds included, and its exact interval at `confidence`."""
    return make_cell("all", "all rows", inside(y, intervals), confidence)


def coverage_by_group(
    y: Any, intervals: Any, groups: Any, *, name: str = "group", confidence: float = 0.95
) -> list[Cell]:
    """A cell for every label, sorted. Rows whose label is None or NaN form one of their own."""
    hit = inside(y, intervals)
    labels = check_groups(groups, len(hit))
    return [
        make_cell(name, f"`{name}` = {label}", hit[labels == label], confidence)
        for label in np.unique(labels)
    ]


def coverage_by_feature(
    y: Any,
    intervals: Any,
    feature: Any,
    *,
    name: str = "feature",
    n_bins: int = 3,
    confidence: float = 0.95,
) -> list[Cell]:
    """A cell for each of `n_bins` bins with equally many rows, from the lowest values up.

    Equal values stay together, so ties may leave fewer and unequal bins. Rows in which the
    feature is NaN come last, in a cell of their own.
    """
    hit = inside(y, intervals)
    values = np.asarray(feature, float)
    if values.shape != hit.shape:
        raise ValueError(
            f"{name} must have shape {hit.shape}, a number per row of y; got {values.shape}."
        )
    check_count(n_bins, "n_bins")
    is_missing = np.isnan(values)
    present, cells = values[~is_missing], []
    if len(present):
        bins = equal_count_bins(present, n_bins)
        words = _describe(present, bins, name, n_bins)
        cells = [
            make_cell(name, word, hit[~is_missing][bins == j], confidence)
            for j, word in enumerate(words)
        ]
    if is_missing.any():
        cells.append(make_cell(name, f"`{name}` = {MISSING}", hit[is_missing], confidence))
    return cells


def coverage_by_width(
    y: Any, intervals: Any, *, n_bins: int = 3, confidence: float = 0.95
) -> list[Cell]:
    """Coverage by size of the interval, narrow to wide; `lowest_coverage` is the usual summary.

    Intervals that are too narrow where they are narrow, and too wide where they are wide, show
    here although the coverage of all rows together is right.
    """
    y, intervals = check_intervals(y, intervals)
    widths = intervals[:, 1] - intervals[:, 0]
    return coverage_by_feature(
        y, intervals, widths, name="width", n_bins=n_bins, confidence=confidence
    )


def coverage_by_ratio(
    y: Any, intervals: Any, ratio: Any, *, n_bins: int = 3, confidence: float = 0.95
) -> list[Cell]:
    """Coverage by epistemic over aleatoric width, such as `Uncertainty.ratio` holds.

    Too little in the highest bin: ignorance of the model is underestimated where it dominates.
    Too little in the lowest: noise is.
    """
    return coverage_by_feature(
        y, intervals, ratio, name="ratio", n_bins=n_bins, confidence=confidence
    )


def lowest_coverage(cells: Sequence[Cell]) -> Cell:
    """The cell of least coverage. Even where coverage holds it lies below it, by chance."""
    return min(cells, key=lambda cell: cell.coverage)


def coverage_gap(cells: Sequence[Cell], confidence_level: float) -> float:
    """Mean over the cells, whatever their size, of |coverage - level|. Best is 0.

    Where coverage holds in every cell of n rows it is still about
    sqrt(2 / pi * level * (1 - level) / n): chance does not average out of absolute values.
    """
    if not cells:
        raise ValueError("There are no cells; the gap needs at least one.")
    return float(np.mean([abs(cell.coverage - confidence_level) for cell in cells]))


def binomial_interval(n_covered: int, n: int, confidence: float = 0.95) -> Range:
    """Clopper and Pearson's interval: it holds the truth in at least the share `confidence`."""
    check_share(confidence, "confidence")
    tail = (1 - confidence) / 2
    low = stats.beta.ppf(tail, n_covered, n - n_covered + 1) if n_covered else 0.0
    high = stats.beta.isf(tail, n_covered + 1, n - n_covered) if n_covered < n else 1.0
    return Range(float(low), float(high))


def make_cell(by: str, where: str, hit: np.ndarray, confidence: float = 0.95) -> Cell:
    """The cell of rows of which `hit` (n,) says whether they are covered."""
    n_covered = int(np.count_nonzero(hit))
    return Cell(by, where, len(hit), n_covered, *binomial_interval(n_covered, len(hit), confidence))


def inside(y: Any, intervals: Any) -> np.ndarray:
    """(n,) booleans of checked rows: which are covered."""
    return covered(*check_intervals(y, intervals))


def check_groups(groups: Any, n: int) -> np.ndarray:
    """(n,) labels as text, or an error that says what is wrong with them."""
    labels = np.asarray(groups, dtype=object)
    if labels.shape != (n,):
        raise ValueError(
            f"groups must have shape ({n},), a label per row of y; got {labels.shape}."
        )
    return np.array([MISSING if v is None or v != v else str(v) for v in labels])


def equal_count_bins(values: np.ndarray, n_bins: int) -> np.ndarray:
    """(n,) bin numbers from 0 up, without gaps; a bin ends with its last row's value."""
    ends = np.ceil(len(values) * np.arange(1, n_bins) / n_bins).astype(int) - 1
    edges = np.sort(values)[np.maximum(ends, 0)]
    return np.unique(np.searchsorted(edges, values, side="left"), return_inverse=True)[1]


def _describe(values: np.ndarray, bins: np.ndarray, name: str, n_bins: int) -> list[str]:
    """Each bin in words: its value if it has but one, its place if all bins came about."""
    words = []
    n_found = int(bins.max()) + 1
    for j in range(n_found):
        low, high = values[bins == j].min(), values[bins == j].max()
        if low == high:
            words.append(f"`{name}` = {low:g}")
        elif n_found < n_bins:
            words.append(f"`{name}` from {low:g} to {high:g}")
        elif n_bins == 3:
            words.append(f"the {THIRDS[j]} of `{name}`")
        else:
            words.append(f"part {j + 1} of {n_bins} of `{name}`")
    return words
