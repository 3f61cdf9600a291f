"""Pictures of the quality of intervals: coverage, width, and the features that matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from clearbands.diagnostics.coverage import Cell, coverage, equal_count_bins, inside, make_cell
from clearbands.plots.style import (
    ALEATORIC,
    EPISTEMIC,
    INK,
    LINES,
    MARKERS,
    MUTED,
    label_axes,
    new_axes,
    new_pair,
    percent,
)
from clearbands.prediction import glossary
from clearbands.rows.checks import check_count, check_intervals, check_vector
from clearbands.rows.levels import check_levels, check_one_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clearbands.diagnostics.importance import Importance


def coverage_and_width(
    distance: Any,
    y: ArrayLike,
    intervals: ArrayLike,
    confidence_level: float,
    *,
    n_bins: int = 10,
    name: str = "Distance",
    axes: tuple[Axes, Axes] | None = None,
) -> tuple[Axes, Axes]:
    """Coverage and mean width in bins with equally many rows: the paper's simulation figures.

    `distance` (n,) may be a distance from the data or any feature. `intervals` is (n, 2), or a
    dict of several such arrays by name, which are compared. Whiskers are exact 95 % intervals of
    the coverage.

    Examples
    --------
    >>> from clearbands import plots
    >>> y, intervals = [0, 9, 0, 0], [[-1, 1]] * 4
    >>> left, right = plots.coverage_and_width([1, 2, 3, 4], y, intervals, 0.9, n_bins=2)
    >>> right.get_lines()[0].get_ydata().tolist()
    [2.0, 2.0]
    """
    distance = check_vector(distance, "distance")
    level = check_one_level(confidence_level)
    check_count(n_bins, "n_bins")
    both = new_pair() if axes is None else axes
    left, right = both
    bins = equal_count_bins(distance, n_bins)
    at = [np.median(distance[bins == j]) for j in range(bins.max() + 1)]
    left.axhline(level, color=MUTED, lw=1, ls="--", label=f"Target {percent(level)}")
    compared = _named_intervals(intervals)
    aside = 0.01 * np.ptp(at)  # so that whiskers stand next to each other
    for i, (label, bounds) in enumerate(compared.items()):
        rows, bounds = check_intervals(check_vector(y, "y", len(distance)), bounds)
        hit, width = inside(rows, bounds), bounds[:, 1] - bounds[:, 0]
        look: dict[str, Any] = {
            "color": LINES[i % len(LINES)],
            "marker": MARKERS[i % len(MARKERS)],
            "ms": 5,
        }
        cells = [make_cell("", "", hit[bins == j]) for j in range(len(at))]
        shifted = np.array(at) + aside * (i - (len(compared) - 1) / 2)
        _draw_coverage(left, shifted, cells, label=label, **look)
        right.plot(at, [width[bins == j].mean() for j in range(len(at))], label=label, **look)
    label_axes(left, "Coverage", name, "Share of rows inside")
    label_axes(right, "Mean width", name, "Width")
    right.set_ylim(bottom=0)
    return both


def calibration_curve(
    y: ArrayLike,
    intervals: ArrayLike,
    confidence_levels: Sequence[float],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Realised against nominal coverage. `intervals` is (n, 2, k), with k levels.

    On the diagonal, coverage is at its level. Whiskers are exact 95 % intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import plots
    >>> y, bounds = np.arange(10.0), np.tile([0.0, 6.0], (10, 1))
    >>> plots.calibration_curve(y, bounds[:, :, None], 0.9).get_title(loc="left")
    'At most 20.0 points off, at 90 % (10 rows)'
    """
    levels = np.array(check_levels(confidence_levels))
    intervals = np.asarray(intervals, float)
    if intervals.ndim != 3 or intervals.shape[2] != len(levels):
        raise ValueError(
            f"intervals must have shape (n, 2, {len(levels)}), one pair of bounds per level; got "
            f"{intervals.shape}."
        )
    order = np.argsort(levels)
    cells = [coverage(y, intervals[:, :, j]) for j in order]
    ax = new_axes() if ax is None else ax
    ax.plot([0, 1], [0, 1], color=MUTED, lw=1, ls="--", label="As promised")
    _draw_coverage(ax, levels[order], cells, color=INK, marker="o", ms=6, label="Realised")
    gaps = [abs(cell.coverage - level) for cell, level in zip(cells, levels[order], strict=True)]
    worst = int(np.argmax(gaps))
    title = (
        f"At most {100 * gaps[worst]:.1f} points off, at {percent(levels[order][worst])} "
        f"({cells[0].n} rows)"
    )
    label_axes(ax, title, "Nominal coverage", "Realised coverage", grid="both")
    ax.set(xlim=(0, 1), ylim=(0, 1.01))
    return ax


def _named_intervals(intervals: ArrayLike) -> dict[str, Any]:
    return dict(intervals) if isinstance(intervals, Mapping) else {"Intervals": intervals}


def _draw_coverage(ax: Axes, at: Any, cells: list[Cell], **look: Any) -> None:
    values = np.array([cell.coverage for cell in cells])
    ends = np.array([(cell.low, cell.high) for cell in cells]).T
    ax.errorbar(at, values, np.abs(ends - values), elinewidth=1, capsize=2, lw=1.4, **look)


def importance(importances: Sequence[Importance], *, most: int = 8, ax: Axes | None = None) -> Axes:
    """What shuffling each feature does to the two parts of the width, the largest on top.

    `importances` come from `clearbands.diagnostics.feature_importance`. A long blue bar means that
    the noise depends on this feature, and a long orange one that the ignorance depends on it.

    Examples
    --------
    >>> from clearbands import plots
    >>> from clearbands.diagnostics import Importance
    >>> importances = [Importance("age", 0.5, 0.1, 80, aleatoric=0.1, epistemic=0.02),
    ...                Importance("size", 0.4, 0.2, 80, aleatoric=0.05, epistemic=0.2)]
    >>> plots.importance(importances).get_title(loc="left")
    'size drives the width most'
    """
    if not importances:
        raise ValueError("importances is empty: there is no feature to draw.")
    widest = sorted(importances, key=lambda each: each.width)[-most:]
    ax = new_axes() if ax is None else ax
    for part, colour, shift in (
        (glossary.ALEATORIC, ALEATORIC, 0.2),
        (glossary.EPISTEMIC, EPISTEMIC, -0.2),
    ):
        changes = [100 * getattr(each, part.name) for each in widest]
        places = [row + shift for row in range(len(widest))]
        ax.barh(places, changes, height=0.38, color=colour, label=part.label)
    ax.set_yticks(range(len(widest)), labels=[each.name for each in widest])
    words = "Mean change when shuffled, % of the mean width"
    label_axes(ax, f"{widest[-1].name} drives the width most", words, "", grid="x")
    return ax
