"""The inspection of a table: what each column holds, and what in it looks like a mistake."""

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
NEARLY = 0.9  # a column in which more of the rows have a value of their own looks like an id
FEW = 10  # whole numbers that may be categories
GAPS = "stand for gaps"
NINES = tuple(sign * (10**digits - 1) for digits in range(2, 7) for sign in (1, -1))
AT_ONCE = 5  # columns that get the same warning, each in a sentence of its own
NAMED_LIKE_AN_ID = re.compile(
    r"(^|[\s_.-])([Ii][Dd]s?|[UuGg][Uu][Ii][Dd]|[Kk]ey|[Nn]r|[Nn]o)$"
    r"|[a-z]I[Dd]$|^[A-Z]ID$"  # houseId, PID
)
NAMED_LIKE_A_CODE = re.compile(
    r"(^|[\s_.-])(zip|plz|postal|postcode|fips|code|codes|store|shop|branch|dept|department|"
    r"region|district|station|route|type|class|category|model|sector|zone|cluster|state|county|"
    r"id|nr|no|num|key|sku|isbn|ean|naics|icd)([\s_.-]|$)|zipcode|code$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ColumnSummary:
    """One column in a few words."""

    name: str
    kind: str
    n_missing: int
    n_distinct: int  # different values, not counting missing ones
    values: str  # their range, or its most frequent values
    remark: str = ""  # what looks wrong, and what was done about it
    hint: str = ""  # what its owner may want changed, though nothing looks wrong
    is_id: bool = False  # whether it looks like an id

    @property
    def is_blank(self) -> bool:
        return self.n_distinct == 0


def inspect_table(reading: Reading) -> tuple[ColumnSummary, ...]:
    """Describe every column of the table."""
    return tuple(
        _inspect(name, reading) if _has_a_kind(reading, name) else _unreadable(name, reading)
        for name in reading.frame.columns
    )


def _has_a_kind(reading: Reading, name: str) -> bool:
    import polars as pl

    dtype = reading.frame[name].dtype
    return not (dtype.is_nested() or dtype.is_object() or dtype == pl.Binary)


def _unreadable(name: str, reading: Reading) -> ColumnSummary:
    """Describe a column of lists and the like, from which no model can learn."""
    column = reading.frame[name]
    words = f"holds {_type_in_words(column)}, from which no model can learn"
    return ColumnSummary(name, "-", column.null_count(), -1, "", words)


def _type_in_words(column: pl.Series) -> str:
    dtype = str(column.dtype).split("(")[0].lower()
    return {"list": "lists", "array": "lists", "struct": "dicts", "binary": "bytes"}.get(
        dtype, f"values of the type {dtype}"
    )


def _inspect(name: str, reading: Reading) -> ColumnSummary:
    series = reading.frame[name]
    (column,) = columns_of(series.to_frame())
    blank = is_blank(nw.from_native(series, series_only=True))
    there = column.values[~column.is_missing]
    n_missing = len(column.values) - len(there)
    if blank:
        return ColumnSummary(column.name, "-", n_missing, 0, "", "no value in any row")
    distinct, counts = np.unique(there.astype(str) if column.is_text else there, return_counts=True)
    values = _range(column, there) if not column.is_text else _frequent(distinct, counts)
    id_like = _like_an_id(column, series, len(distinct), n_missing)
    constant = "" if len(distinct) > 1 or len(there) < 2 else "the same value in every row"
    if constant and n_missing:
        constant = "the same value in every row that has one"
    remarks = [id_like, constant, _gap_like(column, there), reading.remarks.get(name, "")]
    if name in reading.mended:
        remarks.append(reading.mended[name].in_words)
    if name in reading.codes:
        remarks.append("text, because some begin with 0")
    remark = "; ".join(words for words in remarks if words)
    hint = "" if id_like or constant else _code_like(column, series, len(distinct), len(there))
    return ColumnSummary(
        name, column.kind, n_missing, len(distinct), values, remark, hint, bool(id_like)
    )


def _like_an_id(column: Column, series: pl.Series, n_distinct: int, n_missing: int) -> str:
    """Return a remark if (nearly) every row has its own value, which only tells rows apart."""
    n = len(series) - n_missing
    if n < FEWEST or n_distinct < NEARLY * n or not (column.is_text or series.dtype.is_integer()):
        return ""
    what = "text" if column.is_text else "whole number"
    words = f"a different {what} in every row: looks like an id"
    if n_distinct < n:
        words = f"{n_distinct:,} different {what}s in {n:,} rows: looks like an id"
    if column.is_text or NAMED_LIKE_AN_ID.search(column.name):
        return words
    # Whole numbers without gaps, or the part of them that a split of the table left.
    counts = bool(series.max() - series.min() < 2 * n)  # type: ignore[operator]
    return words if counts and n_distinct == n else ""


def _gap_like(column: Column, there: np.ndarray) -> str:
    """Return a remark if cells hold nines alone, far from all other values.

    Far is the range of the others, or three times that for 99, which may well be an amount.
    """
    if column.kind != "number":
        return ""
    for value in NINES:
        others = there[there != value]
        count = len(there) - len(others)
        far = (3 if abs(value) < 100 else 1) * np.ptp(others) if len(others) > 1 else np.inf
        if count > 1 and np.min(np.abs(others - value), initial=np.inf) > far:
            return f"{count:,} cells hold {value}, far from all others: empty them if they {GAPS}"
    return ""


def _code_like(column: Column, series: pl.Series, n_distinct: int, n: int) -> str:
    """Return a hint if whole numbers may be categories by their name, their length or being few."""
    if column.kind != "number" or not series.dtype.is_integer() or n < FEWEST or n_distinct < 3:
        return ""
    advice = f"--columns-as {quote(f'{column.name}=text')} if they are codes"
    if NAMED_LIKE_A_CODE.search(column.name):
        return f"whole numbers that may be codes by their name ({advice})"
    low, high = int(series.min()), int(series.max())  # type: ignore[arg-type]
    if low >= 10_000 and len(str(low)) == len(str(high)) and 2 * n_distinct <= n:
        return f"whole numbers of {len(str(low))} digits that repeat ({advice})"
    if n_distinct <= FEW and 5 * n_distinct <= n and low >= 0:
        return f"{n_distinct} whole numbers, amounts or categories ({advice})"
    return ""


def warnings_about(
    reading: Reading, columns: Sequence[ColumnSummary], features: Sequence[str]
) -> list[str]:
    """Return what the owner of a table should know before a model learns from these features.

    A remark that many columns share names the first of them and the number of the others.
    """
    sentences = [f"{_capital(note)}." for note in reading.notes]
    by_name = {column.name: column for column in columns}
    alike: dict[str, list[str]] = {}
    for name in features:
        if not by_name[name].is_blank and by_name[name].remark:
            alike.setdefault(_sort_of(by_name[name], reading), []).append(name)
    for names in alike.values():
        listed = names if len(names) <= AT_ONCE else names[: AT_ONCE - 1]
        for name in listed:
            remark, advice = by_name[name].remark, _advice(by_name[name], reading)
            sentences.append(f"Column {name!r}: {remark}{f' ({advice})' if advice else ''}.")
        if len(listed) < len(names):
            left = len(names) - len(listed)
            sentences.append(f"{left:,} more columns like it; `clearbands inspect` shows them all.")
    return sentences


def _sort_of(column: ColumnSummary, reading: Reading) -> str:
    if column.is_id:
        return "id"
    if column.name in reading.remarks:
        return reading.remarks[column.name].split(",")[0]
    return "mended" if column.name in reading.mended else column.remark


def _advice(column: ColumnSummary, reading: Reading) -> str:
    """Return the option that changes how the column is read."""
    name = column.name
    if column.is_id and name not in (*reading.codes, *reading.mended, *reading.remarks):
        return f"--drop {quote(name)} leaves it out; --id {quote(name)} keeps it for the output"
    if name in reading.codes:
        return f"--columns-as {quote(f'{name}=number')} reads it as numbers"
    remark = reading.remarks.get(name, "")
    if "hold no number" in remark:
        return f"--columns-as {quote(f'{name}=number')} reads those as missing"
    if remark or GAPS in column.remark:
        return ""
    mended = reading.mended.get(name)
    if getattr(mended, "guess", ""):
        other = "dmy" if reading.orders[name] == "mdy" else "mdy"
        return f"--columns-as {quote(f'{name}={other}')} reads them the other way"
    if mended is not None:
        return f"--columns-as {quote(f'{name}=text')} reads it as text"
    return f"--drop {quote(name)} leaves it out"


def warnings_about_target(name: str, y: np.ndarray) -> list[str]:
    """Warn of a target for which intervals say little."""
    values = np.unique(y)
    if len(values) == 1:
        return [f"The target {name!r} is {values[0]:g} in every row: there is nothing to learn."]
    if len(values) == 2 and len(y) >= FEWEST:
        return [
            f"The target {name!r} has only two values, {values[0]:g} and {values[1]:g}: these look "
            "like classes, of which an interval says little; leave --task out to predict them."
        ]
    return []


def _range(column: Column, there: Any) -> str:
    if column.kind == "boolean":
        return f"{np.mean(there):.0%} yes"
    low, high = column.in_words(there.min()), column.in_words(there.max())
    return low if low == high else f"{low} to {high}"


def _frequent(distinct: np.ndarray, counts: np.ndarray) -> str:
    order = np.argsort(-counts, kind="stable")[:3]
    frequent = ", ".join(_short(str(distinct[i])) for i in order)
    left = len(distinct) - len(order)
    return f"{frequent} and {left:,} more" if left else frequent


def _short(text: str) -> str:
    return text if len(text) <= 20 else f"{text[:19]}…"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
