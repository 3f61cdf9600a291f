"""Why an interval is wide: its two parts, row by row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clearbands.prediction.glossary import ALEATORIC, EPISTEMIC, SHARE
from clearbands.rows.display import Shown
from clearbands.rows.levels import level_name
from clearbands.rows.numbers import GAP, count, level, number, percent
from clearbands.rows.support import ANYWHERE, Support
from clearbands.tables.native import FrameKind, make_frame
from clearbands.uncertainty.bands import make_interval

MOST_SHOWN = 8


@dataclass(frozen=True, repr=False)
class Uncertainty:
    """The parts of calibrated intervals at one level.

    `center - aleatoric[:, 0] - epistemic[:, 0]` is the lower bound, the upper likewise; up to the
    last digits, which `interval` rounds outwards.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import Uncertainty
    >>> parts = Uncertainty(
    ...     center=np.array([10.0, 20.0]),
    ...     aleatoric=np.array([[1.0, 1.0], [1.0, 2.0]]),
    ...     epistemic=np.array([[3.0, 3.0], [1.0, 0.0]]),
    ...     confidence_level=0.9,
    ... )
    >>> parts
    2 rows at 90 %, 58 % epistemic share of the mean width
      row  center  lower  upper  aleatoric  epistemic  epistemic_share
        1      10      6     14          2          6             75 %
        2      20     18     22          3          1             25 %
    >>> parts.ratio.round(2).tolist()
    [3.0, 0.33]
    >>> parts.dominant.tolist()
    ['ignorance', 'noise']
    """

    center: np.ndarray  # (n,)
    aleatoric: np.ndarray  # (n, 2) calibrated distances below and above
    epistemic: np.ndarray  # (n, 2)
    confidence_level: float
    kind: FrameKind = field(default=FrameKind(), compare=False)  # of the rows that were predicted
    support: Support = ANYWHERE  # where targets can lie
    bounds: np.ndarray | None = None  # (n, 2) where they are no sums, as of transformed targets

    def __len__(self) -> int:
        return len(self.center)

    def take(self, rows: np.ndarray) -> Uncertainty:
        """The same of some rows, by their numbers or as booleans."""
        index = self.kind.index
        kind = self.kind._replace(index=None if index is None else index[rows])
        parts = (self.center[rows], self.aleatoric[rows], self.epistemic[rows])
        bounds = None if self.bounds is None else self.bounds[rows]
        return Uncertainty(*parts, self.confidence_level, kind, self.support, bounds)

    @property
    def interval(self) -> np.ndarray:
        """(n, 2): lower and upper bounds, the same as those of `predict_interval`."""
        if self.bounds is not None:
            return self.bounds
        return self.support.clip(make_interval(self.center, self.aleatoric + self.epistemic))

    @property
    def widths(self) -> np.ndarray:
        """(n, 2): the aleatoric and the epistemic width, each below and above together."""
        return np.stack([self.aleatoric.sum(axis=1), self.epistemic.sum(axis=1)], axis=1)

    @property
    def ratio(self) -> np.ndarray:
        """(n,): epistemic over aleatoric width; above 1 more rows like this would help most."""
        aleatoric, epistemic = self.widths.T
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(np.isinf(epistemic), 1.0, epistemic / aleatoric)
        return np.where((epistemic == 0) & (aleatoric == 0), 1.0, ratio)

    @property
    def dominant(self) -> np.ndarray:
        """(n,): "ignorance" where more rows would help most, else "noise"."""
        return np.where(self.ratio > 1, EPISTEMIC.plain, ALEATORIC.plain)

    @property
    def epistemic_share(self) -> np.ndarray:
        """(n,): the epistemic width over the whole width of each row, between 0 and 1."""
        return 1 - 1 / (1 + self.ratio)

    @property
    def total_epistemic_share(self) -> float:
        """The epistemic share of the mean width: of all rows together, between 0 and 1.

        Wide rows count as much as they are wide. It is what reports, pages and pictures call the
        share of ignorance. Rows of infinite width are left out; where no width is left, a half.
        """
        finite = self.widths[np.isfinite(self.widths).all(axis=1)]
        aleatoric, epistemic = finite.sum(axis=0)
        return float(epistemic / (aleatoric + epistemic)) if aleatoric + epistemic > 0 else 0.5

    def to_frame(self) -> Any:
        """A frame with a row per prediction: pandas, polars, ... as the rows that were predicted.

        Its columns are those of `predict_frame` at this level, without `unfamiliar`, and after them
        the calibrated distances below and above. A pandas frame has the index of the predicted
        one. Of rows that came as an array it is a frame of pandas, or of polars where pandas is not
        installed.
        """
        lower, upper = self.interval.T
        name = level_name(self.confidence_level)
        columns = {
            "prediction": self.center,
            f"lower_{name}": lower,
            f"upper_{name}": upper,
            "aleatoric": self.widths[:, 0],
            "epistemic": self.widths[:, 1],
            "epistemic_share": self.epistemic_share,
            "dominant": self.dominant,
            "aleatoric_below": self.aleatoric[:, 0],
            "aleatoric_above": self.aleatoric[:, 1],
            "epistemic_below": self.epistemic[:, 0],
            "epistemic_above": self.epistemic[:, 1],
        }
        return make_frame(columns, self.kind)

    def __repr__(self) -> str:
        return self._shown().text()

    def _repr_html_(self) -> str:
        return self._shown().html()

    def _shown(self) -> Shown:
        rows = range(min(len(self), MOST_SHOWN))
        aleatoric, epistemic = self.widths.T
        lower, upper = self.interval.T
        columns = {
            "row": [f"{row + 1:,}" for row in rows],
            "center": [number(self.center[row]) for row in rows],
            "lower": [number(lower[row]) for row in rows],
            "upper": [number(upper[row]) for row in rows],
            "aleatoric": [number(aleatoric[row]) for row in rows],
            "epistemic": [number(epistemic[row]) for row in rows],
            "epistemic_share": [_plain(percent(self.epistemic_share[row])) for row in rows],
        }
        share = percent(self.total_epistemic_share)
        title = f"{count(len(self))} at {level(self.confidence_level)}, {share} {SHARE}"
        left = len(self) - len(rows)
        return Shown(_plain(title), columns, f"{count(left, 'more row')}" if left else "")


def _plain(words: str) -> str:
    return words.replace(GAP, " ")
