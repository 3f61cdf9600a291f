"""Targets in a unit of their own, so that trees do not depend on the unit they came in.

Boosting asks again and again on which side of the prediction a target lies, and where targets are
rounded (prices, counts) many lie exactly on it. There the last bit of a float would decide, and
those bits change when dollars become cents. So targets are counted from one of their own values,
in multiples of a small part of their own spread: whatever the unit, the same numbers come out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

STEPS = 2.0**32  # per unit: coarse against rounding errors, fine against everything else
MOST = 0.9  # the share of the rows that lie at most one unit from the origin


class OwnUnit(NamedTuple):
    """The origin and the unit of targets: y becomes (y - origin) / unit, in whole steps."""

    origin: float
    unit: float

    @classmethod
    def of(cls, y: np.ndarray, counts: np.ndarray) -> OwnUnit:
        """Return the median target and the spread of the rows, each counted `counts` times.

        Both are values of the data and not sums over them: nothing is rounded, and a row counted
        twice is the same as two rows.
        """
        y, counts = y[counts > 0], counts[counts > 0]
        origin = _at_share(y, counts, 0.5)
        distance = np.abs(y - origin)
        return cls(origin, _at_share(distance, counts, MOST) or float(distance.max()) or 1.0)

    def apply(self, y: np.ndarray) -> np.ndarray:
        return np.rint((y - self.origin) / self.unit * STEPS) / STEPS


def _at_share(values: np.ndarray, counts: np.ndarray, share: float) -> float:
    order = np.argsort(values)
    up_to = np.cumsum(counts[order], dtype=np.int64)
    return float(values[order[np.searchsorted(up_to, int(share * up_to[-1]), side="right")]])
