"""Who sees which rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing


@dataclass(frozen=True)
class Rows:
    """Some rows of a table and their targets."""

    X: Any
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: np.ndarray) -> Rows:
        return Rows(_safe_indexing(self.X, index), self.y[index])


def hold_out(rows: Rows, share: float, rng: np.random.RandomState) -> tuple[Rows, Rows]:
    """The rows that stay and a random `share` of them, rounded up, that is held out."""
    n_held_out = ceil(share * len(rows))
    if len(rows) - n_held_out < 1 or n_held_out < 1:
        raise ValueError(
            f"Rows cannot be held out of n_samples={len(rows)}: "
            "both sides need at least 1 row. Give more rows."
        )
    order = rng.permutation(len(rows))
    return rows.take(order[n_held_out:]), rows.take(order[:n_held_out])
