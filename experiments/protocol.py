"""The paper's protocol: its splits of rows, seeds and level."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

LEVEL = 0.95
FIRST_SEED = 777
SEEDS = tuple(range(FIRST_SEED, FIRST_SEED + 10))
SETTINGS = ("standard", "conformalized")
VARIANTS = ("a", "b", "c", "default", "deep")
PUBLISHED = ("a", "b", "c")  # the paper's variants without its networks
QUICK_VARIANTS = VARIANTS[:-1]  # networks take many times as long as all others together
BOOTSTRAPS = 100


class Split(NamedTuple):
    """Row numbers. In the standard setting, validation and calibration are the same fifth."""

    train: np.ndarray
    validation: np.ndarray
    calibration: np.ndarray
    test: np.ndarray

    @property
    def held_out(self) -> np.ndarray:
        """All rows that train nothing."""
        return np.unique(np.concatenate([self.validation, self.calibration, self.test]))


def split_rows(n: int, seed: int, setting: str = "standard") -> Split:
    """Split rows 60/20/20; "conformalized" halves the second part into validation, calibration."""
    rest, test = train_test_split(np.arange(n), test_size=0.2, random_state=seed)
    train, fifth = train_test_split(rest, test_size=0.25, random_state=seed)
    if setting == "standard":
        return Split(train, fifth, fifth, test)
    if setting == "conformalized":
        return Split(train, *train_test_split(fifth, test_size=0.5, random_state=seed), test)
    raise ValueError(f"setting must be one of {SETTINGS}, got {setting!r}.")
