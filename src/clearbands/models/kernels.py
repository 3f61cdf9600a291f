"""How alike two rows are, by the distance between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

Name = Literal["gaussian", "matern"]
KERNELS: tuple[Name, ...] = ("gaussian", "matern")
ROOT = float(np.sqrt(3))


@dataclass(frozen=True)
class Kernel:
    """Gaussian, of functions that are smooth without end; Matérn 3/2, of functions with kinks."""

    name: Name

    def __call__(self, distance: np.ndarray) -> np.ndarray:
        """1 at distance 0, 0 far away."""
        if self.name == "gaussian":
            return np.exp(-0.5 * distance**2)
        return (1 + ROOT * distance) * np.exp(-ROOT * distance)

    def slope(self, distance: np.ndarray) -> np.ndarray:
        """The derivative divided by the distance."""
        if self.name == "gaussian":
            return -np.exp(-0.5 * distance**2)
        return -3 * np.exp(-ROOT * distance)


def distances_between(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """(n, m): Euclidean, of rows (n, d) from rows (m, d)."""
    squares = A @ B.T
    squares *= -2
    squares += (A**2).sum(axis=1)[:, None]
    squares += (B**2).sum(axis=1)
    return np.sqrt(np.maximum(squares, 0, out=squares), out=squares)
