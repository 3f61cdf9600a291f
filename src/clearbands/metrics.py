"""How good intervals are: coverage, width, and the proper scores that weigh both.

Every function takes `y` (n,) and `intervals` (n, 2), lower and upper, and returns a mean over rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clearbands.bands import check_vector, covered, on_side_of
from clearbands.conformal import coverage_rank, order_statistic, ratio_scores
from clearbands.levels import alpha, check_levels


def picp(y: Any, intervals: Any) -> float:
    """Prediction interval coverage probability: the share of rows inside, bounds included.

    Best is the confidence level: less breaks the promise, more is paid for in width.
    """
    y, intervals = check_intervals(y, intervals)
    return float(np.mean(covered(y, intervals)))


def niw(y: Any, intervals: Any, y_range: float | None = None) -> float:
    """Normalised interval width: mean width over the range of y. Smaller is better."""
    y, intervals = check_intervals(y, intervals)
    return float(np.mean(intervals[:, 1] - intervals[:, 0]) / _check_range(y, y_range))


def nciw(
    y: Any, center: Any, intervals: Any, confidence_level: float, y_range: float | None = None
) -> float:
    """Normalised calibrated interval width: NIW after a common factor. Smaller is better.

    The factor stretches or shrinks every interval about its center so that the share
    `confidence_level` of these very rows is just covered; what is left to compare is how well
    the widths are distributed. A row off the center on a side of width zero is covered by no
    factor; when too many rows are, the result is infinite, and so it is when a bound is. A bound
    on the wrong side of the center counts as a width of zero on that side.
    """
    y, intervals = check_intervals(y, intervals)
    center = check_vector(center, "center", len(y))
    level = check_one_level(confidence_level)
    if not np.all(np.isfinite(intervals)):
        return float("inf")
    widths = np.maximum(np.stack([center - intervals[:, 0], intervals[:, 1] - center], axis=1), 0)
    scores = ratio_scores(np.abs(y - center), on_side_of(y, center, widths))
    factor = order_statistic(scores, coverage_rank(len(y), level))
    mean_width = float(np.mean(widths.sum(axis=1)))
    return factor * mean_width / _check_range(y, y_range) if mean_width else factor


def quantile_loss(y: Any, intervals: Any, confidence_level: float) -> float:
    """Pinball loss of the two bounds, averaged. Smaller is better; in the unit of y."""
    return interval_score(y, intervals, confidence_level) * alpha(confidence_level) / 4


def interval_score(y: Any, intervals: Any, confidence_level: float) -> float:
    """Width plus 2/alpha times the distance of rows outside. Smaller is better; in units of y."""
    y, intervals = check_intervals(y, intervals)
    level = check_one_level(confidence_level)
    lower, upper = intervals[:, 0], intervals[:, 1]
    if not np.all(np.isfinite(intervals)):
        return float("inf")
    outside = np.maximum(lower - y, 0) + np.maximum(y - upper, 0)
    return float(np.mean(upper - lower + 2 / alpha(level) * outside))


def evaluate(
    y: Any, center: Any, intervals: Any, confidence_level: float, y_range: float | None = None
) -> dict[str, float]:
    """All of the above by name."""
    return {
        "picp": picp(y, intervals),
        "niw": niw(y, intervals, y_range),
        "nciw": nciw(y, center, intervals, confidence_level, y_range),
        "quantile_loss": quantile_loss(y, intervals, confidence_level),
        "interval_score": interval_score(y, intervals, confidence_level),
    }


def check_intervals(y: Any, intervals: Any) -> tuple[np.ndarray, np.ndarray]:
    y = check_vector(y, "y")
    intervals = np.asarray(intervals, float)
    if intervals.ndim == 3 and intervals.shape[2] == 1:
        intervals = intervals[:, :, 0]
    if intervals.shape != (len(y), 2):
        raise ValueError(
            f"intervals must have shape ({len(y)}, 2), lower and upper for every row of y; got "
            f"{intervals.shape}. Of several levels, score one at a time: intervals[:, :, j]."
        )
    if np.isnan(intervals).any():
        raise ValueError("intervals contain NaN.")
    if np.any(intervals[:, 0] > intervals[:, 1]):
        row = int(np.argmax(intervals[:, 0] > intervals[:, 1]))
        raise ValueError(f"The lower bound exceeds the upper bound in row {row}.")
    return y, intervals


def check_one_level(confidence_level: float) -> float:
    levels = check_levels(confidence_level)
    if len(levels) != 1:
        raise ValueError(f"One confidence level at a time, got {confidence_level!r}.")
    return levels[0]


def _check_range(y: np.ndarray, y_range: float | None) -> float:
    value = float(np.ptp(y)) if y_range is None else float(y_range)
    if not value > 0:
        raise ValueError(
            f"The range of y must be positive to normalise widths, got {value:g}; "
            "give y_range, for example that of the training rows."
        )
    return value
