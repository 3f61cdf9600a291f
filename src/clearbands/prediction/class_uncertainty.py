"""Why a class is uncertain: two entropies, row by row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clearbands.prediction.glossary import ALEATORIC, EPISTEMIC
from clearbands.rows.display import GAP, Preview, count, number, percent
from clearbands.tables.native import FrameKind, make_frame

MOST_SHOWN = 8


@dataclass(frozen=True, repr=False)
class ClassUncertainty:
    """The uncertainty of classes in bits: 0 is certain, and 1 is as unsure as a tossed coin.

    `total` is the entropy of the pooled probabilities. `aleatoric` is the mean entropy of the
    members: the part that each of them takes for chance. `epistemic` is the rest, which comes from
    their disagreement.

    Examples
    --------
    Two members that see a coin, and two that are sure of opposite things:

    >>> coin, opposite = [[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]
    >>> ClassUncertainty.of_members(np.array([coin, opposite]))
    2 rows, 1 bits on average, 50 % of them epistemic
      row  total  aleatoric  epistemic
        1      1          1          0
        2      1          0          1
    """

    total: np.ndarray  # (n,)
    aleatoric: np.ndarray  # (n,)
    epistemic: np.ndarray  # (n,)
    kind: FrameKind = field(default=FrameKind(), compare=False)  # the kind of the predicted rows

    @classmethod
    def of_members(
        cls, probabilities: np.ndarray, kind: FrameKind | None = None
    ) -> ClassUncertainty:
        """Split the entropy of probabilities (n, members, classes)."""
        total = entropy(probabilities.mean(axis=1))
        aleatoric = entropy(probabilities).mean(axis=1)
        aleatoric = np.where(total - aleatoric < 1e-12, total, aleatoric)  # the last digits
        return cls(total, aleatoric, total - aleatoric, kind or FrameKind())

    def __len__(self) -> int:
        return len(self.total)

    @property
    def ratio(self) -> np.ndarray:
        """Epistemic over aleatoric entropy (n,); above 1, more rows like this would help most."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.epistemic / self.aleatoric
        return np.where(self.total == 0, 1.0, ratio)

    @property
    def dominant(self) -> np.ndarray:
        """The larger part (n,): "ignorance" if more rows would help most, or else "noise"."""
        return np.where(self.ratio > 1, EPISTEMIC.plain, ALEATORIC.plain)

    @property
    def epistemic_share(self) -> np.ndarray:
        """The epistemic share of each row's bits (n,), between 0 and 1; 0 if there are none."""
        share = np.zeros(len(self))
        return np.divide(self.epistemic, self.total, out=share, where=self.total > 0)

    @property
    def mean_share(self) -> float:
        """The epistemic share of all bits of all rows; 0 if there are no bits."""
        bits = self.total.sum()
        return float(self.epistemic.sum() / bits) if bits > 0 else 0.0

    def to_frame(self) -> Any:
        """Return a frame with a row per prediction, of the kind of the rows that were predicted."""
        columns = {
            "total": self.total,
            "aleatoric": self.aleatoric,
            "epistemic": self.epistemic,
            "epistemic_share": self.epistemic_share,
            "dominant": self.dominant,
        }
        return make_frame(columns, self.kind)

    def __repr__(self) -> str:
        return self._preview().text()

    def _repr_html_(self) -> str:
        return self._preview().html()

    def _preview(self) -> Preview:
        n = min(len(self), MOST_SHOWN)
        columns = {"row": [f"{row + 1:,}" for row in range(n)]}
        for name in ("total", "aleatoric", "epistemic"):
            columns[name] = [number(bits) for bits in getattr(self, name)[:n]]
        title = (
            f"{count(len(self))}, {number(self.total.mean())} bits on average, "
            f"{percent(self.mean_share)} of them epistemic"
        )
        left = len(self) - n
        return Preview(title.replace(GAP, " "), columns, count(left, "more row") if left else "")


def entropy(probabilities: np.ndarray) -> np.ndarray:
    """Return the entropy along the last axis, in bits; 0 log 0 is 0."""
    positive = np.where(probabilities > 0, probabilities, 1.0)
    return np.abs((positive * np.log2(positive)).sum(axis=-1))  # never -0.0
