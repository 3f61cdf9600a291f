"""Pictures for the page: coordinates of marks, which the template writes as SVG.

A plot is 1,000 units wide and high and is stretched to its place on the page, so that the words
around it, which are not part of the SVG, keep their size on any screen. Lines and dots are
strokes that do not stretch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from clearbands.bands import make_interval
from clearbands.lambda_loss import LambdaPath, PathPoint
from clearbands.report.facts import Facts
from clearbands.report.words import number, percent

SIZE = 1000
MOST_BARS = 240
MOST_DOTS = 800


@dataclass(frozen=True)
class Scale:
    """From numbers to the 1,000 units of a plot."""

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
        """From the top, as SVG counts."""
        return round(SIZE - self(value), 2)

    @property
    def ticks(self) -> list[Tick]:
        step = _nice((self.high - self.low) / 5)
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


@dataclass(frozen=True)
class Plot:
    """Marks between two axes. `spots` are the places that tell something when pointed at."""

    name: str
    says: str  # for those who cannot see it
    x_label: str
    y_label: str
    marks: Sequence[Mark]
    x_ticks: Sequence[Tick] = ()
    y_ticks: Sequence[Tick] = ()
    spots: Sequence[tuple[float, float, str]] = ()
    zoom: str = ""  # "x", "xy" or nothing
    x_range: tuple[float, float] | None = None  # of the axis, where a zoom is to rename its ticks
    y_range: tuple[float, float] | None = None
    keys: dict[str, str] = field(default_factory=dict)  # look -> words


def bands(facts: Facts, target: str) -> Plot:
    """The rows ordered by prediction, each interval a bar, with the true values on top."""
    parts, y, inside = facts.parts, facts.y, facts.inside
    order = np.argsort(parts.center, kind="stable")
    order = order[_evenly(len(order), MOST_BARS)]
    inner, outer = make_interval(parts.center, parts.aleatoric), facts.interval
    scale = Scale.around(outer[order], y[order])
    step = SIZE / len(order)
    at = [round(step * (i + 0.5), 2) for i in range(len(order))]
    marks = []
    for kind, bounds in (("epistemic", outer), ("aleatoric", inner)):
        marks += [
            Mark(kind, _bar(x, 0.86 * step, scale.down(high), scale.down(low)))
            for x, (low, high) in zip(at, bounds[order], strict=True)
        ]
    line = [(x, scale.down(parts.center[row])) for x, row in zip(at, order, strict=True)]
    marks.append(Mark("line", _line(line)))
    for kind, which in (("dot", inside), ("outside", ~inside)):
        spots = [(x, scale.down(y[row])) for x, row in zip(at, order, strict=True) if which[row]]
        marks += [Mark(kind, _dot(*spot)) for spot in spots]
    return Plot(
        "bands",
        f"{len(order)} intervals in two layers, ordered by prediction, with the true values",
        "Rows, ordered by prediction",
        target,
        marks,
        y_ticks=scale.ticks,
        spots=[
            (x, scale.down(y[row]), _row_words(facts, row))
            for x, row in zip(at, order, strict=True)
        ],
        zoom="x",
        keys={
            "aleatoric": "Aleatoric: noise",
            "epistemic": "Epistemic: too few data",
            "line": "Prediction",
            "dot": "True value inside",
            "outside": "True value outside",
        },
    )


def parts_of_rows(facts: Facts) -> Plot:
    """Every row by its aleatoric and its epistemic width, with the line where they are equal.

    A few rows far wider than all others are left out: they would press the rest into a corner.
    """
    widths = facts.widths
    frame = np.array([_common_largest(w) for w in widths.T])
    rows = _evenly(len(widths), MOST_DOTS)
    rows = rows[(widths[rows] <= frame).all(axis=1)]
    x, y = (Scale(0.0, 1.04 * end or 1.0) for end in frame.tolist())
    end = min(x.high, y.high)
    marks = [Mark("equal", _line([(x(0), y.down(0)), (x(end), y.down(end))]))]
    for kind, which in (("dot noise", facts.parts.ratio <= 1), ("square", facts.parts.ratio > 1)):
        marks += [
            Mark(kind, _dot(x(widths[row, 0]), y.down(widths[row, 1])))
            for row in rows
            if which[row]
        ]
    return Plot(
        "rows",
        f"{len(rows)} rows by aleatoric and epistemic width",
        "Aleatoric width",
        "Epistemic width",
        marks,
        x_ticks=x.ticks,
        y_ticks=y.ticks,
        spots=[(x(widths[row, 0]), y.down(widths[row, 1]), _row_words(facts, row)) for row in rows],
        zoom="xy",
        x_range=(x.low, x.high),
        y_range=(y.low, y.high),
        keys={
            "dot noise": "Noise outweighs ignorance",
            "square": "Ignorance outweighs noise",
            "equal": "Both equal",
        },
    )


def losses(path: LambdaPath) -> Plot | None:
    """The loss over lambda; None where no lambda gives a finite one."""
    drawn = np.isfinite(path.losses)
    if not drawn.any():
        return None
    named = {"chosen": path.chosen, "ratio-one": path.ratio_one}
    if path.gamma_one is not None:
        named["gamma-one"] = path.gamma_one
    named = {kind: point for kind, point in named.items() if math.isfinite(point.loss)}
    y = Scale.around(path.losses[drawn], np.array([point.loss for point in named.values()]))
    x = Scale(-0.02, 1.02)
    points = list(zip(path.shares[drawn], path.losses[drawn], strict=True))
    marks = [Mark("line", _line([(x(share), y.down(loss)) for share, loss in points]))]
    marks += [
        Mark(kind, _dot(x(point.share), y.down(point.loss)))
        for kind, point in reversed(named.items())
    ]
    lambdas = path.lambdas[drawn].tolist()
    return Plot(
        "lambda",
        f"Quantile loss over lambda; the chosen one is {number(path.chosen.lambda_)}",
        "λ: from noise only (0) to ignorance only (∞)",
        "Quantile loss",
        marks,
        x_ticks=[Tick(x(share) / 10, label) for share, label in path.ticks()],
        y_ticks=y.ticks,
        spots=[
            (
                x(share),
                y.down(loss),
                f"λ = {number(lambda_)}\nloss {number(loss)}\n"
                f"{percent(share)} of the mean width epistemic",
            )
            for (share, loss), lambda_ in zip(points, lambdas, strict=True)
        ],
        keys={kind: _point_words(kind, point, path) for kind, point in named.items()},
    )


def _point_words(kind: str, point: PathPoint, path: LambdaPath) -> str:
    if kind == "chosen":
        return f"Chosen: λ = {number(point.lambda_)}, loss {number(point.loss)}"
    name = "λ = 1" if kind == "ratio-one" else f"γ₁ = 1 (λ = {number(point.lambda_)})"
    if not 0 < path.chosen.loss < math.inf:
        return f"Fixed: {name}, loss {number(point.loss)}"
    change = 100 * (point.loss / path.chosen.loss - 1)
    return f"Fixed: {name}, loss {change:+.1f} %"


def _row_words(facts: Facts, row: int) -> str:
    low, high = facts.interval[row]
    said = [
        f"Row {row + 1:,}",
        f"prediction {number(facts.parts.center[row])}",
        f"interval {number(low)} to {number(high)}",
        f"true value {number(facts.y[row])}" + ("" if facts.inside[row] else " (outside)"),
        f"{percent(facts.epistemic_shares[row])} of the width epistemic",
    ]
    return "\n".join(said)


def _common_largest(values: np.ndarray) -> float:
    """The largest value, or that of the lowest 99 % if it is less than half as large."""
    largest, common = float(values.max()), float(np.quantile(values, 0.99, method="lower"))
    return common if 2 * common < largest else largest


def _evenly(n: int, most: int) -> np.ndarray:
    """At most `most` of the numbers 0 .. n - 1, the first and the last among them."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int))


def _nice(step: float) -> float:
    """1, 2 or 5 times a power of ten, not below `step`."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= step * (1 - 1e-9))


def _bar(x: float, width: float, top: float, bottom: float) -> str:
    left = round(x - width / 2, 2)
    return f"M{left} {top}h{round(width, 2)}V{bottom}h{-round(width, 2)}z"


def _dot(x: float, y: float) -> str:
    return f"M{x} {y}h.01"


def _line(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x} {y}" for x, y in points)
