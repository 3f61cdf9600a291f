"""Columns of text become numbers, dates, times and booleans, all columns of a file together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clearbands.apps.reading.dates import Dates, find_dates, find_times
from clearbands.apps.reading.decimals import Decimals, find_decimals
from clearbands.apps.reading.dialect import Dialect, TextOptions
from clearbands.apps.reading.numbers import Numbers, as_numbers, cells
from clearbands.tables.spelling import TRUTHS

if TYPE_CHECKING:
    import polars as pl

CODE = r"^0\d+$"  # 01067 is a code, though it looks like a number
FIRST = 20  # values among which the first one is looked at before all others
HALF = 0.5  # with a larger share of numbers a remark says why the column is text
DATES = ("date", "datetime", "dmy", "mdy")


@dataclass(frozen=True)
class Known:
    """The writing of an earlier file of its kind, for cells that can be read in two ways."""

    decimal: str | None = None
    orders: Mapping[str, str] = field(default_factory=dict)  # the order of day and month, by column


NOTHING_KNOWN = Known()


@dataclass
class TypedColumns:
    """Columns turned into what they hold, and the remarks about them."""

    decimals: Decimals
    columns: dict[str, pl.Series] = field(default_factory=dict)
    mended: dict[str, Numbers | Dates] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)
    codes: list[str] = field(default_factory=list)
    orders: dict[str, str] = field(default_factory=dict)

    def take(self, name: str, values: Numbers | Dates) -> None:
        """Store the column as it was read, and what was done to it if there is something to say."""
        self.columns[name] = values.column
        if values.in_words:
            self.mended[name] = values
        if isinstance(values, Dates) and values.order != "ymd":
            self.orders[name] = values.order


def find_signs(
    texts: Mapping[str, pl.Series], options: TextOptions, dialect: Dialect, known: Known
) -> Decimals:
    """Return the decimal sign of the options, or those that the columns tell."""
    if options.decimal is not None:
        return Decimals(options.decimal)
    return find_decimals(having_digits(texts), dialect.separator, known.decimal)


def infer_columns(
    texts: Mapping[str, pl.Series],
    decimals: Decimals,
    *,
    kinds: Mapping[str, str] | None = None,
    known: Known = NOTHING_KNOWN,
    european: bool = False,
) -> TypedColumns:
    """Turn each column into what it looks like, or into the kind that is wanted, if it can be."""
    kinds = kinds or {}
    understood = TypedColumns(decimals)
    with_digits = having_digits(texts)
    orders = {name: kind for name, kind in kinds.items() if kind in ("dmy", "mdy")}
    may_be_dates = {
        name: text for name, text in with_digits.items() if kinds.get(name, "date") in DATES
    }
    dates = find_dates(may_be_dates, known.orders, wanted=orders, european=european)
    numbers = {
        name: as_numbers(text, decimals.of(name))
        for name, text in with_digits.items()
        if name not in kinds and not text.str.contains(CODE).any()
    }
    gap_marks = find_gap_marks(numbers.values())
    for name, text in texts.items():
        kind = kinds.get(name)
        if kind == "text":
            understood.columns[name] = text
        elif kind == "number":
            _as_number(understood, name, text)
        elif kind in DATES:
            if name in dates and dates[name].is_convincing:
                understood.take(name, dates[name])
        elif name in numbers:
            _in_likeliest_kind(understood, name, text, numbers[name], dates.get(name), gap_marks)
        elif name in with_digits:
            understood.codes.append(name)
        else:
            _without_digits(understood, name, text)
    return understood


def find_gap_marks(columns: Iterable[Numbers]) -> set[str]:
    """Return the texts that are the only one among the numbers of several columns.

    "M" in the columns of a weather station is such a text.
    """
    counts = Counter(numbers.only_stray for numbers in columns)
    return {text for text, count in counts.items() if text and count > 1}


def having_digits(texts: Mapping[str, pl.Series]) -> dict[str, pl.Series]:
    """Return the columns with digits; the others can hold neither numbers nor dates."""
    import polars as pl

    if not texts:
        return {}
    frame = pl.DataFrame([text.alias(name) for name, text in texts.items()])
    flags = frame.select(pl.all().str.contains(r"\d").any()).row(0)
    return {name: text for (name, text), flag in zip(texts.items(), flags, strict=True) if flag}


def _without_digits(understood: TypedColumns, name: str, text: pl.Series) -> None:
    import polars as pl

    if text.null_count() == len(text):
        understood.columns[name] = text.cast(pl.Float64)
        return
    truths = as_truths(text)
    if truths is not None:
        understood.columns[name] = truths


def as_truths(text: pl.Series) -> pl.Series | None:
    """Return the column as booleans if it holds nothing but true and false, else None."""
    first = next((value for value in text.head(FIRST) if value is not None), None)
    if first is not None and first.lower() not in TRUTHS:
        return None  # all others need no look, which saves time
    lowered = text.str.to_lowercase()
    there = lowered.drop_nulls()
    if there.is_empty() or not there.is_in(TRUTHS).all():
        return None
    return (lowered == "true").rename(text.name)


def _as_number(understood: TypedColumns, name: str, text: pl.Series) -> None:
    import polars as pl

    truths = as_truths(text)
    if truths is not None:
        understood.columns[name] = truths.cast(pl.Int64)
        return
    understood.take(name, as_numbers(text, understood.decimals.of(name)))
    _remark_on_decimal(understood, name, text)


def _in_likeliest_kind(
    understood: TypedColumns,
    name: str,
    text: pl.Series,
    numbers: Numbers,
    dates: Dates | None,
    gap_marks: set[str],
) -> None:
    if numbers.convinces(gap_marks) and not numbers.doubt:
        understood.take(name, numbers)
        _remark_on_decimal(understood, name, text)
        return
    if dates is not None and not dates.doubt:
        understood.take(name, dates)
        return
    times = find_times(text)
    if times is not None:
        understood.columns[name] = times
        return
    doubt = _why_it_stays_text(numbers, dates, name)
    if doubt:
        understood.remarks[name] = doubt


def _why_it_stays_text(numbers: Numbers, dates: Dates | None, name: str) -> str:
    """Return why a column is text though it looks like something else, or ""."""
    if dates is not None:
        return dates.doubt
    n_numbers, n_strays = numbers.column.count(), len(numbers.strays)
    if n_numbers < HALF * (n_numbers + n_strays):
        return ""
    if numbers.doubt:
        return numbers.doubt
    first = numbers.strays[0]
    return (
        f"text, because {cells(n_strays)} of {n_numbers + n_strays:,} hold no number, such as "
        f"{first.value!r} in {first.row_name}"
    )


def _remark_on_decimal(understood: TypedColumns, name: str, text: pl.Series) -> None:
    decimals = understood.decimals
    sign = {".": "point", ",": "comma"}[decimals.of(name)]
    if name in decimals.of_column:
        understood.remarks[name] = f"written with a decimal {sign}, unlike the rest of the file"
    elif name in decimals.guessed:
        other = "," if sign == "point" else "."
        cell = text.filter(text.str.contains(r"[.,]\d{3}$").fill_null(False))[0]
        values = [as_numbers(text.head(0).extend_constant(cell, 1), s).column[0] for s in ".,"]
        here, there = (values[".,".index(s)] for s in (decimals.of(name), other))
        understood.remarks[name] = (
            f"{cell!r} read as {here:.15g}, though it may be {there:.15g}: no cell of the file "
            f"tells (--decimal {other} reads it so)"
        )
