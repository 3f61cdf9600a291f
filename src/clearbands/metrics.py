"""Metrics of intervals: coverage, width, and proper scores that weigh both.

Most functions take `y` (n,) and `intervals` (n, 2), lower and upper, and return a mean over rows,
in which a row counts as many times as its `sample_weight` (n,) says.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from clearbands.calibration.conformal import coverage_rank, order_statistic, ratio_scores
from clearbands.rows.bands import covered, distances, on_side_of
from clearbands.rows.checks import check_intervals, check_vector
from clearbands.rows.levels import alpha, check_one_level, check_quantiles
from clearbands.rows.weighting import check_sample_weight, mean_of

__all__ = [
    "crps",
    "evaluate",
    "interval_score",
    "nciw",
    "niw",
    "nll_min",
    "picp",
    "pit",
    "quantile_loss",
]


def picp(y: ArrayLike, intervals: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Prediction interval coverage probability: the share of rows inside, bounds included.

    The best value is the confidence level: a lower one breaks the promise, and a higher one costs
    width.

    >>> picp([1.0, 2.0, 3.0, 9.0], [[0, 2], [1, 3], [2, 4], [3, 5]])
    0.75
    """
    y, intervals = check_intervals(y, intervals)
    return _mean(covered(y, intervals), sample_weight)


def niw(
    y: ArrayLike,
    intervals: ArrayLike,
    y_range: float | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Normalised interval width: mean width over the range of y. Smaller is better.

    >>> niw([1.0, 2.0, 3.0, 9.0], [[0, 2], [1, 3], [2, 4], [3, 5]])
    0.25
    """
    y, intervals = check_intervals(y, intervals)
    return _mean(intervals[:, 1] - intervals[:, 0], sample_weight) / _check_range(y, y_range)


def nciw(
    y: ArrayLike,
    center: ArrayLike,
    intervals: ArrayLike,
    confidence_level: float,
    y_range: float | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Normalised calibrated interval width: NIW after a common factor. Smaller is better.

    The factor stretches or shrinks every interval about its center so that the share
    `confidence_level` of these very rows is just covered; the result then compares only how well
    the widths are distributed over the rows. No factor covers a row that lies off the center on a
    side of width zero. If there are too many such rows, or if a bound is infinite, the result is
    infinite. A bound on the wrong side of the center counts as a width of zero on that side.

    >>> nciw([1.0, 2.0, 3.0, 9.0], [1, 2, 3, 4], [[0, 2], [1, 3], [2, 4], [3, 5]], 1 - 1e-9)
    1.25
    """
    y, intervals = check_intervals(y, intervals)
    center = check_vector(center, "center", len(y))
    level = check_one_level(confidence_level)
    if not np.all(np.isfinite(intervals)):
        return float("inf")
    widths = distances(center, intervals[:, :1], intervals[:, 1:])[:, :, 0]
    scores = ratio_scores(np.abs(y - center), on_side_of(y, center, widths))
    weight = check_sample_weight(sample_weight, len(y))
    factor = order_statistic(scores, coverage_rank(len(y), level, weight), weight)
    mean_width = _mean(widths.sum(axis=1), weight)
    return factor * mean_width / _check_range(y, y_range) if mean_width else factor


def nll_min(
    y: ArrayLike,
    center: ArrayLike,
    intervals: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Minimum negative log-likelihood (Heiss et al. 2022). Smaller is better; also below 0.

    It compares how uncertainty is distributed over the rows, as `nciw` does, but by squared errors:
    y is taken for normal around the center, with deviations that are proportional to the lengths of
    the intervals, and the factor is the one that makes these very rows most likely. Any other
    factor for all lengths, such as that of another level, gives the same value. Unlike `nciw` it
    has its best expected value at deviations in proportion to the true ones. A length that is 0 or
    infinite makes it infinite.

    >>> nll_min([1.0, 2.0, 3.0, 9.0], [1, 2, 3, 5], [[0, 2], [1, 3], [2, 4], [3, 7]])
    1.5922...
    """
    y, intervals = check_intervals(y, intervals)
    center = check_vector(center, "center", len(y))
    lengths = intervals[:, 1] - intervals[:, 0]
    if not np.all((lengths > 0) & np.isfinite(lengths)):
        return float("inf")
    square = _mean(((y - center) / lengths) ** 2, sample_weight)
    if square == 0:
        return float("-inf")
    constant = (1 + np.log(2 * np.pi)) / 2
    return float(constant + _mean(np.log(lengths), sample_weight) + np.log(square) / 2)


def quantile_loss(
    y: ArrayLike,
    intervals: ArrayLike,
    confidence_level: float,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Pinball loss of the two bounds, averaged. Smaller is better; in the unit of y.

    >>> quantile_loss([1.0, 2.0, 3.0, 9.0], [[0, 2], [1, 3], [2, 4], [3, 5]], 0.5)
    0.75
    """
    score = interval_score(y, intervals, confidence_level, sample_weight=sample_weight)
    return score * alpha(confidence_level) / 4


def interval_score(
    y: ArrayLike,
    intervals: ArrayLike,
    confidence_level: float,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Width plus 2/alpha times the distance of rows outside. Smaller is better; in units of y.

    >>> interval_score([1.0, 2.0, 3.0, 9.0], [[0, 2], [1, 3], [2, 4], [3, 5]], 0.8)
    12.0
    """
    y, intervals = check_intervals(y, intervals)
    level = check_one_level(confidence_level)
    lower, upper = intervals[:, 0], intervals[:, 1]
    if not np.all(np.isfinite(intervals)):
        return float("inf")
    outside = np.maximum(lower - y, 0) + np.maximum(y - upper, 0)
    return _mean(upper - lower + 2 / alpha(level) * outside, sample_weight)


def crps(
    y: ArrayLike,
    quantiles: ArrayLike,
    levels: Sequence[float] | np.ndarray,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Continuous ranked probability score of predicted quantiles. Smaller is better; unit of y.

    It is twice the pinball loss, averaged over all levels between 0 and 1. Each of the `quantiles`
    (n, q) at the rising `levels` (q,) stands for the levels around it, so the score becomes exact
    with many levels.

    >>> crps([1.0, 4.0], [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]], [0.25, 0.5, 0.75])
    1.5
    """
    y, quantiles, levels = _check_quantiles(y, quantiles, levels)
    edges = np.concatenate([[0.0], (levels[1:] + levels[:-1]) / 2, [1.0]])
    above = y[:, None] - quantiles
    loss = np.maximum(levels * above, (levels - 1) * above)
    return _mean(2 * loss @ np.diff(edges), sample_weight)


def pit(y: ArrayLike, quantiles: ArrayLike, levels: Sequence[float] | np.ndarray) -> np.ndarray:
    """Probability integral transform: the level (n,) at which each target lies.

    The values are uniform between 0 and 1 if the predicted distributions are right. They are
    interpolated between the `quantiles` (n, q) at the rising `levels` (q,); they are 0 below all
    quantiles and 1 above all of them.

    >>> pit([1.0, 1.5, 4.0], [[0.0, 1.0, 2.0]] * 3, [0.25, 0.5, 0.75])
    array([0.5  , 0.625, 1.   ])
    """
    y, quantiles, levels = _check_quantiles(y, quantiles, levels)
    rows = zip(y.tolist(), quantiles, strict=True)
    return np.array([np.interp(t, row, levels, left=0.0, right=1.0) for t, row in rows])


def evaluate(
    y: ArrayLike,
    center: ArrayLike,
    intervals: ArrayLike,
    confidence_level: float,
    y_range: float | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> dict[str, float]:
    """All metrics of one level in a dict, by name.

    >>> scores = evaluate([1.0, 2.0, 3.0], [1, 2, 3], [[0, 2], [1, 3], [2, 4]], 0.9)
    >>> {name: round(score, 3) for name, score in scores.items()}
    {'picp': 1.0, 'niw': 1.0, 'nciw': 0.0, 'quantile_loss': 0.05, 'interval_score': 2.0}
    """
    weight = {"sample_weight": sample_weight}
    return {
        "picp": picp(y, intervals, **weight),
        "niw": niw(y, intervals, y_range, **weight),
        "nciw": nciw(y, center, intervals, confidence_level, y_range, **weight),
        "quantile_loss": quantile_loss(y, intervals, confidence_level, **weight),
        "interval_score": interval_score(y, intervals, confidence_level, **weight),
    }


def _mean(values: np.ndarray, sample_weight: ArrayLike | None) -> float:
    return mean_of(values, check_sample_weight(sample_weight, len(values)))


def _check_quantiles(
    y: ArrayLike, quantiles: ArrayLike, levels: Sequence[float] | np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    y, levels = check_vector(y, "y"), check_quantiles(levels)
    quantiles = np.asarray(quantiles, float)
    if quantiles.shape != (len(y), len(levels)):
        raise ValueError(
            f"quantiles must have shape ({len(y)}, {len(levels)}), one for every row and level; "
            f"got {quantiles.shape}."
        )
    if np.isnan(quantiles).any() or np.any(np.diff(quantiles, axis=1) < 0):
        raise ValueError("quantiles must be numbers that rise, or stay, with the level.")
    return y, quantiles, levels


def _check_range(y: np.ndarray, y_range: float | None) -> float:
    value = float(np.ptp(y)) if y_range is None else float(y_range)
    if not value > 0:
        raise ValueError(
            f"The range of y must be positive to normalise widths, got {value:g}; "
            "give y_range, for example that of the training rows."
        )
    return value
