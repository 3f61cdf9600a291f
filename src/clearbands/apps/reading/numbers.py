"""Columns of text that hold numbers as people write them, and cells that hold no number.

"1,710", "$59,222", "0.91%", "(5)" and "120 kg" are numbers, "?" is a gap. A column with other text
in more than a few cells is text, and so is one with several currencies or units.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clearbands.apps.reading.affixes import Affix, read_affix
from clearbands.rows.messages import row_of_file

if TYPE_CHECKING:
    import polars as pl

GROUPS = "'’ \u00a0\u202f"  # separators of thousands, besides comma or point
PLACEHOLDERS = frozenset(
    {
        *("?", "-", "--", "---", "\u2013", "\u2014", ".", "..", "...", "*", "/", ":"),
        *(": u", ": c", ": z"),  # Eurostat writes them: unreliable, confidential, not applicable
        *(
            "na",
            "n/a",
            "n.a.",
            "n.a",
            "n. a.",
            "<na>",
            "nan",
            "null",
            "(null)",
            "none",
            "nil",
            "nd",
        ),
        *("\\n", "missing", "unknown", "tbd", "k.a.", "k. a.", "not available", "not reported"),
        *("#n/a", "#na", "#null!", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#wert!"),
        *("0000-00-00", "00.00.0000", "00/00/0000"),
    }
)  # in lower case: texts that stand for a missing value
MOSTLY = 0.95  # a column with a smaller share of numbers stays text
PLACEHOLDERS_MOSTLY = 0.5  # the share that is enough if all other cells are placeholders
CELL = (
    rf"^([^\d.,]{{0,8}})"
    rf"([.,]?\d(?:[\d.,{GROUPS}]*\d)?(?:[eE][+-]?\d{{1,3}})?)"
    r"(\D{0,12}[23]?|\s*l/100\s*km)$"
)
"""The text before the digits, the digits, and the text behind them, which may be m2 or m3."""


@dataclass(frozen=True)
class Stray:
    """A cell with a text that is no value of its column."""

    row: int  # counted from 1, below the header
    value: str

    @property
    def row_name(self) -> str:
        """The name of the row in messages."""
        return row_of_file(self.row)

    @property
    def is_placeholder(self) -> bool:
        return self.value.strip().lower() in PLACEHOLDERS


@dataclass(frozen=True)
class Numbers:
    """A column of text as numbers, and the cells that are no numbers."""

    column: pl.Series  # null where a cell is stray
    dressed: tuple[Stray, ...]  # numbers that only people can read: "1,710", "$5"
    strays: tuple[Stray, ...]
    doubt: str = ""  # in words, why these may be numbers of several kinds

    @property
    def is_convincing(self) -> bool:
        """Whether nearly all cells are numbers, or the rest only stand for gaps."""
        return self.convinces()

    def convinces(self, gap_marks: Collection[str] = ()) -> bool:
        """Whether `is_convincing` holds if these texts stand for gaps, too."""
        return are_convincing(self.column.count(), self.strays, gap_marks)

    @property
    def only_stray(self) -> str:
        """The text without digits that is the only other one among numbers and gaps, or ""."""
        texts = {stray.value.strip() for stray in self.strays if not stray.is_placeholder}
        text = texts.pop() if len(texts) == 1 else ""
        return "" if re.search(r"\d", text) or not self.convinces({text}) else text

    @property
    def in_words(self) -> str:
        """The words that tell the owner of the file what was changed, other than blanks removed."""
        words = []
        if self.dressed:
            first = self.dressed[0]
            example = " ".join(first.value.split())  # narrow blanks would be shown as \\u202f
            words.append(
                f"{cells(len(self.dressed))} such as {example!r} read as numbers such as "
                f"{self.column[first.row - 1]:.15g}"
            )
        return " and ".join([*words, *strays_in_words(self.strays)])


def are_convincing(
    n_values: int, strays: tuple[Stray, ...], gap_marks: Collection[str] = ()
) -> bool:
    """Whether a column with so many values and these other cells is a column of such values."""
    only_gaps = all(s.is_placeholder or s.value.strip() in gap_marks for s in strays)
    enough = PLACEHOLDERS_MOSTLY if only_gaps else MOSTLY
    return n_values > 0 and n_values >= enough * (n_values + len(strays))


def strays_in_words(strays: tuple[Stray, ...]) -> list[str]:
    """Return words that say which cells are read as missing, if there are any."""
    if not strays:
        return []
    first = strays[0]
    return [f"{cells(len(strays))} read as missing, such as {first.value!r} in {first.row_name}"]


def as_numbers(column: pl.Series, decimal: str = ".") -> Numbers:
    """Return the column with every cell that is a number as a number."""
    import polars as pl

    text = trimmed(column)
    for dtype in (pl.Int64, pl.Float64) if decimal == "." else (pl.Int64,):
        simple = text.cast(dtype, strict=False)
        if simple.null_count() == text.null_count():
            return Numbers(simple, (), ())
    parts = cell_parts(text)
    affixes = _affixes(parts)
    known = [affix for affix in affixes["affix"] if affix is not None]
    core = parts["core"]
    grouped, plain = shapes(decimal)
    is_grouped = core.str.contains(grouped).fill_null(False)
    is_number = is_grouped | core.str.contains(plain).fill_null(False)
    other = "," if decimal == "." else "."
    digits = core.str.replace_all(f"[{re.escape(other)}{GROUPS}]", "")
    digits = digits.str.replace(decimal, ".", literal=True).set(~is_number, None)
    values = digits.cast(pl.Float64, strict=False)
    joined = parts.select("before", "after").join(
        affixes.select("before", "after", "factor", "is_bare", "is_percent"),
        on=["before", "after"], how="left", nulls_equal=True, maintain_order="left",
    )  # fmt: skip
    values = values * joined["factor"]
    bare = joined["is_bare"].fill_null(True)
    if decimal == ".":
        values = values.fill_null(simple)  # 5. and inf
    if joined["is_percent"].any():  # 0.05 among 5% may be either
        values = values.set(~joined["is_percent"].fill_null(False) & (values != 0), None)
    is_dressed = values.is_not_null() & (is_grouped | ~bare)
    is_stray = text.is_not_null() & values.is_null()
    return Numbers(
        _to_integers(values, core, decimal).rename(column.name),
        _strays(column, is_dressed),
        _strays(column, is_stray),
        _doubt(known),
    )


def trimmed(column: pl.Series) -> pl.Series:
    """Return the text without blanks around it, null where nothing else is there."""
    import polars as pl

    text = pl.col(column.name).str.strip_chars()
    return column.to_frame().select(pl.when(text != "").then(text)).to_series()


def cell_parts(text: pl.Series) -> pl.DataFrame:
    """Return the text before the digits (`before`), the digits (`core`), and the rest (`after`)."""
    parts = text.str.extract_groups(CELL).struct.unnest()
    parts.columns = ["before", "core", "after"]
    return parts


def shapes(decimal: str) -> tuple[str, str]:
    """Return the patterns of digits with separators of thousands, and of digits without."""
    other = "," if decimal == "." else "."
    between, point = f"[{re.escape(other)}{GROUPS}]", re.escape(decimal)
    grouped = rf"^\d{{1,3}}(?:{between}\d{{2,3}})*{between}\d{{3}}(?:{point}\d+)?$"
    return grouped, rf"^\d*(?:{point}\d+)?(?:[eE][+-]?\d+)?$"


def _affixes(parts: pl.DataFrame) -> pl.DataFrame:
    """Return every pair of texts before and behind digits, with its meaning."""
    import polars as pl

    pairs = parts.select("before", "after").unique().drop_nulls()
    affixes = [read_affix(before, after) for before, after in pairs.rows()]
    factors = [None if a is None else -a.factor if a.is_negative else a.factor for a in affixes]
    return pairs.with_columns(
        pl.Series("affix", affixes, pl.Object),
        pl.Series("factor", factors, pl.Float64),
        (pl.col("before").str.strip_chars(" +-") + pl.col("after") == "").alias("is_bare"),
        pl.Series("is_percent", [a is not None and a.unit == "%" for a in affixes], pl.Boolean),
    )


def _doubt(affixes: list[Affix]) -> str:
    for what in ("currency", "unit"):
        several = sorted({getattr(affix, what) for affix in affixes} - {""})
        if len(several) > 1:
            plural = "currencies" if what == "currency" else "units"
            return f"text, because it holds numbers in several {plural}: {', '.join(several[:4])}"
    return ""


def _to_integers(numbers: pl.Series, core: pl.Series, decimal: str) -> pl.Series:
    """Return whole numbers as integers, unless one is written with decimals."""
    import polars as pl

    if core.set(numbers.is_null(), None).str.contains(decimal, literal=True).any():
        return numbers
    whole = numbers.drop_nulls()
    if (whole.floor() == whole).all() and (whole.abs() < 2**53).all():
        return numbers.cast(pl.Int64)
    return numbers


def _strays(column: pl.Series, chosen: pl.Series) -> tuple[Stray, ...]:
    rows = chosen.arg_true()
    return tuple(map(Stray, (rows + 1).to_list(), column.gather(rows).to_list()))


def cells(count: int) -> str:
    return f"{count:,} cell" if count == 1 else f"{count:,} cells"
