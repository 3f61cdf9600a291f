"""Dates and times as people write them, with day and month in an order that the column tells.

07/05/2008 is in May or in July; a row with 25 for a day decides. Where no row does, other columns
of the file decide, or the order of the rows, or what such files usually mean; a remark says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clearbands.apps.reading.numbers import Stray, are_convincing, strays_in_words, trimmed

if TYPE_CHECKING:
    import polars as pl

FIRST = 20  # values that tell whether a column may hold dates
ORDERS = {"ymd": "year first or the month by its name", "dmy": "day first", "mdy": "month first"}
MUCH_LONGER = 5  # a log of some days seems to take months if day and month change places
CENTURY = 50  # years of two digits from here on belong to the last century, as in Excel

TIME = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?([AaPp]\.?[Mm]\.?)?"
ZONE = r"\s?(Z|UTC|GMT|[+-]\d{2}:?\d{2}|[+-]\d{2})?"
BEHIND = rf"(?:(?:T|\s|,\s)\s?{TIME}{ZONE})?$"
DIGITS = r"^(?:(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{1,2})([-/.])(\d{1,2})[-/.](\d{4}|\d{2}))"
MONTHS_AND_YEARS = r"^(?:(\d{4})[-/](\d{2})|(\d{1,2})[-/](\d{4}))$"
WEEKDAY = r"^(?:[A-Za-z]{2,9}\.?,?\s+)?"
DAY_AND_NAME = r"(\d{1,2})(?:st|nd|rd|th|\.)?[\s-]+([A-Za-zäéû]{3,9})\.?,?[\s-]+(\d{4}|\d{2})"
NAME_AND_DAY = r"([A-Za-zäéû]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})"
DATE = re.compile(
    "|".join(
        f"(?:{shape})"
        for shape in (
            DIGITS + BEHIND,
            MONTHS_AND_YEARS,
            WEEKDAY + DAY_AND_NAME + BEHIND,
            WEEKDAY + NAME_AND_DAY + BEHIND,
        )
    )
)
JOINED = r"^(\d{1,2})([A-Za-z]{3})(\d{4})(?::|$)"  # 03JAN2012:10:30, as SAS writes it
CLOCK = re.compile(rf"^{TIME}$")
MONTHS = {
    **{"jan": 1, "feb": 2, "fév": 2, "mar": 3, "mär": 3, "mrz": 3, "apr": 4, "avr": 4, "may": 5},
    **{"mai": 5, "jun": 6, "jui": 6, "jul": 7, "aug": 8, "aoû": 8, "sep": 9, "oct": 10, "okt": 10},
    **{"nov": 11, "dec": 12, "dez": 12, "déc": 12},
}
MOMENT = ("hour", "minute", "second", "fraction", "noon", "zone")


@dataclass(frozen=True)
class Fields:
    """The cells of a column cut into year, month, day and time; null where a cell is no date."""

    column: pl.Series
    parts: pl.DataFrame  # `year`, `one`, `two` (day and month in their order), `mark`, `MOMENT`
    has_year_first: bool
    has_names: bool  # whether months are written as names

    @property
    def is_open(self) -> bool:
        """Whether day and month stand in front of the year, as numbers."""
        return not (self.has_year_first or self.has_names)

    @property
    def order(self) -> str | None:
        """The order of day and month that the column alone tells; None if it does not."""
        import polars as pl

        if not self.is_open:
            return "ymd"
        above = self.parts.select((pl.col("one", "two") > 12).sum()).row(0)
        if above[0] != above[1]:
            return "dmy" if above[0] > above[1] else "mdy"
        marks = self.parts["mark"].drop_nulls()
        return "dmy" if (marks == ".").all() else None  # nobody writes 05.21.2008


@dataclass(frozen=True)
class Dates:
    """A column of text as dates or moments, and the cells that are not dates."""

    column: pl.Series
    order: str  # a key of `ORDERS`
    strays: tuple[Stray, ...] = ()
    guess: str = ""  # a cell that could be read in another order, if no cell tells the order
    zones: tuple[str, ...] = ()
    doubt: str = ""

    @property
    def is_convincing(self) -> bool:
        return are_convincing(self.column.count(), self.strays)

    @property
    def in_words(self) -> str:
        """The words that tell the owner of the file what was guessed or left out."""
        words = []
        if self.guess:
            words.append(
                f"dates such as {self.guess!r} read with the {ORDERS[self.order]}, though no row "
                "tells it"
            )
        if len(self.zones) > 1:
            zones = ", ".join(self.zones[:4])
            words.append(f"moments in several time zones ({zones}), all turned into UTC")
        return " and ".join([*words, *strays_in_words(self.strays)])


def find_dates(
    texts: Mapping[str, pl.Series],
    known: Mapping[str, str] | None = None,
    *,
    wanted: Mapping[str, str] | None = None,
    european: bool = False,
) -> dict[str, Dates]:
    """Return the columns that hold dates, in the `wanted` order of day and month or in their own.

    A column whose dates are written in several ways is among them, with a doubt that says so.
    `known` orders come from an earlier file of this kind, for columns that do not tell.

    >>> import polars as pl
    >>> dates = find_dates({"sold": pl.Series("sold", ["07/05/2008", "12/25/2008"])})
    >>> dates["sold"].order, str(dates["sold"].column[0])
    ('mdy', '2008-07-05')
    """
    known = known or {}
    fields = {name: _fields(text) for name, text in texts.items() if _may_be_dates(text)}
    orders = {name: cells.order or known.get(name) for name, cells in fields.items()}
    orders |= {n: order for n, order in (wanted or {}).items() if n in fields and fields[n].is_open}
    certain = {order for order in orders.values() if order in ("dmy", "mdy")}
    usual = certain.pop() if len(certain) == 1 else "dmy" if european else "mdy"
    dates = {name: _in_order(cells, orders[name], usual) for name, cells in fields.items()}
    dates = {n: each if each.is_convincing else _mixed(each, texts[n]) for n, each in dates.items()}
    return {name: each for name, each in dates.items() if each.is_convincing or each.doubt}


def _mixed(dates: Dates, text: pl.Series) -> Dates:
    """Return the dates, with a doubt if nearly all other cells are dates of another form."""
    others = tuple(s for s in dates.strays if not DATE.match(s.value.strip()))
    n_dates = text.count() - len(others)
    if dates.column.count() == 0 or not are_convincing(n_dates, others):
        return dates
    one = text.filter(dates.column.is_not_null())[0]
    other = next(stray.value for stray in dates.strays if stray not in others)
    doubt = f"text, because its dates are written in several ways, such as {one!r} and {other!r}"
    return replace(dates, doubt=doubt)


def read_dates(text: pl.Series, known: Mapping[str, str] | None = None) -> Dates:
    """Return one column as dates, however few of its cells are dates."""
    fields = _fields(text)
    return _in_order(fields, fields.order or (known or {}).get(text.name), "mdy")


def _in_order(fields: Fields, order: str | None, usual: str) -> Dates:
    """Return the dates in the known order, or else in the likeliest, with a cell as example."""
    if order is not None:
        return _assemble(fields, order)
    dates = _assemble(fields, _in_order_of_rows(fields) or usual)
    return replace(dates, guess=_ambiguous(fields))


def find_times(text: pl.Series) -> pl.Series | None:
    """Return the column as times of day if all its cells are such, else None."""
    import polars as pl

    first = text.drop_nulls().head(FIRST)
    if first.is_empty() or not all(CLOCK.match(value.strip()) for value in first):
        return None
    text = trimmed(text)
    parts = text.str.extract_groups(rf"^{TIME}$").struct.unnest()
    parts.columns = list(MOMENT[:-1])
    written = _time_of_day(parts.with_columns(zone=pl.lit(None, pl.String)))
    written = written.set(parts["hour"].is_null(), None)
    times = written.str.to_time("%H:%M:%S%.f", strict=False)
    return times.rename(text.name) if times.null_count() == text.null_count() else None


def _may_be_dates(text: pl.Series) -> bool:
    """Whether one of the first values is a date; a look at all of them takes longer."""
    first = _insert_blanks(text.drop_nulls().head(FIRST))
    return any(DATE.match(value.strip()) for value in first)


def _insert_blanks(text: pl.Series) -> pl.Series:
    """Put blanks between day, month and year where these are written as one word."""
    return text.str.replace(JOINED, "$1 $2 $3 ").str.strip_chars()


def _fields(column: pl.Series) -> Fields:
    import polars as pl

    text = _insert_blanks(trimmed(column))
    digits = text.str.extract_groups(DIGITS + BEHIND).struct.unnest()
    digits.columns = ["y", "m", "d", "one", "mark", "two", "late", *MOMENT]
    has_year_first = digits["y"].count() > digits["late"].count()
    if digits["y"].count() + digits["late"].count() > 0:
        first = ["y", "d", "m"] if has_year_first else ["late", "one", "two"]
        parts = digits.select(
            pl.col(first[0]).alias("year"), pl.col(first[1]).alias("one"),
            pl.col(first[2]).alias("two"), "mark", *MOMENT,
        )  # fmt: skip
        # 1.2.10 is the number of a version
        dotted = (pl.col("mark") == ".") & (pl.col("year").str.len_chars() == 2)
        short = (pl.col("one").str.len_chars() < 2) | (pl.col("two").str.len_chars() < 2)
        parts = parts.with_columns(year=pl.when(dotted & short).then(None).otherwise("year"))
        return Fields(column, _as_integers(parts), has_year_first, False)
    months = text.str.extract_groups(MONTHS_AND_YEARS).struct.unnest()
    months.columns = ["y", "m", "n", "z"]
    if months.select("y", "z").count().sum_horizontal()[0] > 0:
        parts = months.select(
            pl.coalesce("y", "z").alias("year"), pl.lit("01").alias("one"),
            pl.coalesce("m", "n").alias("two"), *_null_columns("mark", *MOMENT),
        )  # fmt: skip
        return Fields(column, _as_integers(parts), True, False)
    return Fields(column, _as_integers(_split_named_months(text)), False, True)


def _split_named_months(text: pl.Series) -> pl.DataFrame:
    """Return the parts of dates that are written with names of months."""
    import polars as pl

    day_first = text.str.extract_groups(WEEKDAY + DAY_AND_NAME + BEHIND).struct.unnest()
    name_first = text.str.extract_groups(WEEKDAY + NAME_AND_DAY + BEHIND).struct.unnest()
    day_first.columns = ["one", "two", "year", *MOMENT]
    name_first.columns = ["two", "one", "year", *MOMENT]
    parts = day_first.select(
        pl.col(name).fill_null(name_first[name]) for name in ("year", "one", "two", *MOMENT)
    )
    month = pl.col("two").str.to_lowercase().str.head(3)
    number = month.replace_strict(list(MONTHS), [str(m) for m in MONTHS.values()], default=None)
    return parts.with_columns(number.alias("two"), *_null_columns("mark"))


def _null_columns(*names: str) -> list[pl.Expr]:
    import polars as pl

    return [pl.lit(None, pl.String).alias(name) for name in names]


def _as_integers(parts: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    year = pl.col("year").cast(pl.Int64)
    with_century = year + pl.when(year < CENTURY).then(2000).otherwise(1900)
    is_full = pl.col("year").str.len_chars() > 2
    full = pl.when(is_full).then(year).otherwise(with_century)
    return parts.with_columns(full.alias("year"), pl.col("one", "two").cast(pl.Int64))


def _assemble(fields: Fields, order: str) -> Dates:
    import polars as pl

    parts, column = fields.parts, fields.column
    day, month = ("one", "two") if order != "mdy" else ("two", "one")
    day_written = parts.select(
        pl.format(
            "{}-{}-{}",
            pl.col("year").cast(pl.String).str.zfill(4),
            pl.col(month).cast(pl.String).str.zfill(2),
            pl.col(day).cast(pl.String).str.zfill(2),
        )
    ).to_series()
    zones = tuple(sorted(set(parts["zone"].drop_nulls().to_list())))
    if parts["hour"].count() == 0:
        values = day_written.str.to_date("%Y-%m-%d", strict=False)
    else:
        clock = _time_of_day(parts)
        values = (day_written + " " + clock).str.to_datetime(
            "%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False
        )
        values = _in_utc(values, parts["zone"]) if zones else values
    text = trimmed(column)
    is_stray = text.is_not_null() & values.is_null()
    rows = is_stray.arg_true()
    strays = tuple(map(Stray, (rows + 1).to_list(), column.gather(rows).to_list()))
    return Dates(values.rename(column.name), order, strays, zones=zones, doubt=_doubt(parts))


def _time_of_day(parts: pl.DataFrame) -> pl.Series:
    """Return hours, minutes and seconds as 13:45:00.5, and midnight where there are none."""
    import polars as pl

    hour = pl.col("hour").cast(pl.Int64)
    is_noon = pl.col("noon").str.to_lowercase().str.starts_with("p")
    hour = pl.when(pl.col("noon").is_null()).then(hour).otherwise(
        hour % 12 + pl.when(is_noon).then(12).otherwise(0)
    )  # fmt: skip
    fraction = pl.lit(".") + pl.col("fraction").fill_null("0")
    written = pl.format(
        "{}:{}:{}{}",
        hour.cast(pl.String).str.zfill(2),
        "minute",
        pl.col("second").fill_null("00"),
        fraction,
    )
    return parts.select(
        pl.when(pl.col("hour").is_null()).then(pl.lit("00:00:00")).otherwise(written)
    ).to_series()


def _in_utc(moments: pl.Series, zone: pl.Series) -> pl.Series:
    import polars as pl

    minutes = {name: _minutes(name) for name in zone.drop_nulls().unique().to_list()}
    shift = zone.replace_strict(list(minutes), list(minutes.values()), return_dtype=pl.Int64)
    shift = shift.fill_null(0)
    shifted = moments - (shift * 60_000_000).cast(pl.Duration("us"))
    return shifted.dt.replace_time_zone("UTC")


def _minutes(zone: str) -> int:
    """Return the minutes from UTC to a zone: 90 for +01:30."""
    digits = "".join(character for character in zone if character.isdigit())
    if not digits:
        return 0
    minutes = 60 * int(digits[:2]) + int(digits[2:] or 0)
    return -minutes if zone.startswith("-") else minutes


def _doubt(parts: pl.DataFrame) -> str:
    timed = parts["hour"].count()
    zoned = parts["zone"].count()
    if 0 < zoned < timed:
        return (
            f"text, because {zoned:,} of its moments have a time zone and {timed - zoned:,} have "
            "none"
        )
    return ""


def _ambiguous(fields: Fields) -> str:
    """Return a cell in which day and month may change places, or an empty text."""
    import polars as pl

    open_ones = fields.parts.select(
        (pl.col("one") <= 12) & (pl.col("two") <= 12) & (pl.col("one") != pl.col("two"))
    ).to_series()
    rows = open_ones.fill_null(False).arg_true()
    return fields.column[int(rows[0])] if len(rows) else ""


def _in_order_of_rows(fields: Fields) -> str | None:
    """Return the order in which all days are the first of a month or in which dates are sorted.

    Where they are sorted in both orders, it is the order in which they span much less time.
    """
    one, two = (fields.parts[name].drop_nulls() for name in ("one", "two"))
    constant = {"dmy": one, "mdy": two}
    for order, days in constant.items():
        other = two if days is one else one
        if (days == 1).all() and other.n_unique() > 1:
            return order
    rising = {}
    for order in ("dmy", "mdy"):
        dates = _assemble(fields, order).column.drop_nulls()
        if dates.n_unique() > 3 and (dates.is_sorted() or dates.is_sorted(descending=True)):
            rising[order] = abs(dates[-1] - dates[0])
    if len(rising) == 2 and fields.parts["hour"].n_unique() > 1:  # a log with times of day
        shorter, longer = sorted(rising, key=rising.__getitem__)
        return shorter if MUCH_LONGER * rising[shorter] < rising[longer] else None
    return next(iter(rising)) if len(rising) == 1 else None
