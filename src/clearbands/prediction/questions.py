"""The questions about y that a model answers besides its intervals at the levels of the fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from clearbands.rows.checks import check_side
from clearbands.rows.levels import check_levels, check_quantiles, check_tails

FAN = (0.95, 0.8, 0.5)  # levels whose intervals pages show within each other

Thresholds: TypeAlias = Mapping[str, "float | np.ndarray"]


@dataclass(frozen=True)
class Questions:
    """The questions of a request, by default intervals at the levels of the fit, all checked here.

    `above` and `below` hold values whose chances are asked for, by the names that they have in the
    columns of the answer; a value is a number, or one number per row (n,). `tails` are the shares
    of targets below and above, instead of a level.

    >>> Questions(quantiles=[0.9, 0.1]).quantiles
    (0.1, 0.9)
    >>> Questions(above={"cheap": float("nan")})
    Traceback (most recent call last):
    ValueError: above must be a finite number, got nan.
    """

    levels: Sequence[float] = ()
    side: str = "both"
    quantiles: Sequence[float] = ()
    above: Thresholds = field(default_factory=dict)
    below: Thresholds = field(default_factory=dict)
    tails: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        check_side(self.side)
        if self.tails is not None:
            check_tails(self.tails)
            if self.levels or self.side != "both":
                raise ValueError("tails say the level and the side: leave out level and side.")
        if self.levels:
            check_levels(list(self.levels))
        rising = tuple(sorted(set(self.quantiles)))
        if rising:
            check_quantiles(rising)
        object.__setattr__(self, "quantiles", rising)
        for name, thresholds in (("above", self.above), ("below", self.below)):
            for value in thresholds.values():
                if np.ndim(value) == 0 and not math.isfinite(value):
                    raise ValueError(f"{name} must be a finite number, got {value:g}.")

    def rows(self, start: int, stop: int) -> Questions:
        """Return the questions about some of the rows."""
        above, below = (
            {name: _part(value, start, stop) for name, value in thresholds.items()}
            for thresholds in (self.above, self.below)
        )
        return replace(self, above=above, below=below)


def fan_levels(model: Any) -> list[float]:
    """Return the levels of `FAN` for which the calibration rows of a model suffice."""
    bands = model.any_level_
    return [] if bands is None else [level for level in FAN if level <= bands.highest]


def tails_in(name: str, text: str) -> tuple[float, float]:
    """Return the two shares in BELOW:ABOVE.

    >>> tails_in("--tails", "0.02:0.08")
    (0.02, 0.08)
    """
    below, _, above = text.partition(":")
    try:
        return float(below), float(above)
    except ValueError:
        raise ValueError(
            f"{name} takes BELOW:ABOVE, two shares such as 0.02:0.08, got {text!r}."
        ) from None


def name_of(value: float) -> str:
    """Return a number as part of the name of a column: no two numbers have the same.

    >>> name_of(400_000.0), name_of(0.1)
    ('400000', '0.1')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _part(value: float | np.ndarray, start: int, stop: int) -> float | np.ndarray:
    return value[start:stop] if isinstance(value, np.ndarray) else value
