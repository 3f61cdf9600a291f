"""Coverage by part of the rows, as whiskers on a track."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clearbands.apps.report.facts import Facts
from clearbands.diagnostics.coverage import Cell
from clearbands.tables.columns import Column

MANY_ROWS = 50  # the axis of coverage must hold the intervals of parts with so many rows


@dataclass(frozen=True)
class Track:
    """An axis of shares, which ends at 1."""

    low: float

    def place(self, share: float) -> float:
        """Return the place of a share in percent from the left."""
        return max(0.0, round(100 * (share - self.low) / (1 - self.low), 2))

    @classmethod
    def around(cls, cells: Sequence[Cell], *others: float) -> Track:
        """Return an axis that holds the level and the intervals of cells with many rows.

        Intervals of a few rows reach so far that all others would be dots at the end of a line.
        """
        lows = [cell.low for cell in cells if cell.n >= MANY_ROWS] or [cell.low for cell in cells]
        return cls(max(0.0, float(np.floor(20 * (min([*lows, *others]) - 0.02)) / 20)))


def whiskers(facts: Facts) -> dict[str, list[tuple[str, Cell]]]:
    """Return labelled cells by what the rows were divided by, features by their importance."""
    diagnosis = facts.diagnosis
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
    drawn = {name: [(label_of(cell), cell) for cell in each] for name, each in cells.items()}
    for column in facts.important_columns(len(facts.columns)):
        drawn[column.name] = [
            (range_of(cell, column), cell)
            for cell in diagnosis.by_feature
            if cell.by == column.name
        ]
    return {name: each for name, each in drawn.items() if each}


def label_of(cell: Cell) -> str:
    """Return the label of a cell under a heading that names what the rows were divided by."""
    return cell.label if cell.kind == "value" else f"{cell.label[:1].upper()}{cell.label[1:]}"


def range_of(cell: Cell, column: Column) -> str:
    """Return the range of a cell of numbers, or the name of a category."""
    if cell.values is None or column.is_text:
        return cell.label
    low, high = (column.in_words(value) for value in cell.values)
    return low if low == high else f"{low} to {high}"
