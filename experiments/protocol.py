"""The paper's protocol: which rows, which seeds, which level."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from experiments import authors

LEVEL = authors.LEVEL
SEEDS = tuple(range(777, 787))
SETTINGS = ("standard", "conformalized")
VARIANTS = ("a", "b", "c", "default", "deep")
QUICK_VARIANTS = VARIANTS[:-1]  # networks take many times as long as all others together
BOOTSTRAPS = authors.N_BOOTSTRAPS


class Split(NamedTuple):
    """Row numbers. In the standard setting validation and calibration are the same fifth."""

    train: np.ndarray
    validation: np.ndarray
    calibration: np.ndarray
    test: np.ndarray

    @property
    def held_out(self) -> np.ndarray:
        """All rows that train nothing."""
        return np.unique(np.concatenate([self.validation, self.calibration, self.test]))


def split_rows(n: int, seed: int, setting: str) -> Split:
    """60/20/20; conformalized halves the validation fifth into validation and calibration."""
    train, fifth, test = authors.split_rows(n, seed)
    if setting == "standard":
        return Split(train, fifth, fifth, test)
    if setting == "conformalized":
        return Split(train, *train_test_split(fifth, test_size=0.5, random_state=seed), test)
    raise ValueError(f"setting must be one of {SETTINGS}, got {setting!r}.")
