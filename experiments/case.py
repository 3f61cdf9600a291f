"""The input of a method for one split, its result, and the entry by which it is listed."""

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
    center: np.ndarray | None = None  # (n,) for the test rows; None if it is that of PCS


class Method(NamedTuple):
    """A function that makes intervals, and the fitted parts that its `fit_seconds` includes."""

    run: Callable[[Case], Result]
    parts: tuple[str, ...] = ()
    variants: tuple[str, ...] = ("a", "b", "c")
    setting: str = ""  # the setting whose rows calibrate it, if it is not the one that lists it
    alone: bool = False  # whether it has its own models, so that no parts are fitted for it
