"""Weights of rows as whole numbers of grains: kernels add whole numbers, which is exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

MOST_IN_ALL = 2**27  # grains of all rows: with heavy rows drawn twice they fit into 31 bits
GRAINS_PER_ROW = 2**10  # for a row of mean weight, where weights are not whole numbers
FINE_IN_ALL = 2**23  # grains of all rows, beyond which each row gets fewer
FEWEST_PER_ROW = 2**4
ROUNDING = 1e-9


@dataclass(frozen=True)
class Grains:
    """The number of grains that each row weighs.

    Whole weights stay as they are, so that a row of weight 3 and three copies of it are the same to
    a kernel. Without weights every row is one grain.
    """

    of_rows: np.ndarray | None = None  # (n,) int64
    per_one: float = 1.0  # grains that a weight of 1 has, a power of two

    @classmethod
    def of(cls, weight: np.ndarray | None) -> Grains:
        """Return the grains of rows with weights (n,) that are not negative, or without weights."""
        if weight is None:
            return cls()
        return cls.ground(weight, Weighed.of(weight).per_one)

    @classmethod
    def ground(cls, weight: np.ndarray, per_one: float) -> Grains:
        """Return the grains of some of many weights; `per_one` holds for all of them."""
        grains = np.rint(weight * per_one).astype(np.int64)
        return cls(np.maximum(grains, weight > 0), per_one)  # a light row stays a row

    def times(self, counts: np.ndarray) -> np.ndarray:
        """Return the grains of rows that are drawn `counts` (n,) times each."""
        return counts if self.of_rows is None else counts * self.of_rows

    def drawn(self, counts: np.ndarray) -> np.ndarray:
        """Return the total weights (b,) of the draws `counts` (b, n)."""
        if self.of_rows is None:
            return counts.sum(axis=1, dtype=np.int64)
        return np.array([self.times(own).sum() for own in counts]) / self.per_one


EVEN = Grains()


class Weighed(NamedTuple):
    """The facts about weights that decide how many grains a weight of 1 has."""

    total: float
    n: float
    are_whole: bool

    @classmethod
    def of(cls, weight: np.ndarray) -> Weighed:
        return cls(float(weight.sum()), len(weight), np.array_equal(weight, np.rint(weight)))

    @property
    def per_one(self) -> float:
        """The grains of a weight of 1, as many as kernels can add up over all rows."""
        if self.are_whole and self.total <= MOST_IN_ALL:
            return 1.0
        fine = max(FINE_IN_ALL, FEWEST_PER_ROW * self.n)
        aim = min(GRAINS_PER_ROW * self.n, fine, MOST_IN_ALL)
        # Where weights add up to n but for rounding, ROUNDING keeps their order from deciding.
        return float(2.0 ** np.floor(np.log2(aim / self.total) + ROUNDING))
