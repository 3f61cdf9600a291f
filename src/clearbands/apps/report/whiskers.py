"""Coverage by part of the rows, as whiskers on a track."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clearbands.apps.report.facts import Facts
from clearbands.diagnostics.coverage import Cell, Range
from clearbands.rows.display import percent
from clearbands.tables.columns import Column

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
class Track:
    """An axis of shares."""

    low: float

    def place(self, share: float) -> float:
        """Percent from the left."""
        return max(0.0, round(100 * (share - self.low) / (1 - self.low), 2))

    @classmethod
    def around(cls, cells: Sequence[Cell], *others: float) -> Track:
        """That holds the level and the intervals, but those of a few rows: they reach far, and
        all others would be dots at the end of a long line."""
        lows = [cell.low for cell in cells if cell.n >= MANY_ROWS] or [cell.low for cell in cells]
        return cls(max(0.0, float(np.floor(20 * (min([*lows, *others]) - 0.02)) / 20)))


@dataclass(frozen=True)
class Tile:
    """The coverage of all rows, beside what chance alone would make of it."""

    at: float
    promised: float
    chance: Range  # percent of the track
    in_words: str

    @classmethod
    def of(cls, coverage: float, level: float, chance: Range) -> Tile:
        """From shares."""
        track = Track.around([], coverage, level, chance.low)
        return cls(
            track.place(coverage),
            track.place(level),
            Range(track.place(chance.low), track.place(chance.high)),
            f"{percent(chance.low, 1)} to {percent(chance.high, 1)}",
        )


def tile(facts: Facts) -> Tile:
    """For the top of the page."""
    cell, chance = facts.diagnosis.coverage, facts.diagnosis.chance
    return Tile.of(cell.coverage, facts.confidence_level, chance)


def whiskers(facts: Facts) -> dict[str, list[Whisker]]:
    """Coverage by what the rows were divided by; features in the order of their importance."""
    diagnosis = facts.diagnosis
    track = Track.around(diagnosis.cells, facts.confidence_level)
    slab, risk = diagnosis.worst_slab, diagnosis.excess_risk
    cells = {
        "All rows": (diagnosis.coverage,),
        "Group": diagnosis.by_group,
        "Group, had all been calibrated together": diagnosis.by_group_together,
        "Width of the interval": diagnosis.by_width,
        "Epistemic over aleatoric width": diagnosis.by_ratio if facts.has_both_parts else (),
        "Where a search found least coverage": (slab.cell,) if slab else (),
        "Where a classifier sees a pattern": risk.cells if risk else (),
    }
    drawn = {
        name: [whisker(cell, label_of(cell), facts.confidence_level, track) for cell in each]
        for name, each in cells.items()
    }
    for column in facts.important_columns(len(facts.columns)):
        drawn[column.name] = [
            whisker(cell, range_of(cell, column), facts.confidence_level, track)
            for cell in diagnosis.by_feature
            if cell.by == column.name
        ]
    return {name: each for name, each in drawn.items() if each}


def label_of(cell: Cell) -> str:
    """Which rows, where a heading already names what they were divided by."""
    return cell.label if cell.kind == "value" else f"{cell.label[:1].upper()}{cell.label[1:]}"


def range_of(cell: Cell, column: Column) -> str:
    """Thirds of numbers by where they lie; categories have their names already."""
    if cell.values is None or column.is_text:
        return cell.label
    low, high = (column.in_words(value) for value in cell.values)
    return low if low == high else f"{low} to {high}"


def whisker(cell: Cell, label: str, confidence_level: float, track: Track) -> Whisker:
    """A cell on the track."""
    return Whisker(
        label,
        cell.n,
        percent(cell.coverage, 1),
        f"{percent(cell.low, 1)} to {percent(cell.high, 1)}",
        track.place(cell.coverage),
        track.place(cell.low),
        track.place(cell.high),
        track.place(confidence_level),
        cell.is_off,
    )
