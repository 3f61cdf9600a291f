"""The values of fitted parts for rows, which methods take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Fitted(NamedTuple):
    """What the methods know about some rows; widths are (n, 2), below and above the center."""

    y: np.ndarray
    center: np.ndarray | None = None
    epistemic: np.ndarray | None = None
    aleatoric: np.ndarray | None = None  # widths learned from the residuals
    aleatoric_of_y: np.ndarray | None = None
    members_of_y: np.ndarray | None = None  # (n, 3, B): the quantiles of y by every bootstrap
    from_quantiles: np.ndarray | None = None  # epistemic widths by quantiles, not by deviations

    def take(self, rows: np.ndarray) -> Fitted:
        return Fitted(*(None if part is None else part[rows] for part in self))


class Parts(NamedTuple):
    """The parts of all held-out rows, and the CPU seconds that each of them took to fit."""

    rows: np.ndarray  # the numbers of the rows in the table, rising
    fitted: Fitted
    seconds: dict[str, float]

    def of(self, rows: np.ndarray) -> Fitted:
        return self.fitted.take(np.searchsorted(self.rows, rows))
