"""The plots of the page."""

from __future__ import annotations

import math

import numpy as np

from clearbands.apps.report.facts import Facts
from clearbands.apps.report.plot import SIZE, Mark, Plot, Scale, Tick, Tooltip, bar, dot, line
from clearbands.calibration.lambda_path import LambdaPath, PathPoint
from clearbands.prediction.glossary import ALEATORIC, EPISTEMIC
from clearbands.prediction.uncertainty import UNCLEAR
from clearbands.rows.bands import make_interval
from clearbands.rows.display import change, level, number, percent
from clearbands.rows.messages import row_number

MOST_BARS = 240
MOST_DOTS = 800
MOST_FANS = 120
EVEN_RATIO = math.sqrt(2) - 1  # epistemic over aleatoric width where `dominant` changes
DOMINANT_WORDS = {
    ALEATORIC.plain: "Noise dominates",
    EPISTEMIC.plain: "Ignorance dominates",
    UNCLEAR: "Either may",
}


def bands(facts: Facts) -> Plot:
    """Plot the rows ordered by prediction, each interval as a bar, with the true values on top.

    A few rows that reach far beyond all others are cut off at the edge, where a mark stands for
    a true value that lies outside; zooming in on them shows them whole.
    """
    parts, y, inside = facts.parts, facts.y, facts.inside
    order = np.argsort(parts.center, kind="stable")
    order = order[_evenly(len(order), MOST_BARS)]
    inner, outer = make_interval(parts.center, parts.aleatoric), facts.interval
    ends = np.column_stack([outer, y])[order]
    scale = Scale.around(_common_range(ends))
    step = SIZE / len(order)
    places = [(round(step * (i + 0.5), 2), int(row)) for i, row in enumerate(order)]
    marks = [
        Mark(kind, bar(x, 0.86 * step, *(scale.down(end) for end in bounds[row][::-1])))
        for kind, bounds in ((EPISTEMIC.name, outer), (ALEATORIC.name, inner))
        for x, row in places
    ]
    marks.append(Mark("line", line([(x, scale.down(parts.center[row])) for x, row in places])))
    for kind, which in (("dot", inside), ("outside", ~inside)):
        marks += [Mark(kind, dot(x, scale.down(y[row]))) for x, row in places if which[row]]
    marks += [
        Mark("beyond", dot(x, min(max(scale.down(y[row]), 0.0), SIZE)))
        for x, row in places
        if not scale.low <= y[row] <= scale.high
    ]
    return Plot(
        "bands",
        f"{len(order)} intervals in two layers, ordered by prediction, with the true values",
        "Rows, ordered by prediction",
        facts.in_unit(facts.target),
        marks,
        y_ticks=scale.heights,
        tooltips=[_row_tooltip(facts, row, x, scale.down(y[row]), scale) for x, row in places],
        zoom="x",
        y_range=(scale.low, scale.high),
        beyond=int(np.sum((ends.min(axis=1) < scale.low) | (ends.max(axis=1) > scale.high))),
        keys={
            ALEATORIC.name: ALEATORIC.label,
            EPISTEMIC.name: EPISTEMIC.label,
            "line": "Prediction",
            "dot": "True value inside",
            "outside": "True value outside",
        },
    )


def fan(facts: Facts) -> Plot | None:
    """Plot the rows ordered by prediction, with an interval of each level within the next."""
    bounds = [each for each in facts.fan.values() if np.isfinite(each).all()]
    if len(bounds) < 2:
        return None
    order = np.argsort(facts.parts.center, kind="stable")
    order = order[_evenly(len(order), MOST_FANS)]
    ends = np.column_stack([bounds[0], facts.y])[order]
    scale = Scale.around(_common_range(ends))
    step = SIZE / len(order)
    places = [(round(step * (i + 0.5), 2), int(row)) for i, row in enumerate(order)]
    marks = [
        Mark(f"fan-{j}", bar(x, 0.86 * step, *(scale.down(end) for end in each[row][::-1])))
        for j, each in enumerate(bounds)
        for x, row in places
    ]
    marks.append(
        Mark("line", line([(x, scale.down(facts.parts.center[row])) for x, row in places]))
    )
    marks += [Mark("dot", dot(x, scale.down(facts.y[row]))) for x, row in places]
    names = {f"fan-{j}": level(at) for j, at in enumerate(facts.fan)}
    return Plot(
        "fan",
        f"{len(order)} rows, each with intervals at {len(bounds)} levels, and the true values",
        "Rows, ordered by prediction",
        facts.in_unit(facts.target),
        marks,
        y_ticks=scale.heights,
        tooltips=[_fan_tooltip(facts, row, x, scale) for x, row in places],
        zoom="x",
        y_range=(scale.low, scale.high),
        beyond=int(np.sum((ends.min(axis=1) < scale.low) | (ends.max(axis=1) > scale.high))),
        keys=names | {"line": "Prediction", "dot": "True value"},
    )


def _fan_tooltip(facts: Facts, row: int, x: float, scale: Scale) -> Tooltip:
    lines = [f"Row {row_number(row):,}", f"true value {number(facts.y[row])}"]
    lines += [
        f"{level(at)}: {number(bounds[row, 0])} to {number(bounds[row, 1])}"
        for at, bounds in facts.fan.items()
    ]
    widest = next(iter(facts.fan.values()))[row]
    ends = [scale.down(end) for end in (*widest, facts.y[row])]
    return Tooltip(x, scale.down(facts.y[row]), "\n".join(lines), min(ends), max(ends))


def parts_of_rows(facts: Facts) -> Plot:
    """Plot every row by its aleatoric and its epistemic width, with the line where both are equal.

    A few rows far wider than all others are left out: they would press the rest into a corner.
    """
    widths = facts.widths
    frame = np.array([_common_largest(w) for w in widths.T])
    rows = _evenly(len(widths), MOST_DOTS)
    rows = rows[(widths[rows] <= frame).all(axis=1)]
    x, y = (Scale(0.0, 1.04 * end or 1.0) for end in frame.tolist())
    end = min(x.high, y.high / EVEN_RATIO)
    marks = [Mark("equal", line([(x(0), y.down(0)), (x(end), y.down(EVEN_RATIO * end))]))]
    dominant = facts.parts.dominant
    looks = {"dot less": ALEATORIC.plain, "unclear": UNCLEAR, "square": EPISTEMIC.plain}
    looks = {look: part for look, part in looks.items() if (dominant == part).any()}
    for look, part in looks.items():
        marks += [
            Mark(look, dot(x(widths[row, 0]), y.down(widths[row, 1])))
            for row in rows[dominant[rows] == part]
        ]
    return Plot(
        "rows",
        f"{len(rows)} rows by {ALEATORIC.name} and {EPISTEMIC.name} width",
        facts.in_unit(f"Width by {ALEATORIC.plain}"),
        facts.in_unit(f"Width by {EPISTEMIC.plain}"),
        marks,
        x_ticks=x.ticks,
        y_ticks=y.heights,
        tooltips=[
            _row_tooltip(facts, row, x(widths[row, 0]), y.down(widths[row, 1]), None)
            for row in rows
        ],
        zoom="xy",
        x_range=(x.low, x.high),
        y_range=(y.low, y.high),
        keys={
            **{look: DOMINANT_WORDS[part] for look, part in looks.items()},
            "equal": "Equal, by their squares",
        },
    )


def losses(facts: Facts) -> Plot | None:
    """Plot the loss over lambda; None where no lambda has a finite loss, or there is no lambda."""
    path = facts.path
    if path is None:
        return None
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
    marks = [Mark("line", line([(x(share), y.down(loss)) for share, loss in points]))]
    marks += [
        Mark(kind, dot(x(point.share), y.down(point.loss)))
        for kind, point in reversed(named.items())
    ]
    lambdas = path.lambdas[drawn].tolist()
    return Plot(
        "lambda",
        f"Quantile loss over lambda; the chosen one is {number(path.chosen.lambda_)}",
        f"λ: from {ALEATORIC.plain} only (0) to {EPISTEMIC.plain} only (∞)",
        facts.in_unit("Quantile loss"),
        marks,
        x_ticks=[Tick(x(share) / 10, label) for share, label in path.ticks()],
        y_ticks=y.heights,
        tooltips=[
            Tooltip(
                x(share),
                y.down(loss),
                f"λ = {number(lambda_)}\nloss {number(loss)}\n"
                f"{percent(share)} of the mean width {EPISTEMIC.plain}",
                0,
                SIZE,
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
    return f"Fixed: {name}, loss {change(point.loss / path.chosen.loss - 1)}"


def _row_tooltip(facts: Facts, row: int, x: float, y: float, scale: Scale | None) -> Tooltip:
    """Return what a row tells; in the plot of bands it spans its interval and its true value."""
    span = (y, y)
    if scale is not None:
        ends = [scale.down(end) for end in (*facts.interval[row], facts.y[row])]
        span = (min(ends), max(ends))
    return Tooltip(x, y, _row_words(facts, row), *span)


def _row_words(facts: Facts, row: int) -> str:
    low, high = facts.interval[row]
    lines = [
        f"Row {row_number(row):,}",
        f"prediction {number(facts.parts.center[row])}",
        f"interval {number(low)} to {number(high)}",
        f"true value {number(facts.y[row])}" + ("" if facts.inside[row] else " (outside)"),
        f"{percent(facts.epistemic_shares[row])} of the width {EPISTEMIC.plain}",
    ]
    return "\n".join(lines)


def _common_largest(values: np.ndarray) -> float:
    """Return the largest value, or that of the lowest 99 % if it is less than half as large."""
    largest, common = float(values.max()), float(np.quantile(values, 0.99, method="lower"))
    return common if 2 * common < largest else largest


def _common_range(values: np.ndarray) -> np.ndarray:
    """Return the ends of all values, or of the middle 98 % if these span less than half as much."""
    whole = np.array([values.min(), values.max()])
    common = np.array(
        [
            np.quantile(values.min(axis=1), 0.01, method="higher"),
            np.quantile(values.max(axis=1), 0.99, method="lower"),
        ]
    )
    return common if 0 < 2 * np.ptp(common) < np.ptp(whole) else whole


def _evenly(n: int, most: int) -> np.ndarray:
    """Return at most `most` of the numbers 0 .. n - 1, with the first and the last among them."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int))
