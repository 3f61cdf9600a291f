"""Centers (n,) and widths (n, 2), which are the distances below and above the center.

With several levels, widths are (n, 2, k). Intervals have the same shape; their second axis holds
the lower and the upper bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from clearbands.rows.levels import normal_distances, pick_curves

EPS = np.finfo(float).eps


class Components(NamedTuple):
    """The uncalibrated center and widths of rows, from which a calibrator makes intervals."""

    center: np.ndarray  # (n,)
    aleatoric: np.ndarray  # (n, 2, k): uncalibrated distances below and above at the k levels
    epistemic: np.ndarray  # (n, 2, k)

    def take(self, rows: np.ndarray) -> Components:
        return Components(*(part[rows] for part in self))


def make_interval(center: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return the interval [center - below, center + above], rounded outwards.

    A factor that was chosen so that a row is just covered must cover it in floating point, too.
    The distances are therefore lengthened by the rounding error that they may have.
    """
    reach = widths * (1 + 8 * EPS)
    center = np.expand_dims(center, tuple(range(1, widths.ndim - 1)))
    lower, upper = center - reach[:, 0], center + reach[:, 1]
    return np.stack(
        [
            np.where(reach[:, 0] > 0, np.nextafter(lower, -np.inf), lower),
            np.where(reach[:, 1] > 0, np.nextafter(upper, np.inf), upper),
        ],
        axis=1,
    )


def covered(y: np.ndarray, interval: np.ndarray) -> np.ndarray:
    """Return whether each y (n,) lies in its interval, bounds included."""
    return (interval[:, 0] <= y) & (y <= interval[:, 1])


def on_side_of(y: np.ndarray, center: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return the width (n,) on the side of the center where y lies."""
    return np.where(y < center, widths[:, 0], widths[:, 1])


def distances(center: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return the distances (n, 2, k, ...) from the center (n, ...) to `lower` and `upper`.

    Both bounds are (n, k, ...). A distance is 0 where a bound lies beyond the center.
    """
    return np.maximum(np.stack([center[:, None] - lower, upper - center[:, None]], axis=1), 0)


def curve_widths(curves: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """Return the distances (n, 2, k, ...) of the outer curves from the middle one, at least 0.

    `curves` (n, q, ...) are the quantiles at `curve_levels(levels)`.
    """
    return distances(*pick_curves(curves, levels))


def normal_widths(deviation: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """Return the widths (n, 2, k) that enclose each level of normal noise of this deviation."""
    return np.repeat((deviation[:, None] * normal_distances(levels))[:, None], 2, axis=1)


def nest(levels: Sequence[float] | np.ndarray, *parts: np.ndarray) -> None:
    """Make the interval of a higher level contain that of a lower one, in place.

    The widths of an interval are the sum of `parts` (n, 2, k). Where a higher level would reach
    less far than a lower one, it takes over all parts of the lower one.
    """
    for lower, higher in pairwise(np.argsort(levels)):
        total = np.sum(parts, axis=0)
        shorter = total[:, :, higher] < total[:, :, lower]
        for part in parts:
            part[:, :, higher] = np.where(shorter, part[:, :, lower], part[:, :, higher])
