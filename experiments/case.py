"""What a method sees of a split, what it gives back, and how it is listed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from experiments.fitted import Fitted
from experiments.protocol import LEVEL, Split


class Case(NamedTuple):
    """One split of one data set with the parts that were fitted on it."""

    validation: Fitted
    calibration: Fitted
    test: Fitted
    conformal: bool  # whether calibration rows are kept apart from validation rows
    X: np.ndarray  # the whole table, for methods that bring their own models
    y: np.ndarray
    split: Split
    seed: int
    level: float = LEVEL


class Result(NamedTuple):
    intervals: np.ndarray  # (n, 2) for the test rows
    lambda_: float = math.nan
    gamma1: float = math.nan
    center: np.ndarray | None = None  # of the test rows, unless it is that of PCS


class Method(NamedTuple):
    """How to get intervals, and which fitted parts its `fit_seconds` must count."""

    run: Callable[[Case], Result]
    parts: tuple[str, ...] = ()
    variants: tuple[str, ...] = ("a", "b", "c")
    setting: str = ""  # whose rows calibrate it, if not those of the setting it is listed in
    alone: bool = False  # brings its own models: no parts need be fitted for it
