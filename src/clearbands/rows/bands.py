"""The small values that travel: a center (n,), and widths (n, 2), the distances below and above.

With several levels widths are (n, 2, k) and so are intervals, whose second axis is lower, upper.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from clearbands.rows.levels import normal_distances, pick_curves

EPS = np.finfo(float).eps


class Components(NamedTuple):
    """What a calibrator sees of some rows."""

    center: np.ndarray  # (n,)
    aleatoric: np.ndarray  # (n, 2, k): uncalibrated distances below and above at the k levels
    epistemic: np.ndarray  # (n, 2, k)

    def take(self, rows: np.ndarray) -> Components:
        return Components(*(part[rows] for part in self))


def make_interval(center: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """[center - below, center + above], rounded outwards.

    A factor chosen so that a row is just covered must cover it in floating point too: the
    distance gets the few units in the last place that its computation may have lost.
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
    """(n,) booleans: bounds belong to the interval."""
    return (interval[:, 0] <= y) & (y <= interval[:, 1])


def on_side_of(y: np.ndarray, center: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """(n,): the width on the side of the center where y lies."""
    return np.where(y < center, widths[:, 0], widths[:, 1])


def distances(center: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """(n, 2, k, ...): how far the center (n, ...) lies above `lower` (n, k, ...) and below `upper`.

    At least 0: where curves cross, there is no distance.
    """
    return np.maximum(np.stack([center[:, None] - lower, upper - center[:, None]], axis=1), 0)


def curve_widths(curves: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """(n, 2, k, ...): distances of the outer curves from the middle one, at least 0.

    `curves` (n, q, ...) are those at `curve_levels(levels)`.
    """
    return distances(*pick_curves(curves, levels))


def normal_widths(deviation: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """(n, 2, k): what encloses each level of normal noise, the same below and above."""
    return np.repeat((deviation[:, None] * normal_distances(levels))[:, None], 2, axis=1)


def nest(levels: Sequence[float] | np.ndarray, *parts: np.ndarray) -> None:
    """Make levels contain each other: in place, for `parts` (n, 2, k) that add up to a reach.

    Where a higher level would reach less far than a lower one, it takes over all parts of the
    lower one.
    """
    for lower, higher in pairwise(np.argsort(levels)):
        total = np.sum(parts, axis=0)
        shorter = total[:, :, higher] < total[:, :, lower]
        for part in parts:
            part[:, :, higher] = np.where(shorter, part[:, :, lower], part[:, :, higher])
