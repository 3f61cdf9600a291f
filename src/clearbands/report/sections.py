"""The parts of the page: facts as words, and places in percent where there is a picture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from clearbands.cells import Cell, equal_count_bins
from clearbands.columns import Column
from clearbands.conformal import rows_needed
from clearbands.diagnosis import FALSE_ALARMS
from clearbands.report.facts import Facts
from clearbands.report.words import count, level, number, percent

MOST_PANELS = 4
MOST_BINS = 6
ROWS_PER_BIN = 5
MOST_NAMED = 8
MOST_ROWS = 8
MOST_VALUES = 4
MOST_TABLES = 10

MANY_ROWS = 50  # of a part of the rows whose interval the axis of coverage must hold


@dataclass(frozen=True)
class Whisker:
    """A share with its interval on a track, and the level as a line across."""

    label: str
    n: int
    value: str
    interval: str
    at: float  # percent of the track
    low: float
    high: float
    promised: float
    is_off: bool = False


@dataclass(frozen=True)
class Layers:
    """A width in its two parts, as a bar."""

    label: str
    n: int
    width: str
    share: str
    aleatoric: float  # percent of the longest bar
    epistemic: float


@dataclass(frozen=True)
class Panel:
    """How wide intervals are along one feature."""

    name: str
    layers: Sequence[Layers]


@dataclass(frozen=True)
class Bar:
    label: str
    values: Sequence[str]
    lengths: Sequence[float]  # percent
    is_marked: bool = False


@dataclass(frozen=True)
class RowWords:
    number: str
    values: Sequence[str]  # of the most important features
    prediction: str
    interval: str
    truth: str
    is_outside: bool
    width: str
    share: str


def verdict(facts: Facts) -> str:
    """The answer in one sentence."""
    diagnosis = facts.diagnosis
    if not facts.is_finite:
        return f"No finite interval is valid at {level(facts.confidence_level)}."
    if _is_off(facts):
        if diagnosis.coverage.coverage < facts.confidence_level:
            return "The intervals promise more than they hold on these rows."
        return "The intervals are wider than they need to be on these rows."
    if diagnosis.findings:
        return "The intervals keep their promise on the whole, but not everywhere."
    return "The intervals keep their promise on these rows."


def answer(facts: Facts, target: str, unit: str) -> list[str]:
    """The same in a few more words: coverage, width, what dominates."""
    cell, asked = facts.diagnosis.coverage, level(facts.confidence_level)
    said = [
        f"{cell.n_covered:,} of {cell.n:,} true values lie inside their {asked} intervals."
        if facts.is_finite
        else f"{_too_few(facts)} The bounds are infinite and hold every value."
    ]
    if not facts.is_finite:
        return said
    low, high = number(facts.y.min()), number(facts.y.max())
    said.append(
        f"A typical interval for {target} is {with_unit(_typical(facts), unit)} wide, where the "
        f"true values range from {low} to {high}."
    )
    if _is_off(facts):
        too_few = cell.coverage < facts.confidence_level
        aim = "before you rely on them" if too_few else "to make them shorter"
        said.append(f"Calibrate the model again on rows like these {aim}.")
    share = facts.epistemic_share
    if share > 0.5:
        said.append(
            f"{percent(share)} of the width is ignorance of the model: more rows, above all rows "
            "like those listed below, would help most."
        )
    else:
        said.append(
            f"{percent(1 - share)} of the width is noise: more rows alone would not make the "
            "intervals much shorter, better measurements or further features might."
        )
    return said


def _is_off(facts: Facts) -> bool:
    """Whether the coverage of all rows is off by more than chance explains."""
    return bool(facts.diagnosis.p_values[0] < FALSE_ALARMS)


def with_unit(value: float, unit: str) -> str:
    return f"{number(value)} {unit}".strip()


def quartiles(facts: Facts) -> str:
    low, high = np.quantile(facts.widths.sum(axis=1), [0.25, 0.75])
    return f"{number(low)} to {number(high)}"


def _typical(facts: Facts) -> float:
    return float(np.median(facts.widths.sum(axis=1)))


def _too_few(facts: Facts) -> str:
    needed = rows_needed(facts.confidence_level)
    n = facts.model.n_calibration_
    if n < needed:
        return f"{count(n, 'calibration row')} are too few; the level needs at least {needed:,}."
    return "Too many calibration rows lie off the center where both widths are zero."


def whiskers(facts: Facts) -> dict[str, list[Whisker]]:
    """Coverage by what the rows were divided by; features in the order of their importance."""
    diagnosis = facts.diagnosis
    off = diagnosis.p_values < FALSE_ALARMS
    is_off = {id(cell): bool(o) for cell, o in zip(diagnosis.cells, off, strict=False)}
    scale = _track([*diagnosis.cells], facts.confidence_level)

    def show(cells: Sequence[Cell]) -> list[Whisker]:
        return [_whisker(cell, facts.confidence_level, scale, is_off[id(cell)]) for cell in cells]

    shown = {"All rows": show([diagnosis.coverage])}
    if diagnosis.by_group:
        shown["Group"] = show(diagnosis.by_group)
    shown["Width of the interval"] = show(diagnosis.by_width)
    shown["Epistemic over aleatoric width"] = show(diagnosis.by_ratio)
    if diagnosis.worst_slab is not None:
        shown["Where a search found least coverage"] = show([diagnosis.worst_slab.cell])
    if diagnosis.excess_risk is not None and diagnosis.excess_risk.cells:
        shown["Where a classifier sees a pattern"] = show(diagnosis.excess_risk.cells)
    for column in facts.important_columns(len(facts.columns)):
        cells = show([cell for cell in diagnosis.by_feature if cell.by == column.name])
        shown[column.name] = _with_ranges(cells, column)
    return {name: cells for name, cells in shown.items() if cells}


def _with_ranges(cells: list[Whisker], column: Column) -> list[Whisker]:
    """Thirds by where they lie; categories have their names already."""
    if column.is_text:
        return cells
    labels = [label for label, _ in _divide(column, n_bins=3)]
    return [replace(cell, label=label) for cell, label in zip(cells, labels, strict=True)]


def one_whisker(cell: Cell, confidence_level: float) -> Whisker:
    return _whisker(cell, confidence_level, _track([cell], confidence_level), False)


def _track(cells: Sequence[Cell], confidence_level: float) -> tuple[float, float]:
    """The ends of an axis that holds the level and the intervals, but those of a few rows: they
    reach far, and all others would be dots at the end of a long line."""
    lows = [cell.low for cell in cells if cell.n >= MANY_ROWS] or [cell.low for cell in cells]
    lowest = min(confidence_level, *lows)
    return max(0.0, np.floor(20 * (lowest - 0.02)) / 20), 1.0


def _whisker(
    cell: Cell, confidence_level: float, scale: tuple[float, float], is_off: bool
) -> Whisker:
    def place(share: float) -> float:
        return max(0.0, round(100 * (share - scale[0]) / (scale[1] - scale[0]), 2))

    return Whisker(
        _label(cell),
        cell.n,
        percent(cell.coverage, 1),
        f"{percent(cell.low, 1)} to {percent(cell.high, 1)}",
        place(cell.coverage),
        place(cell.low),
        place(cell.high),
        place(confidence_level),
        is_off,
    )


def _label(cell: Cell) -> str:
    """Which rows, where a heading already names what they were divided by."""
    name = f"`{cell.by}`"
    if cell.where.startswith(f"{name} = "):
        return cell.where.removeprefix(f"{name} = ")
    return plain(
        cell.where.removesuffix(f" of {name}").removeprefix(f"{name} ").removeprefix("the ")
    )


def plain(words: str) -> str:
    """Names in quotation marks instead of the marks of code; the first letter large."""
    words = re.sub(r"`([^`]*)`", r"“\1”", words)
    return words[:1].upper() + words[1:]


def panels(facts: Facts) -> list[Panel]:
    """Mean widths in their two parts along the most important features, on one scale."""
    widths = facts.widths
    n_bins = int(np.clip(len(widths) // ROWS_PER_BIN, 1, MOST_BINS))
    important = facts.important_columns(MOST_PANELS)
    divided = [(column.name, _divide(column, n_bins)) for column in important]
    means = [
        [(label, int(rows.sum()), widths[rows].mean(axis=0)) for label, rows in bins]
        for _, bins in divided
    ]
    longest = max((float(mean.sum()) for bins in means for _, _, mean in bins), default=0) or 1.0
    return [
        Panel(name, [_layers(*each, longest) for each in bins])
        for (name, _), bins in zip(divided, means, strict=True)
    ]


def _layers(label: str, n: int, mean: np.ndarray, longest: float) -> Layers:
    aleatoric, epistemic = mean.tolist()
    total = aleatoric + epistemic
    share = percent(epistemic / total) if total > 0 else "–"
    lengths = (round(100 * part / longest, 2) for part in (aleatoric, epistemic))
    return Layers(label, n, number(total), share, *lengths)


def _divide(column: Column, n_bins: int) -> list[tuple[str, np.ndarray]]:
    """The rows (booleans) by ranges of numbers or by category, missing ones last."""
    missing = column.is_missing
    bins = _categories(column, missing) if column.is_text else _ranges(column, missing, n_bins)
    return [*bins, ("missing", missing)] if missing.any() else bins


def _ranges(column: Column, missing: np.ndarray, n_bins: int) -> list[tuple[str, np.ndarray]]:
    values = column.values[~missing]
    if len(values) == 0:
        return []
    where = np.full(len(missing), -1)
    where[~missing] = equal_count_bins(values, n_bins)
    found = []
    for j in range(where.max() + 1):
        low, high = column.values[where == j].min(), column.values[where == j].max()
        words = column.in_words(low)
        found.append((words if low == high else f"{words} to {column.in_words(high)}", where == j))
    return found


def _categories(column: Column, missing: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """The most frequent by name, the others together."""
    labels, counts = np.unique(column.values[~missing].astype(str), return_counts=True)
    named = labels[np.argsort(-counts, kind="stable")[:MOST_NAMED]]
    found = [(str(label), column.values == label) for label in named]
    others = ~missing & ~np.isin(column.values.astype(str), named)
    if others.any():
        found.append((count(len(labels) - len(named), "other value"), others))
    return found


def importances(facts: Facts) -> list[Bar]:
    """What shuffling does to center and width, per feature."""
    shown = facts.importance[:MOST_NAMED]
    longest = [max([getattr(f, of) for f in shown] + [0.0]) or 1.0 for of in ("center", "width")]
    return [
        Bar(
            found.name,
            (f"{_signed(100 * found.center)} %", f"{100 * found.width:.0f} %"),
            tuple(
                round(100 * max(value, 0) / most, 1)
                for value, most in zip((found.center, found.width), longest, strict=True)
            ),
        )
        for found in shown
    ]


def _signed(value: float) -> str:
    text = f"{value:+.0f}"
    return "0" if text in ("+0", "-0") else text.replace("-", "−")


def models(facts: Facts) -> list[Bar]:
    """Validation errors of the models that competed."""
    entries = facts.leaderboard
    worst = max((entry["rmse"] for entry in entries), default=0) or 1.0
    return [
        Bar(
            " after ".join(name for name in (entry["model"], entry["preprocessing"]) if name),
            (number(entry["rmse"]), "–" if entry["r2"] is None else f"{entry['r2']:.3f}"),
            (round(100 * entry["rmse"] / worst, 1),),
            bool(entry["selected"]),
        )
        for entry in entries
    ]


def widest(facts: Facts, part: int) -> list[RowWords]:
    """The rows with the largest aleatoric (0) or epistemic (1) widths."""
    order = np.argsort(-facts.widths[:, part], kind="stable")[:MOST_ROWS]
    return [_row(facts, row, part) for row in order if facts.widths[row, part] > 0]


def _row(facts: Facts, row: int, part: int) -> RowWords:
    low, high = facts.interval[row]
    return RowWords(
        f"{row + 1:,}",
        [c.in_words(c.values[row]) for c in facts.important_columns(MOST_VALUES)],
        number(facts.parts.center[row]),
        f"{number(low)} to {number(high)}",
        number(facts.y[row]),
        not facts.inside[row],
        number(facts.widths[row, part]),
        percent(facts.epistemic_shares[row]),
    )


def promises(facts: Facts) -> tuple[list[str], list[str]]:
    """What holds for the coverage, and what nobody should read into it."""
    model, asked = facts.model, level(facts.confidence_level)
    n, expected = facts.diagnosis.n_calibration, facts.diagnosis.expected
    held = count(n or 0, "calibration row")
    if model.guarantee_ == "finite-sample marginal coverage":
        holds = [
            f"New rows that are drawn like the {held} lie inside their intervals with a "
            f"probability of at least {asked}, averaged over calibration sets and rows. This holds "
            "for any number of rows and any quality of the models: lambda was chosen on other rows."
        ]
    else:
        holds = [
            f"The coverage of new rows that are drawn like the {held} approaches {asked} as these "
            "become many. The same rows chose lambda and the factor of the width, so nothing is "
            'guaranteed in finite samples; calibration="conformal" gives that guarantee.'
        ]
    if expected is not None:
        holds.append(
            f"Given these {held}, the coverage of all new rows is expected between "
            f"{percent(expected.low, 1)} and {percent(expected.high, 1)} in 19 of 20 cases."
        )
    not_held = [
        f"{asked} in every group, range or single row: the promise is an average over rows. The "
        "table of coverage by group shows how far it carries.",
        "Anything for rows that come from elsewhere than the calibration rows: another time, "
        "place, or way of measuring.",
        "The split into noise and ignorance: only their sum is calibrated. Their shares are "
        "estimates, and lambda weighs them by what predicts the errors best.",
        "Any of the numbers above, if rows of this report took part in the fit.",
    ]
    return holds, not_held
