"""The sign before decimals, decided over all columns of a file together.

"0,5" and "1.234,50" have a decimal comma, "0.5" and "1,234.50" a decimal point. "1.113" may be
either, and then the rest of its column tells, or else the rest of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from clearbands.apps.reading.numbers import cell_parts, trimmed

if TYPE_CHECKING:
    import polars as pl

NUMBERS_AT_LEAST = 0.5  # a column has a say if at least so many of its cells are numbers
OWN_SAY = 0.05  # of the cells that may be either: if fewer tell the sign, the file decides


@dataclass(frozen=True)
class Evidence:
    """The numbers of cells of a column that have a decimal point, a comma, or may have either."""

    points: int = 0
    commas: int = 0
    either_point: int = 0  # "1.113"
    either_comma: int = 0  # "1,113"
    hints_at_thousands: bool = False  # cells are money, or numbers go on below 1,000 without it

    @property
    def own(self) -> str | None:
        """The decimal sign that the column alone tells, or None."""
        least = OWN_SAY * max(self.either_point, self.either_comma)
        if self.points == self.commas or max(self.points, self.commas) < least:
            return None
        return "." if self.points > self.commas else ","

    @property
    def is_open(self) -> bool:
        return self.own is None and self.either_point + self.either_comma > 0


@dataclass(frozen=True)
class Decimals:
    """The decimal sign of the file, and those of columns that have their own."""

    of_file: str = "."
    of_column: Mapping[str, str] = field(default_factory=dict)
    guessed: tuple[str, ...] = ()  # columns that could be read either way

    def of(self, column: str) -> str:
        return self.of_column.get(column, self.of_file)


def find_decimals(
    texts: Mapping[str, pl.Series], separator: str = ",", known: str | None = None
) -> Decimals:
    """Return the decimal signs of columns of text; `known` comes from an earlier file of its kind.

    >>> import polars as pl
    >>> columns = {"x": pl.Series(["1.113", "1.880"]), "y": pl.Series(["0,5", "1,25"])}
    >>> find_decimals(columns, ";").of("x")
    ','
    """
    evidence = {name: _count_evidence(text) for name, text in texts.items()}
    points = sum(each.points for each in evidence.values())
    commas = sum(each.commas for each in evidence.values())
    open_ones = tuple(name for name, each in evidence.items() if each.is_open)
    guessed: tuple[str, ...] = ()
    if points != commas:
        of_file = "." if points > commas else ","
    elif known is not None:
        of_file = known
    else:
        of_file = _guess([evidence[name] for name in open_ones], separator)
        is_usual = of_file == "." and separator != ";"
        guessed = () if is_usual else open_ones
    own = {name: each.own for name, each in evidence.items()}
    return Decimals(
        of_file, {name: sign for name, sign in own.items() if sign not in (None, of_file)}, guessed
    )


def _guess(open_ones: list[Evidence], separator: str) -> str:
    """Guess the decimal sign by what such files usually mean, where no cell tells."""
    for each in open_ones:
        if each.hints_at_thousands:
            return "," if each.either_point > each.either_comma else "."
    commas = sum(each.either_comma for each in open_ones)
    points = sum(each.either_point for each in open_ones)
    return "," if separator == ";" and commas > points else "."


def _count_evidence(text: pl.Series) -> Evidence:
    import polars as pl

    text = trimmed(text).drop_nulls()
    simple = text.cast(pl.Int64, strict=False)
    if simple.null_count() == 0:
        return Evidence()
    parts = cell_parts(text)
    core = parts["core"]
    if core.count() < NUMBERS_AT_LEAST * len(text):
        return Evidence()
    counts = {name: int(core.str.contains(pattern).sum()) for name, pattern in _patterns().items()}
    has_either = counts["either_point"] + counts["either_comma"] > 0
    return Evidence(**counts, hints_at_thousands=has_either and _hints(parts, simple))


def _hints(parts: pl.DataFrame, simple: pl.Series) -> bool:
    """Whether cells are money, which has no three decimals, or numbers go on below 1.000."""
    either = parts["core"].str.contains(r"^[1-9]\d{0,2}[.,]\d{3}$").fill_null(False)
    around = parts.filter(either).select("before", "after")
    if any(around[side].str.contains(r"[$€£¥₹]|EUR|USD|CHF").any() for side in around.columns):
        return True
    below = simple.drop_nulls().abs()
    return len(below) > 0 and bool((below < 1000).all()) and bool((below >= 100).any())


@lru_cache
def _patterns() -> dict[str, str]:
    patterns = {}
    for name, sign, other in (("point", ".", ","), ("comma", ",", ".")):
        s, o = re.escape(sign), re.escape(other)
        patterns[f"{name}s"] = "|".join(
            (
                rf"^\d*{s}(?:\d{{1,2}}|\d{{4,}})(?:[eE]|$)",  # 0.5, 1.2345
                rf"^(?:0*|\d{{4,}}|0\d+){s}\d{{3}}(?:[eE]|$)",  # 0.500, 1234.567
                rf"^\d{{1,3}}(?:{o}\d{{2,3}})+{s}\d+$",  # 1,234.5
                rf"^\d{{1,3}}(?:[' ’\u00a0\u202f]\d{{3}})+{s}\d+$",  # 1 234.567
                rf"^\d{{1,3}}(?:{o}\d{{2,3}})+{o}\d{{3}}$",  # 1,234,567
            )
        )
        patterns[f"either_{name}"] = rf"^[1-9]\d{{0,2}}{s}\d{{3}}$"
    return patterns
