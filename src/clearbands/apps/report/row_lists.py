"""Rows to look at: two short lists, and the table of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearbands.apps.report.facts import Facts
from clearbands.prediction.familiarity import ORDINARY
from clearbands.prediction.glossary import PARTS
from clearbands.rows.display import count, percent
from clearbands.rows.messages import row_number
from clearbands.tables.columns import Column

MOST_ROWS = 8
MOST_VALUES = 4
MOST_LISTED = 5000
MEASURED_KINDS = ("number", "duration")  # kinds whose values are sorted and filtered as numbers


def rows_to_look_at(widths: np.ndarray, share: float) -> tuple[list[int], list[int]]:
    """Return the rows with the largest epistemic widths, and those with the largest aleatoric ones.

    `widths` (n, 2) are aleatoric and epistemic; `share` is the epistemic share of all rows. Rows
    with a larger share can be in the first list, as can all rows where there is no noise at all;
    the others can be in the second list.
    """
    leans = (widths[:, 1] > share * widths.sum(axis=1)) | (share == 1)
    return _widest(np.where(leans, widths[:, 1], 0.0)), _widest(np.where(leans, 0.0, widths[:, 0]))


def _widest(widths: np.ndarray) -> list[int]:
    order = np.argsort(-widths, kind="stable")[:MOST_ROWS]
    return [row for row in order.tolist() if widths[row] > 0]


def unfamiliar(facts: Facts) -> str:
    """Say how many rows are unlike those of the fit and how their intervals do, or return ""."""
    flags = facts.unfamiliar
    if flags is None:
        return ""
    n = int(flags.sum())
    words = (
        f"{n:,} of {count(len(flags))} ({percent(n / len(flags))}) "
        f"{'is' if n == 1 else 'are'} unlike the rows of the fit: by the width of their "
        f"{PARTS[1].plain}, by a value outside the range of its column, or by a category that was "
        f"never seen. Of ordinary rows it would be about {percent(1 - ORDINARY)}."
    )
    if 0 < n < len(flags):
        widths = facts.widths.sum(axis=1)
        ratio = widths[flags].mean() / widths[~flags].mean()
        words += (
            f" {int(facts.inside[flags].sum()):,} of them lie inside their intervals, which are "
            f"{ratio:.1f} times as wide as those of the others."
        )
    return words


def all_rows(facts: Facts) -> dict[str, Any]:
    """Return names and values for the table of all rows, or of the widest if they are too many."""
    widest = np.argsort(-facts.widths.sum(axis=1), kind="stable")[:MOST_LISTED]
    important = facts.important_columns(MOST_VALUES)
    noise, ignorance = (f"{part.plain} width" for part in PARTS)
    measured = {
        "prediction": facts.parts.center,
        "lower": facts.interval[:, 0],
        "upper": facts.interval[:, 1],
        "true value": facts.y,
        noise: facts.widths[:, 0],
        ignorance: facts.widths[:, 1],
        f"{PARTS[1].plain} share": facts.epistemic_shares,
    }
    rows = np.sort(widest)
    columns = [
        [row_number(row) for row in rows.tolist()],
        *(_values(column, rows) for column in important),
        *([float(f"{value:.12g}") for value in values[rows]] for values in measured.values()),
        *([] if facts.unfamiliar is None else [_yes_or_no(facts.unfamiliar[rows])]),
        _yes_or_no(facts.inside[rows]),
    ]
    flag_name = [] if facts.unfamiliar is None else ["unfamiliar"]
    return {
        "names": ["row", *(column.name for column in important), *measured, *flag_name, "inside"],
        "rows": [list(row) for row in zip(*columns, strict=True)],
        "share": facts.epistemic_share,
    }


def _yes_or_no(flags: np.ndarray) -> list[str]:
    return ["yes" if flag else "no" for flag in flags]


def _values(column: Column, rows: np.ndarray) -> list[float | str]:
    """Return numbers as numbers, and all else as the owner of the table would write it."""
    return [
        float(f"{column.values[row]:.12g}")
        if column.kind in MEASURED_KINDS and not np.isnan(column.values[row])
        else column.in_words(column.values[row])
        for row in rows
    ]
