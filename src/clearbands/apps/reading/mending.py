"""Columns of numbers that a few cells turned into text: what was mended, and where.

"1,710" is a number, "?" is a gap. A column with other text in more than a few cells is text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clearbands.apps.reading.dialect import GROUPS

if TYPE_CHECKING:
    import polars as pl

PLACEHOLDERS = frozenset(
    {
        *("?", "-", "--", "---", "\u2013", "\u2014", ".", "..", "*"),
        *("na", "n/a", "n.a.", "n.a", "nan", "null", "(null)", "none", "nil", "\\n"),
        *("missing", "unknown", "tbd"),
        *("#n/a", "#na", "#null!", "#div/0!", "#value!", "#ref!", "#name?", "#num!"),
    }
)  # in lower case: whoever wrote them had no number
MOSTLY = 0.95  # of the cells are numbers, or there is nothing to mend
PLACEHOLDERS_MOSTLY = 0.5  # the same if all others are placeholders


@dataclass(frozen=True)
class Stray:
    """A cell that is no number among numbers."""

    row: int  # from 1, below the header
    value: str

    @property
    def is_placeholder(self) -> bool:
        return self.value.strip().lower() in PLACEHOLDERS


@dataclass(frozen=True)
class Numbers:
    """A column of text as numbers: those with thousands signs, and the cells that are none."""

    column: pl.Series  # null where a cell is stray
    grouped: tuple[Stray, ...]  # "1,710"
    strays: tuple[Stray, ...]

    @property
    def in_words(self) -> str:
        """What was done, for the owner of the file; nothing where only blanks were taken off."""
        said = []
        if self.grouped:
            said.append(
                f"{_cells(len(self.grouped))} such as {self.grouped[0].value!r} read as numbers"
            )
        if self.strays:
            first = self.strays[0]
            said.append(
                f"{_cells(len(self.strays))} read as missing, such as {first.value!r} in row "
                f"{first.row}"
            )
        return " and ".join(said)


def as_numbers(column: pl.Series, decimal: str = ".") -> Numbers:
    """Every cell that is a number, as a number."""
    import polars as pl

    text = column.str.strip_chars()
    text = text.set(text == "", None)
    other = "," if decimal == "." else "."
    between = f"[{re.escape(other)}{GROUPS}]"
    shape = rf"^[+-]?\d{{1,3}}({between}\d{{3}})+({re.escape(decimal)}\d+)?$"
    is_grouped = text.str.contains(shape).fill_null(False)
    plain = text.set(is_grouped, None)
    joined = text.set(~is_grouped, None).str.replace_all(between, "")
    if decimal == ",":
        plain = plain.set(plain.str.contains(".", literal=True).fill_null(False), None)
        plain, joined = (t.str.replace(",", ".", literal=True) for t in (plain, joined))
    numbers = plain.cast(pl.Float64, strict=False)
    numbers = numbers.zip_with(~is_grouped, joined.cast(pl.Float64, strict=False))
    is_stray = text.is_not_null() & numbers.is_null()
    whole = numbers.drop_nulls()
    if (whole.floor() == whole).all() and (whole.abs() < 2**53).all():
        numbers = numbers.cast(pl.Int64)
    return Numbers(numbers, _named(column, is_grouped), _named(column, is_stray))


def mend(column: pl.Series, decimal: str = ".") -> Numbers | None:
    """The column as numbers if it is one but for a few cells; None if it is text."""
    if column.str.contains(r"^\s*0\d").any():  # 01067 is a code, though it looks like a number
        return None
    found = as_numbers(column, decimal)
    n_numbers = found.column.count()
    enough = PLACEHOLDERS_MOSTLY if all(s.is_placeholder for s in found.strays) else MOSTLY
    if n_numbers == 0 or n_numbers < enough * (n_numbers + len(found.strays)):
        return None
    return found


def _named(column: pl.Series, chosen: pl.Series) -> tuple[Stray, ...]:
    return tuple(Stray(row + 1, column[row]) for row in chosen.arg_true().to_list())


def _cells(count: int) -> str:
    return f"{count:,} cell" if count == 1 else f"{count:,} cells"
