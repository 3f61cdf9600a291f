"""What a table holds, column by column, and what in it looks like a mistake."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any

import narwhals.stable.v1 as nw
import numpy as np

from clearbands.tables.columns import Column, columns_of
from clearbands.tables.kinds import is_blank

if TYPE_CHECKING:
    import polars as pl

    from clearbands.apps.reading.reading import Reading

FEWEST = 20  # rows below which every column looks like an id
NAMED_LIKE_AN_ID = re.compile(
    r"(^|[\s_.-])([Ii][Dd]s?|[UuGg][Uu][Ii][Dd]|[Kk]ey|[Nn]r|[Nn]o)$"
    r"|[a-z]I[Dd]$|^[A-Z]ID$"  # houseId, PID
)


@dataclass(frozen=True)
class Inspected:
    """One column in a few words."""

    name: str
    kind: str
    n_missing: int
    n_distinct: int  # without the missing
    shown: str  # its range, or its most frequent values
    remark: str = ""  # what looks wrong, and what was done about it

    @property
    def is_blank(self) -> bool:
        return self.n_distinct == 0


def inspect_table(reading: Reading) -> tuple[Inspected, ...]:
    """Every column of the table."""
    frame = nw.from_native(reading.frame, eager_only=True)
    return tuple(
        _inspect(column, reading, is_blank(frame.get_column(column.name)))
        for column in columns_of(reading.frame)
    )


def _inspect(column: Column, reading: Reading, blank: bool) -> Inspected:
    there = column.values[~column.is_missing]
    n_missing = len(column.values) - len(there)
    if blank:
        return Inspected(column.name, "-", n_missing, 0, "", "no value in any row")
    distinct, counts = np.unique(there.astype(str) if column.is_text else there, return_counts=True)
    shown = _range(column, there) if not column.is_text else _frequent(distinct, counts)
    remarks = [_suspicion(column, reading.frame[column.name], len(distinct), n_missing)]
    if column.name in reading.mended:
        remarks.append(reading.mended[column.name].in_words)
    if column.name in reading.codes:
        remarks.append("text, because some begin with 0")
    said = "; ".join(remark for remark in remarks if remark)
    return Inspected(column.name, column.kind, n_missing, len(distinct), shown, said)


def _suspicion(column: Column, series: pl.Series, n_distinct: int, n_missing: int) -> str:
    n = len(series) - n_missing
    if n_distinct == 1 and n > 1:
        return "the same value in every row" if n_missing == 0 else "one value or none"
    if n < FEWEST or n_distinct < n:
        return ""
    if column.is_text:
        return "another text in every row: looks like an id"
    if not series.dtype.is_integer():
        return ""
    # Whole numbers that are all there, or a part of those that a split of the table left.
    counts = bool(series.max() - series.min() < 2 * n)  # type: ignore[operator]
    is_id = counts or NAMED_LIKE_AN_ID.search(column.name)
    return "another whole number in every row: looks like an id" if is_id else ""


def warnings_about(
    reading: Reading, columns: Sequence[Inspected], features: Sequence[str]
) -> list[str]:
    """What its owner should know before a model learns from these features."""
    said = [f"{_capital(words)}: left out." for words in reading.left_out]
    by_name = {column.name: column for column in columns}
    for name in features:
        remark = by_name[name].remark
        if by_name[name].is_blank or not remark:
            continue
        mended = name in reading.mended or name in reading.codes
        advice = f"--drop {quote(name)}"
        if "looks like an id" in remark:
            advice += f" leaves it out, --id {quote(name)} carries it along unlearned"
        if mended:
            advice = f"--columns-as {quote(f'{name}=text')} reads it as text"
        if name in reading.codes:
            advice = f"--columns-as {quote(f'{name}=number')} reads it as numbers"
        said.append(f"Column {name!r}: {remark} ({advice}).")
    return said


def warnings_about_target(name: str, y: np.ndarray) -> list[str]:
    """Targets for which intervals say little."""
    values = np.unique(y)
    if len(values) == 1:
        return [f"The target {name!r} is {values[0]:g} in every row: there is nothing to learn."]
    if len(values) == 2 and len(y) >= FEWEST:
        return [
            f"The target {name!r} has only two values, {values[0]:g} and {values[1]:g}: these look "
            "like classes, of which an interval says little; leave --numbers out to predict them."
        ]
    return []


def _range(column: Column, there: Any) -> str:
    if column.kind == "boolean":
        return f"{np.mean(there):.0%} yes"
    low, high = column.in_words(there.min()), column.in_words(there.max())
    return low if low == high else f"{low} to {high}"


def _frequent(distinct: np.ndarray, counts: np.ndarray) -> str:
    order = np.argsort(-counts, kind="stable")[:3]
    shown = ", ".join(_short(str(distinct[i])) for i in order)
    left = len(distinct) - len(order)
    return f"{shown} and {left:,} more" if left else shown


def _short(text: str) -> str:
    return text if len(text) <= 20 else f"{text[:19]}…"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
