"""The check for a last row that sums up the others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from clearbands.apps.reading.numbers import as_numbers

if TYPE_CHECKING:
    import polars as pl

    from clearbands.apps.reading.decimals import Decimals

LABEL = re.compile(
    r"((grand|sub|overall)[ -]?)?(totals?|sums?|averages?|means?|all)( general)?"
    r"|summen?|gesamt(summe)?|insgesamt|mittel(wert)?|durchschnitt|somme|moyenne|totale|suma|media",
    re.IGNORECASE,
)
OF_SOME = r"(?i)^(sub[ -]?|grand )?(total|sum|summe|gesamt|somme|totale|suma)\b"
FEWEST = 3  # rows that can be summed up
ROUNDED = 0.01  # the share by which a rounded sum may differ


def is_total(texts: pl.DataFrame, decimals: Decimals) -> bool:
    """Whether the last row is called a total, and is the sum or the mean of a column."""
    if texts.height <= FEWEST:
        return False
    last = texts.row(-1)
    if not any(cell is not None and LABEL.fullmatch(cell.strip(" :*")) for cell in last):
        return False
    return any(
        _sums_up(as_numbers(column, decimals.of(column.name)).column)
        for column, cell in zip(texts, last, strict=True)
        if cell is not None and any(character.isdigit() for character in cell)
    )


def partial_totals(texts: pl.DataFrame) -> list[str]:
    """Return what rows are called that may sum up some others: "Total North".

    They stand behind the first row, and have no value in a column in which all other rows do.
    """
    first, *others = texts
    is_named = first.str.contains(OF_SOME).fill_null(False)
    if is_named.sum() in (0, len(first)) or is_named[0]:
        return []
    lacks = (column.is_null() for column in others)
    return first.filter(is_named).to_list() if any((own == is_named).all() for own in lacks) else []


def _sums_up(numbers: pl.Series) -> bool:
    above, last = numbers[:-1].drop_nulls().cast(float).to_numpy(), numbers[-1]
    if last is None or len(above) < FEWEST or not np.isfinite(above).all():
        return False
    return any(abs(last - value) <= ROUNDED * abs(value) for value in (above.sum(), above.mean()))
