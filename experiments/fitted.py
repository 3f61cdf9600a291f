"""What was fitted, by row: the values that parts give and methods take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Fitted(NamedTuple):
    """What the methods know of some rows; widths are (n, 2), below and above the center."""

    y: np.ndarray
    center: np.ndarray | None = None
    epistemic: np.ndarray | None = None
    aleatoric: np.ndarray | None = None  # of the residuals
    aleatoric_of_y: np.ndarray | None = None
    members_of_y: np.ndarray | None = None  # (n, 3, B): every bootstrap's quantiles of y
    from_quantiles: np.ndarray | None = None  # epistemic, where the usual is from a deviation

    def take(self, rows: np.ndarray) -> Fitted:
        return Fitted(*(None if part is None else part[rows] for part in self))


class Parts(NamedTuple):
    """The parts of all held-out rows, and the CPU seconds that each of them took to fit."""

    rows: np.ndarray  # their numbers in the table, rising
    fitted: Fitted
    seconds: dict[str, float]

    def of(self, rows: np.ndarray) -> Fitted:
        return self.fitted.take(np.searchsorted(self.rows, rows))
