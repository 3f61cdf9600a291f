"""Weights of rows as whole numbers of grains: kernels add whole numbers, which is exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

MOST_IN_ALL = 2**27  # grains: members that draw heavy rows more than once still fit into 31 bits
GRAINS_PER_ROW = 2**10  # of mean weight, where weights are no whole numbers
FINE_IN_ALL = 2**23  # so many rows get fewer
FEWEST_PER_ROW = 2**4
ROUNDING = 1e-9


@dataclass(frozen=True)
class Grains:
    """How many grains each row weighs; whole weights are themselves, so that a row of weight 3 and
    three copies of it are the same to a kernel. Without weights every row is one grain.
    """

    of_rows: np.ndarray | None = None  # (n,) int64
    per_one: float = 1.0  # grains that a weight of 1 has, a power of two

    @classmethod
    def of(cls, weight: np.ndarray | None) -> Grains:
        """Of weights (n,) that are not negative, or of none."""
        if weight is None:
            return cls()
        return cls.ground(weight, Weighed.of(weight).per_one)

    @classmethod
    def ground(cls, weight: np.ndarray, per_one: float) -> Grains:
        """Of weights among many others, for all of which a weight of 1 has so many grains."""
        grains = np.rint(weight * per_one).astype(np.int64)
        return cls(np.maximum(grains, weight > 0), per_one)  # a light row is a row

    def times(self, counts: np.ndarray) -> np.ndarray:
        """The grains of rows that are drawn `counts` (n,) times each."""
        return counts if self.of_rows is None else counts * self.of_rows

    def drawn(self, counts: np.ndarray) -> np.ndarray:
        """(b,): what the draws `counts` (b, n) weigh in all, in units of weight."""
        if self.of_rows is None:
            return counts.sum(axis=1, dtype=np.int64)
        return np.array([self.times(own).sum() for own in counts]) / self.per_one


EVEN = Grains()


class Weighed(NamedTuple):
    """What is to be known of weights before they are ground."""

    total: float
    n: float
    are_whole: bool

    @classmethod
    def of(cls, weight: np.ndarray) -> Weighed:
        return cls(float(weight.sum()), len(weight), np.array_equal(weight, np.rint(weight)))

    @property
    def per_one(self) -> float:
        """Grains of a weight of 1: those of a mean weight are as many as kernels can add up."""
        if self.are_whole and self.total <= MOST_IN_ALL:
            return 1.0
        fine = max(FINE_IN_ALL, FEWEST_PER_ROW * self.n)
        aim = min(GRAINS_PER_ROW * self.n, fine, MOST_IN_ALL)
        # Of weights that add up to n but for rounding, the order of adding decides nothing.
        return float(2.0 ** np.floor(np.log2(aim / self.total) + ROUNDING))
