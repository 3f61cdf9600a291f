"""Coverage in parts of the rows, with exact binomial intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from clearbands.calibration.conformal import beta_parameters, rank
from clearbands.rows.bands import covered
from clearbands.rows.checks import (
    MISSING,
    check_count,
    check_group_labels,
    check_intervals,
    check_share,
)
from clearbands.rows.levels import check_one_level

THIRDS = ("lowest third", "middle third", "highest third")

FALSE_ALARMS = 0.05
"""At most this share of the diagnoses of a flawless model reports any finding about coverage."""

CellKind = Literal["rows", "value", "range", "part"]


class Range(NamedTuple):
    """A range from `low` to `high`, both included."""

    low: float
    high: float


@dataclass(frozen=True)
class Cell:
    """Coverage in some rows. Best is the confidence level."""

    by: str  # the feature or other quantity by which the rows were divided
    label: str  # the value, range or part of it that these rows have
    n: int
    n_covered: int
    low: float  # exact (Clopper-Pearson) interval of the coverage
    high: float
    kind: CellKind = "rows"  # the meaning of the label
    values: Range | None = None  # the smallest and the largest value of the feature in these rows
    p_value: float | None = None  # corrected for the number of cells; only a diagnosis has it

    @property
    def coverage(self) -> float:
        return self.n_covered / self.n

    @property
    def is_off(self) -> bool:
        """Whether a diagnosis found the coverage off by more than chance."""
        return self.p_value is not None and self.p_value < FALSE_ALARMS

    @property
    def where(self) -> str:
        """The rows of the cell, in words."""
        return self.in_words()

    def in_words(self, quotes: tuple[str, str] = ("`", "`")) -> str:
        """Name the rows of the cell, with the name of the feature in these quotation marks."""
        name = self.by.join(quotes)
        if self.kind == "value":
            return f"{name} = {self.label}"
        if self.kind == "range":
            return f"{name} from {self.label}"
        return f"the {self.label} of {name}" if self.kind == "part" else self.label


def coverage(y: ArrayLike, intervals: ArrayLike, *, confidence: float = 0.95) -> Cell:
    """The share of rows inside, bounds included, and its exact interval at `confidence`.

    Examples
    --------
    >>> cell = coverage([1, 2, 3, 9], [[0, 4]] * 4)
    >>> cell.n_covered, cell.n, cell.coverage, round(cell.low, 3), round(cell.high, 3)
    (3, 4, 0.75, 0.194, 0.994)
    """
    return make_cell("all", "all rows", inside(y, intervals), confidence)


def coverage_by_group(
    y: ArrayLike,
    intervals: ArrayLike,
    by: ArrayLike | None,
    *,
    name: str = "group",
    confidence: float = 0.95,
) -> list[Cell]:
    """A cell for every label: numbers by size, then words.

    Rows whose label is None or NaN form a cell of their own.

    Examples
    --------
    >>> cells = coverage_by_group([1, 2, 3, 9], [[0, 4]] * 4, [10, 9, 9, 10], name="floor")
    >>> [(cell.where, cell.coverage) for cell in cells]
    [('`floor` = 9', 1.0), ('`floor` = 10', 0.5)]
    """
    hit = inside(y, intervals)
    labels = check_group_labels(by, len(hit), "by")
    return [
        make_cell(name, str(label), hit[labels == label], confidence, "value")
        for label in sorted(np.unique(labels), key=_by_size_then_name)
    ]


def _by_size_then_name(label: str) -> tuple[float, str]:
    try:
        size = float(label)
    except ValueError:
        size = math.inf
    return (math.inf if math.isnan(size) else size), str(label)


def coverage_by_feature(
    y: ArrayLike,
    intervals: ArrayLike,
    feature: Any,
    *,
    name: str = "feature",
    n_bins: int = 3,
    confidence: float = 0.95,
) -> list[Cell]:
    """A cell for each of `n_bins` bins with equally many rows, from the lowest values up.

    Equal values stay together, so ties may leave fewer and unequal bins. Rows in which the
    feature is NaN come last, in a cell of their own.

    Examples
    --------
    >>> cells = coverage_by_feature([1, 2, 9], [[0, 4]] * 3, [30.0, 40.0, 50.0], name="age")
    >>> [(cell.where, cell.coverage) for cell in cells][-1]
    ('`age` = 50', 0.0)
    """
    hit = inside(y, intervals)
    values = np.asarray(feature, float)
    if values.shape != hit.shape:
        raise ValueError(
            f"{name} must have shape {hit.shape}, a number per row of y; got {values.shape}."
        )
    check_count(n_bins, "n_bins")
    is_missing = np.isnan(values)
    present, rows = values[~is_missing], hit[~is_missing]
    bins = equal_count_bins(present, n_bins) if len(present) else np.empty(0, int)
    n_found = len(np.unique(bins))
    cells = [
        _bin_cell(name, present[bins == j], rows[bins == j], (j, n_found, n_bins), confidence)
        for j in range(n_found)
    ]
    if is_missing.any():
        cells.append(make_cell(name, MISSING, hit[is_missing], confidence, "value"))
    return cells


def coverage_by_width(
    y: ArrayLike, intervals: ArrayLike, *, n_bins: int = 3, confidence: float = 0.95
) -> list[Cell]:
    """Coverage by the width of the interval, from narrow to wide.

    If narrow intervals are too narrow and wide ones too wide, it shows here, although the coverage
    of all rows together is right. `lowest_coverage` is the usual summary.

    Examples
    --------
    >>> cells = coverage_by_width([0, 2, 0, 0], [[-1, 1], [-1, 1], [-5, 5], [-5, 5]], n_bins=2)
    >>> [cell.coverage for cell in cells]
    [0.5, 1.0]
    """
    y, intervals = check_intervals(y, intervals)
    widths = intervals[:, 1] - intervals[:, 0]
    return coverage_by_feature(
        y, intervals, widths, name="width", n_bins=n_bins, confidence=confidence
    )


def coverage_by_ratio(
    y: ArrayLike, intervals: ArrayLike, ratio: Any, *, n_bins: int = 3, confidence: float = 0.95
) -> list[Cell]:
    """Coverage by epistemic over aleatoric width, such as `Uncertainty.ratio` holds.

    Low coverage in the highest bin means that ignorance is underestimated where it dominates; low
    coverage in the lowest bin means that noise is.

    Examples
    --------
    >>> cells = coverage_by_ratio([0, 0, 2, 0], [[-1, 1]] * 4, [0.1, 0.2, 3.0, 4.0], n_bins=2)
    >>> [(cell.where, cell.coverage) for cell in cells]
    [('the 1st of 2 parts of `ratio`', 1.0), ('the 2nd of 2 parts of `ratio`', 0.5)]
    """
    return coverage_by_feature(
        y, intervals, ratio, name="ratio", n_bins=n_bins, confidence=confidence
    )


def lowest_coverage(cells: Sequence[Cell]) -> Cell:
    """The cell with the lowest coverage; by chance it lies below the level even if coverage holds.

    Examples
    --------
    >>> lowest_coverage(coverage_by_group([1, 9], [[0, 4]] * 2, ["a", "b"])).label
    'b'
    """
    return min(cells, key=lambda cell: cell.coverage)


def coverage_gap(cells: Sequence[Cell], confidence_level: float) -> float:
    """Mean over the cells, whatever their size, of |coverage - level|. Best is 0.

    Where coverage holds in every cell of n rows it is still about
    sqrt(2 / pi * level * (1 - level) / n): chance does not average out of absolute values.

    Examples
    --------
    >>> cells = coverage_by_group([1, 1, 9, 1], [[0, 4]] * 4, ["a", "a", "b", "b"])
    >>> round(coverage_gap(cells, 0.9), 3)
    0.25
    """
    if not cells:
        raise ValueError("There are no cells; the gap needs at least one.")
    return float(np.mean([abs(cell.coverage - confidence_level) for cell in cells]))


def binomial_interval(n_covered: int, n: int, confidence: float = 0.95) -> Range:
    """Clopper and Pearson's interval: it contains the true share in at least `confidence` of cases.

    Examples
    --------
    >>> low, high = binomial_interval(9, 10)
    >>> round(low, 2), round(high, 2)
    (0.55, 1.0)
    """
    check_share(confidence, "confidence")
    tail = (1 - confidence) / 2
    low = stats.beta.ppf(tail, n_covered, n - n_covered + 1) if n_covered else 0.0
    high = stats.beta.isf(tail, n_covered + 1, n - n_covered) if n_covered < n else 1.0
    return Range(float(low), float(high))


def make_cell(
    by: str,
    label: str,
    hit: np.ndarray,
    confidence: float = 0.95,
    kind: CellKind = "rows",
    values: Range | None = None,
) -> Cell:
    """Return the cell of some rows; `hit` (n,) says which of them are covered."""
    n_covered = int(np.count_nonzero(hit))
    ends = binomial_interval(n_covered, len(hit), confidence)
    return Cell(by, label, len(hit), n_covered, *ends, kind, values)


def inside(y: ArrayLike, intervals: ArrayLike) -> np.ndarray:
    """Return which rows are covered, booleans (n,); raise for invalid intervals."""
    return covered(*check_intervals(y, intervals))


def equal_count_bins(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Return bin numbers (n,) from 0 without gaps; rows of equal values share a bin."""
    ends = np.ceil(len(values) * np.arange(1, n_bins) / n_bins).astype(int) - 1
    edges = np.sort(values)[np.maximum(ends, 0)]
    return np.unique(np.searchsorted(edges, values, side="left"), return_inverse=True)[1]


def _bin_cell(
    name: str,
    values: np.ndarray,
    hit: np.ndarray,
    place: tuple[int, int, int],
    confidence: float,
) -> Cell:
    """Return the cell of a bin, named by its only value, its range, or its place among all bins."""
    j, n_found, n_bins = place
    low, high = float(values.min()), float(values.max())
    label, kind = f"{low:g}", cast(CellKind, "value")
    if low < high:
        label, kind = f"{low:g} to {high:g}", "range"
        if n_found == n_bins:
            label, kind = (
                THIRDS[j] if n_bins == 3 else f"{_ordinal(j + 1)} of {n_bins} parts",
                "part",
            )
    return make_cell(name, label, hit, confidence, kind, Range(low, high))


def _ordinal(place: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{'th' if place % 100 in (11, 12, 13) else ending}"


def coverage_range(n: int, level: float, confidence: float = 0.95) -> Range:
    """The range of the coverage of all new rows, given one calibration set of n rows.

    Over calibration sets it follows the Beta distribution of `beta_parameters`: exactly for
    "conformal" calibration and scores without ties, nearly for others. The range leaves out equal
    tails. With too few rows for the level, bounds are infinite: coverage is 1.

    Examples
    --------
    >>> low, high = coverage_range(200, 0.9)
    >>> round(low, 2), round(high, 2)
    (0.86, 0.94)
    """
    check_count(n, "n")
    check_share(confidence, "confidence")
    if rank(n, check_one_level(level)) > n:
        return Range(1.0, 1.0)
    tail = (1 - confidence) / 2
    distribution = stats.beta(*beta_parameters(n, level))
    return Range(float(distribution.ppf(tail)), float(distribution.isf(tail)))


def covered_rows(n: int, level: float, n_calibration: int | None = None) -> Any:
    """Return the distribution, of scipy, of the number of covered rows among n new ones.

    All rows are covered with one probability, which calibration with `n_calibration` rows draws
    from its Beta distribution. If that number is unknown, the probability is the level.
    """
    if n_calibration is None:
        return stats.binom(n, check_one_level(level))
    return stats.betabinom(n, *beta_parameters(n_calibration, check_one_level(level)))


def chance_range(
    n: int, level: float, n_calibration: int | None = None, confidence: float = 0.95
) -> Range:
    """The range in which the coverage of n new rows lies by chance alone.

    It is wider than `coverage_range`, because few new rows add their own chance to that of the
    calibration.

    Examples
    --------
    >>> chance_range(100, 0.9), chance_range(100, 0.9, n_calibration=80)
    (Range(low=0.84, high=0.95), Range(low=0.8, high=0.97))
    """
    check_count(n, "n")
    check_share(confidence, "confidence")
    tail = (1 - confidence) / 2
    rows = covered_rows(n, level, n_calibration)
    return Range(float(rows.ppf(tail) / n), float(rows.isf(tail) / n))


def lambda_edge(lambda_: float, lambdas: Any = (0.0, np.inf)) -> str | None:
    """The end of the search at which `lambda_` lies: "lowest", "highest" or None.

    At 0 the epistemic part is not used, and at infinity the aleatoric one is not. This is no
    error, but the ratio of the two then says nothing.

    Examples
    --------
    >>> lambda_edge(0.0), lambda_edge(1.5)
    ('lowest', None)
    """
    if lambda_ <= np.min(lambdas):
        return "lowest"
    return "highest" if lambda_ >= np.max(lambdas) else None
