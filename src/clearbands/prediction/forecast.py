"""A forecast of what more rows would do to the intervals of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearbands.rows.display import GAP, Preview, level, number, percent
from clearbands.tables.native import FrameKind, make_frame

MEASURES = ("width", "rmse", "loss")


@dataclass(frozen=True, repr=False)
class Forecast:
    """The mean width, RMSE and loss on new rows, with more training rows of the same kind.

    The first line is the model as it is. The last has endless rows, where the width is noise alone.
    The true value lies between `low` and `high` with a chance of about 80 %.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import Forecast
    >>> factors = np.array([[1, 1, 1], [0.8, 0.7, 0.9], [0.5, 0.2, 0.7]])
    >>> Forecast(np.array([100, 1000, np.inf]), factors, 20.0, 6.0, 0.8, 0.9)
    Mean width of 90 % intervals with more rows like these
           rows  width   low  high
            100     20    20    20
          1,000     16    14    18
      endless       10     4    14
    """

    rows: np.ndarray  # (q,): numbers of training rows, the last infinite
    factors: np.ndarray  # (q, 3): factors of today's measures: likely, low, high
    width: float
    rmse: float
    loss: float
    confidence_level: float
    reason: str = ""  # why nothing is known; empty if something is

    def to_frame(self) -> Any:
        """Return a frame with a line for each number of rows: each measure, with its range."""
        return make_frame(self.columns(), FrameKind())

    def columns(self) -> dict[str, np.ndarray]:
        """Return the columns of the frame by their names."""
        columns: dict[str, np.ndarray] = {"rows": self.rows}
        for name in MEASURES:
            middle, low, high = getattr(self, name) * self.factors.T
            columns |= {name: middle, f"{name}_low": low, f"{name}_high": high}
        return columns

    def sentence(self) -> str:
        """Say in one sentence what the largest finite number of rows would do.

        >>> import numpy as np
        >>> factors = np.array([[1, 1, 1], [0.8, 0.7, 0.9], [0.5, 0.2, 0.7]])
        >>> Forecast(np.array([100, 1000, np.inf]), factors, 20.0, 6.0, 0.8, 0.9).sentence()
        '10 times the rows would make these intervals 20 % narrower (10 to 30 %).'
        """
        if self.reason:
            return self.reason
        times = number(self.rows[-2] / self.rows[0])
        middle, low, high = (max(1 - each, 0.0) for each in self.factors[-2])
        narrower = f"{percent(middle)} narrower ({_bare(high)} to {percent(low)})"
        return f"{times} times the rows would make these intervals {narrower}.".replace(GAP, " ")

    def __repr__(self) -> str:
        return self._preview().text()

    def _repr_html_(self) -> str:
        return self._preview().html()

    def _preview(self) -> Preview:
        middle, low, high = self.width * self.factors.T
        columns = {
            "rows": [f"{rows:,.0f}" if np.isfinite(rows) else "endless" for rows in self.rows],
            "width": [number(each) for each in middle],
            "low": [number(each) for each in low],
            "high": [number(each) for each in high],
        }
        title = f"Mean width of {level(self.confidence_level)} intervals with more rows like these"
        return Preview(title.replace(GAP, " "), columns, self.reason)


def _bare(share: float) -> str:
    return percent(share).split(GAP)[0].rstrip(" %")
