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


def _sums_up(numbers: pl.Series) -> bool:
    above, last = numbers[:-1].drop_nulls().cast(float).to_numpy(), numbers[-1]
    if last is None or len(above) < FEWEST or not np.isfinite(above).all():
        return False
    return any(abs(last - value) <= ROUNDED * abs(value) for value in (above.sum(), above.mean()))
