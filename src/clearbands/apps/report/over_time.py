"""A page about a model over time: rolling coverage, widths, unfamiliar rows, drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from clearbands.apps.report import Report, render
from clearbands.apps.report.answer import COME_LATER, cannot_tell, warning
from clearbands.apps.report.plot import SIZE, Mark, Plot, Scale, Tick, Tooltip, line
from clearbands.calibration.rolling import Rolling
from clearbands.prediction.glossary import ALEATORIC, EPISTEMIC
from clearbands.rows.display import count, level, number, percent
from clearbands.rows.levels import find_level, normal_distances
from clearbands.rows.time_order import show_time
from clearbands.rows.typed import TableLike

if TYPE_CHECKING:
    from clearbands.regressor import ClearRegressor

FEWEST_ROWS = 60
POINTS = 120  # points along each line, at most
SMALLEST_STRETCH = 30  # the fewest rows over which a share is taken
N_CELLS = 10  # cells of positions, whose shares are compared


@dataclass(frozen=True)
class CoverageHistory:
    """Shares and means over stretches of rows, at points in time."""

    level: float
    n_rows: int
    stretch: int  # how many rows each point looks back
    ends: np.ndarray  # (points,): the last row of each stretch
    times: np.ndarray  # (n,): the times of the rows, or their numbers
    coverage: np.ndarray  # (points,): by the intervals of the fit
    updated: np.ndarray  # (points,): by the intervals that `update` would have given
    aleatoric: np.ndarray  # (points,): mean widths of the fit
    epistemic: np.ndarray
    strange: np.ndarray | None  # (points,): shares of unfamiliar rows
    drift: np.ndarray  # (points,): how far the errors are from those of the calibration rows
    covered: float  # the share of all rows inside the intervals of the fit
    covered_updated: float  # the share of all rows inside the intervals with updates
    advice: str | None  # why the model should be fitted again after the last row

    @property
    def worst(self) -> int:
        """The point at which the fit covered least."""
        return int(np.argmin(self.coverage))


def measure_history(
    model: ClearRegressor,
    X: TableLike,
    y: np.ndarray,
    *,
    times: np.ndarray | None = None,
    calibration_groups: ArrayLike | None = None,
    confidence_level: float | None = None,
    stretch: int | None = None,
) -> CoverageHistory:
    """Measure a model on rows that the fit did not see, in the order of time, without its updates.

    Each point looks back over `stretch` rows, by default a twentieth of all rows.
    """
    n = len(y)
    if n < FEWEST_ROWS:
        raise ValueError(f"{n} rows are too few to watch a model: give at least {FEWEST_ROWS}.")
    j = find_level(model.levels_, confidence_level)
    stretch = min(max(SMALLEST_STRETCH, n // 20) if stretch is None else stretch, n)
    ends = np.unique(np.linspace(stretch - 1, n - 1, POINTS).astype(int))
    placed = model.placed(X, y, calibration_groups=calibration_groups)
    assert model.any_level_ is not None  # without it, no row could be placed
    calibration = model.any_level_.positions
    inside = np.abs(placed.positions) <= normal_distances(model.levels_)[j]
    pace = model.rolling_.pace if hasattr(model, "rolling_") else model.first_pace()
    rolling = Rolling.begin(model.levels_, calibration, pace)
    below, above = rolling.rows_outside(placed.positions)[:, j].T
    inside_updated = ~(below | above)
    parts = model.without_updates().predict_uncertainties(X, calibration_groups=calibration_groups)[
        j
    ]

    def mean(values: np.ndarray) -> np.ndarray:
        sums = np.concatenate([[0.0], np.cumsum(values.astype(float))])
        return (sums[ends + 1] - sums[ends + 1 - stretch]) / stretch

    return CoverageHistory(
        level=float(model.levels_[j]),
        n_rows=n,
        stretch=stretch,
        ends=ends,
        times=1 + np.arange(n) if times is None else times,
        coverage=mean(inside),
        updated=mean(inside_updated),
        aleatoric=mean(parts.aleatoric.sum(axis=1)),
        epistemic=mean(parts.epistemic.sum(axis=1)),
        strange=None if placed.strange is None else mean(placed.strange),
        drift=_drift(calibration, placed.positions, ends, stretch),
        covered=float(inside.mean()),
        covered_updated=float(inside_updated.mean()),
        advice=rolling.updated_by(placed.positions, placed.strange).advice(),
    )


def _drift(
    reference: np.ndarray, positions: np.ndarray, ends: Sequence[int] | np.ndarray, stretch: int
) -> np.ndarray:
    """Return the population stability index (points,) of positions against the calibration set.

    Cells hold a tenth of the calibration rows each; half a row more in each keeps the index finite.
    The mean of the index by chance with so few rows is subtracted; the result is at least 0.

    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(size=5000), np.concatenate([rng.normal(size=500), np.full(500, 3)])
    >>> [round(float(index), 1) for index in _drift(old, new, [499, 999], 500)]
    [0.0, 6.1]
    """
    edges = np.quantile(reference, np.arange(1, N_CELLS) / N_CELLS)
    expected = (np.bincount(np.searchsorted(edges, reference), minlength=N_CELLS) + 0.5) / (
        len(reference) + N_CELLS / 2
    )
    by_chance = (N_CELLS - 1) * (1 / stretch + 1 / len(reference))
    cells = np.searchsorted(edges, positions)
    indices = []
    for end in ends:
        counts = np.bincount(cells[end + 1 - stretch : end + 1], minlength=N_CELLS)
        seen = (counts + 0.5) / (stretch + N_CELLS / 2)
        indices.append(float(np.sum((seen - expected) * np.log(seen / expected))))
    return np.maximum(np.array(indices) - by_chance, 0)


DRIFTED = 0.25
"""The population stability index from which on there is a shift; below 0.1 there is none."""


def make_monitor(
    history: CoverageHistory,
    *,
    target: str,
    unit: str = "",
    origin: Mapping[str, str] | None = None,
    n_seen: int = 0,
) -> Report:
    """Make the page about a model over time.

    `origin` says where model and rows came from, line by line, and `n_seen` how many of the rows
    took part in the fit.
    """
    worst, rows = history.worst, count(history.n_rows)
    seen = warning(n_seen, history.n_rows, COME_LATER)
    return render(
        "monitor.html",
        origin,
        history=history,
        facts=None,
        title=f"{target} as time goes on",
        over=f"{level(history.level)} intervals for {target} · {rows} · {_moment(history, 0)} to "
        f"{_moment(history, history.n_rows - 1)}",
        warning=seen,
        verdict=cannot_tell("intervals") if seen else verdict(history),
        lead=history.advice
        or ("" if seen else "These rows give no reason to fit the model again."),
        worst=f"{_moment(history, _first_row(history, worst))} to "
        f"{_moment(history, int(history.ends[worst]))}",
        plots={
            "coverage": coverage(history),
            "widths": widths(history, unit),
            "strange": strange(history),
            "drift": drift(history),
        },
        script=True,
    )


def verdict(history: CoverageHistory) -> str:
    """Return the page in one sentence."""
    promised, covered = level(history.level), percent(history.covered)
    if history.advice is not None:
        return "The model should be fitted again."
    if history.covered < history.level - 0.03:
        return (
            f"The intervals of the fit contain {covered} of the true values instead of {promised}."
        )
    return f"The intervals contain {covered} of the true values and promise {promised}."


def coverage(history: CoverageHistory) -> Plot:
    lines = {"line": history.coverage, "less-line": history.updated}
    low = min(float(values.min()) for values in lines.values())
    y = Scale(max(0.0, min(low, history.level) - 0.05), 1.02)
    marks = [Mark("equal", line([(0, y.down(history.level)), (SIZE, y.down(history.level))]))]
    words = (
        f"the fit {percent(fit, 1)}\nupdated {percent(updated, 1)}"
        for fit, updated in zip(history.coverage, history.updated, strict=True)
    )
    return _plot(
        history,
        "coverage",
        f"Coverage of the last {history.stretch} rows over time",
        "Share of true values inside",
        marks,
        lines,
        y,
        list(words),
        {
            "line": "By the intervals of the fit",
            "less-line": "With updates, row by row",
            "equal": f"Asked for: {level(history.level)}",
        },
    )


def widths(history: CoverageHistory, unit: str) -> Plot | None:
    both = history.aleatoric + history.epistemic
    if not np.isfinite(both).all():
        return None
    y = Scale(0.0, 1.05 * float(both.max()) or 1.0)
    x = _x(history)
    points = [x(end) for end in history.ends.tolist()]

    def layer(low: np.ndarray, high: np.ndarray) -> str:
        up = [(a, y.down(b)) for a, b in zip(points, high.tolist(), strict=True)]
        back = [(a, y.down(b)) for a, b in zip(points, low.tolist(), strict=True)]
        return line(up + back[::-1]) + "z"

    marks = [
        Mark(EPISTEMIC.name, layer(history.aleatoric, both)),
        Mark(ALEATORIC.name, layer(np.zeros(len(both)), history.aleatoric)),
    ]
    words = [
        f"width {number(noise + ignorance)}\n{percent(ignorance / (noise + ignorance or 1))} of it "
        f"{EPISTEMIC.plain}"
        for noise, ignorance in zip(
            history.aleatoric.tolist(), history.epistemic.tolist(), strict=True
        )
    ]
    return _plot(
        history,
        "widths",
        f"Mean width of the last {history.stretch} intervals over time, in two layers",
        f"Mean width in {unit}" if unit else "Mean width",
        marks,
        {},
        y,
        words,
        {ALEATORIC.name: ALEATORIC.label, EPISTEMIC.name: EPISTEMIC.label},
        heights=both,
    )


def strange(history: CoverageHistory) -> Plot | None:
    if history.strange is None:
        return None
    y = Scale(-0.02, max(0.25, 1.1 * float(history.strange.max())))
    words = [f"{percent(share, 1)} unfamiliar" for share in history.strange.tolist()]
    return _plot(
        history,
        "strange",
        f"Share of unfamiliar rows among the last {history.stretch} over time",
        "Share of unfamiliar rows",
        [Mark("equal", line([(0, y.down(0.05)), (SIZE, y.down(0.05))]))],
        {"line": history.strange},
        y,
        words,
        {"line": "Rows unlike those of the fit", "equal": "Of ordinary rows: 5 %"},
    )


def drift(history: CoverageHistory) -> Plot:
    y = Scale(-0.02, max(1.5 * DRIFTED, 1.1 * float(history.drift.max())))
    words = [f"index {number(index)}" for index in history.drift.tolist()]
    return _plot(
        history,
        "drift",
        f"How far the errors of the last {history.stretch} rows are from those of the calibration",
        "Population stability index",
        [Mark("equal", line([(0, y.down(DRIFTED)), (SIZE, y.down(DRIFTED))]))],
        {"line": history.drift},
        y,
        words,
        {"line": "Drift of the errors", "equal": f"From {DRIFTED:g} on: a shift"},
    )


def _plot(
    history: CoverageHistory,
    name: str,
    says: str,
    y_label: str,
    marks: list[Mark],
    lines: Mapping[str, np.ndarray],
    y: Scale,
    words: list[str],
    keys: dict[str, str],
    heights: np.ndarray | None = None,
) -> Plot:
    x, ends = _x(history), history.ends.tolist()
    for kind, values in reversed(list(lines.items())):
        points = zip(ends, values.tolist(), strict=True)
        marks.append(Mark(kind, line([(x(end), y.down(value)) for end, value in points])))
    at = next(iter(lines.values())) if heights is None else heights
    tooltips = [
        Tooltip(x(end), y.down(height), f"{_moment(history, end)}\n{text}", 0, SIZE)
        for end, height, text in zip(ends, at.tolist(), words, strict=True)
    ]
    ticks = [Tick(x(end) / 10, _moment(history, end, short=True)) for end in _labelled_points(ends)]
    return Plot(name, says, _axis(history), y_label, marks, ticks, y.heights, tooltips, keys=keys)


def _x(history: CoverageHistory) -> Scale:
    return Scale(float(history.ends[0]), float(max(history.ends[-1], history.ends[0] + 1)))


def _labelled_points(ends: list[int]) -> list[int]:
    """Return the few points with a label: labels are dates that must fit beside each other."""
    chosen = np.linspace(0, len(ends) - 1, 7).astype(int)[1::2]
    return [ends[i] for i in chosen]


def _first_row(history: CoverageHistory, point: int) -> int:
    return int(history.ends[point]) + 1 - history.stretch


def _moment(history: CoverageHistory, row: int, *, short: bool = False) -> str:
    time = history.times[row]
    if isinstance(time, np.datetime64):
        return show_time(time)[: 10 if short else None]
    return f"{float(time):,.10g}"


def _axis(history: CoverageHistory) -> str:
    return "Time" if history.times.dtype.kind == "M" else "Rows, in the order of time"
