"""Why a class is uncertain: two entropies, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ClassUncertainty:
    """Entropies in bits: 0 is certain, 1 a coin that is tossed.

    `total` is the entropy of the pooled probabilities. `aleatoric` is the mean entropy of the
    members, what each of them holds for chance; `epistemic` the rest, which comes of their
    disagreement.
    """

    total: np.ndarray  # (n,)
    aleatoric: np.ndarray  # (n,)
    epistemic: np.ndarray  # (n,)
    index: Any = None  # of the frame that was predicted, when it had one

    @classmethod
    def of_members(cls, probabilities: np.ndarray, index: Any = None) -> ClassUncertainty:
        """From (n, members, classes)."""
        total = entropy(probabilities.mean(axis=1))
        aleatoric = entropy(probabilities).mean(axis=1)
        aleatoric = np.where(total - aleatoric < 1e-12, total, aleatoric)  # the last digits
        return cls(total, aleatoric, total - aleatoric, index)

    @property
    def ratio(self) -> np.ndarray:
        """(n,): epistemic over aleatoric; above 1 more rows like this would help most."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.epistemic / self.aleatoric
        return np.where(self.total == 0, 1.0, ratio)

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
            "total": self.total,
            "aleatoric": self.aleatoric,
            "epistemic": self.epistemic,
            "ratio": self.ratio,
            "dominant": self.dominant,
        }
        return pd.DataFrame(columns, index=self.index)


def entropy(probabilities: np.ndarray) -> np.ndarray:
    """Along the last axis, in bits; 0 log 0 is 0."""
    positive = np.where(probabilities > 0, probabilities, 1.0)
    return -(positive * np.log2(positive)).sum(axis=-1)
