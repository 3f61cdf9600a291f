"""Plots for the page: coordinates of marks, which the template writes as SVG.

A plot is 1,000 units wide and high and is stretched to its place on the page, so that the words
around it, which are not part of the SVG, keep their size on any screen. Lines and dots are
strokes that do not stretch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from clearbands.rows.display import number

SIZE = 1000


@dataclass(frozen=True)
class Scale:
    """A scale that turns numbers into the 1,000 units of a plot."""

    low: float
    high: float

    @classmethod
    def around(cls, *values: np.ndarray, margin: float = 0.04) -> Scale:
        low = min(float(v.min()) for v in values)
        high = max(float(v.max()) for v in values)
        room = margin * (high - low) or abs(low) or 1.0
        return cls(low - room, high + room)

    def __call__(self, value: float) -> float:
        return round(SIZE * (value - self.low) / (self.high - self.low), 2)

    def down(self, value: float) -> float:
        """Return the place of a value from the top, as SVG counts."""
        return round(SIZE - self(value), 2)

    @property
    def ticks(self) -> list[Tick]:
        """The ticks below a plot, few enough to stand side by side on a phone."""
        return self._ticks(_nice((self.high - self.low) / 5, (1, 2, 5, 10)))

    @property
    def heights(self) -> list[Tick]:
        """The ticks beside a plot, which may be more."""
        return self._ticks(_nice((self.high - self.low) / 6, (1, 2, 2.5, 5, 10)))

    def _ticks(self, step: float) -> list[Tick]:
        first = math.ceil(self.low / step)
        values = [step * i for i in range(first, math.floor(self.high / step) + 1)]
        return [Tick(self(value) / 10, number(float(f"{value:.12g}"))) for value in values]


@dataclass(frozen=True)
class Tick:
    percent: float  # from the left or from the bottom
    label: str


@dataclass(frozen=True)
class Mark:
    """A bar, a line or a dot; `kind` names its look."""

    kind: str
    path: str


class Tooltip(NamedTuple):
    """A place with words that appear when it is pointed at, and its span from top to bottom."""

    x: float
    y: float
    words: str
    top: float
    bottom: float


@dataclass(frozen=True)
class Plot:
    """Marks between two axes; `tooltips` are places with words that appear when pointed at."""

    name: str
    says: str  # the plot in words, for those who cannot see it
    x_label: str
    y_label: str
    marks: Sequence[Mark]
    x_ticks: Sequence[Tick] = ()
    y_ticks: Sequence[Tick] = ()
    tooltips: Sequence[Tooltip] = ()
    zoom: str = ""  # "x", where heights follow the rows in view, "xy", or "" for no zoom
    x_range: tuple[float, float] | None = None  # needed where a zoom changes the ticks
    y_range: tuple[float, float] | None = None
    beyond: int = 0  # rows that reach out of the plot
    keys: dict[str, str] = field(default_factory=dict)  # look -> words


def _nice(step: float, digits: Sequence[float]) -> float:
    """Return the least of the digits times a power of ten that is not below `step`."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * digit for digit in digits if power * digit >= step * (1 - 1e-9))


def bar(x: float, width: float, top: float, bottom: float) -> str:
    left = round(x - width / 2, 2)
    return f"M{left} {top}h{round(width, 2)}V{bottom}h{-round(width, 2)}z"


def dot(x: float, y: float) -> str:
    return f"M{x} {y}h.01"


def line(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x} {y}" for x, y in points)
