"""Why an interval is wide: its two parts, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearbands.bands import make_interval


@dataclass(frozen=True)
class Uncertainty:
    """The parts of calibrated intervals at one level.

    `center - aleatoric[:, 0] - epistemic[:, 0]` is the lower bound, the upper likewise; up to the
    last digits, which `interval` rounds outwards.
    """

    center: np.ndarray  # (n,)
    aleatoric: np.ndarray  # (n, 2) calibrated distances below and above
    epistemic: np.ndarray  # (n, 2)
    confidence_level: float
    index: Any = None  # of the frame that was predicted, when it had one

    @property
    def interval(self) -> np.ndarray:
        """(n, 2): lower and upper bounds, the same as those of `predict_interval`."""
        return make_interval(self.center, self.aleatoric + self.epistemic)

    @property
    def ratio(self) -> np.ndarray:
        """(n,): epistemic over aleatoric width; above 1 more rows like this would help most."""
        epistemic, aleatoric = self.epistemic.sum(axis=1), self.aleatoric.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(np.isinf(epistemic), 1.0, epistemic / aleatoric)
        return np.where((epistemic == 0) & (aleatoric == 0), 1.0, ratio)

    @property
    def dominant(self) -> np.ndarray:
        """(n,): "epistemic" where more rows would help most, else "aleatoric"."""
        return np.where(self.ratio > 1, "epistemic", "aleatoric")

    def to_frame(self) -> Any:
        """A pandas frame with a row per prediction, under the index of the predicted frame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame() needs pandas: pip install pandas.") from error
        columns = {
            "center": self.center,
            "aleatoric_below": self.aleatoric[:, 0],
            "aleatoric_above": self.aleatoric[:, 1],
            "epistemic_below": self.epistemic[:, 0],
            "epistemic_above": self.epistemic[:, 1],
            "ratio": self.ratio,
            "dominant": self.dominant,
        }
        return pd.DataFrame(columns, index=self.index)
