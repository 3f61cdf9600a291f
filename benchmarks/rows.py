"""The input and the output of the programs that are compared."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LEVEL = 0.95
BOOTSTRAPS = 100


class Rows(NamedTuple):
    """One split of a data set, without the test targets, which only the referee has."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_validation: np.ndarray
    y_validation: np.ndarray
    X_test: np.ndarray
    seed: int

    @classmethod
    def load(cls, path: str) -> Rows:
        with np.load(path) as file:
            return cls(*(file[name] for name in cls._fields[:-1]), int(file["seed"]))

    def first(self, n: int) -> Rows:
        """Return the first n rows of each part, to warm up with."""
        return Rows(*(array[:n] for array in self[:-1]), self.seed)


class Bounds(NamedTuple):
    """The predicted center and bounds of the test rows."""

    center: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    model: str  # the model that won
