"""Tables from files, as their owners have them: read, mended, and told how."""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from clearbands.apps.reading.choosing import take_column
from clearbands.apps.reading.dialect import (
    TO_BE_FOUND,
    Asked,
    Dialect,
    decode,
    header_of,
    read_text,
)
from clearbands.apps.reading.formats import name_of, read_content, read_excel
from clearbands.apps.reading.mending import Numbers, as_numbers, mend
from clearbands.tables.spelling import TRUTHS, as_texts

if TYPE_CHECKING:
    import polars as pl

# Nothing is lost where one of these was meant as text: a missing category is a category of its own.
MISSING = ["NA", "N/A", "n/a", "NaN", "nan", "NULL", "null"]
FIRST = 20  # values that tell whether a column may hold dates
READABLE = ("number", "text")  # kinds that can be asked for


@dataclass(frozen=True)
class Fitted:
    """The columns of a model: their kinds, and what those of text held."""

    kinds: Mapping[str, str]
    texts: Mapping[str, Collection[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """A table and how it was read."""

    frame: pl.DataFrame
    name: str  # as sentences call the file
    format: str  # csv, parquet, ...
    dialect: Dialect
    digest: str  # SHA-256 of the content
    mended: Mapping[str, Numbers] = field(default_factory=dict)  # by column
    codes: tuple[str, ...] = ()  # text that looks like numbers: 01067
    left_out: tuple[str, ...] = ()  # columns that are none, in words

    @property
    def in_words(self) -> str:
        """Format and dialect."""
        return ", ".join(word for word in (self.format, self.dialect.in_words) if word)

    @property
    def fingerprint(self) -> str:
        """The name and the first half of the digest: the same file, the same words."""
        return f"{Path(self.name).name}, SHA-256 {self.digest[:32]}"


def read_table(
    path: Path,
    *,
    asked: Asked = TO_BE_FOUND,
    fitted: Fitted | None = None,
    columns_as: Mapping[str, str] | None = None,
) -> Reading:
    """The table in a file, or from standard input if `path` is "-".

    `fitted` are a model's columns, as which they are read or refused by row and value. Without
    them each column is what it looks like, mended where a few cells stand in the way, or what
    `columns_as` says.
    """
    content, kind = read_content(path)
    name = name_of(path)
    if fitted is not None:
        return read_fitted(content, kind, name, fitted, asked=asked)
    wanted = dict(columns_as or {})
    reading = _read(content, kind, name, asked, _texts(wanted))
    _check_columns_as(wanted, reading)
    reading = _without_unnamed(reading)
    reading = _with_codes(reading, content, wanted) if kind == "csv" else reading
    reading = _mended(reading, wanted) if kind in ("csv", "Excel") else reading
    return _as_asked(reading, wanted)


def read_fitted(
    content: bytes, kind: str, name: str, fitted: Fitted, *, asked: Asked = TO_BE_FOUND
) -> Reading:
    """The table in a file with this content and format, its columns as a model has them."""
    return _as_fitted(_read(content, kind, name, asked, _texts(fitted.kinds)), fitted)


def _texts(kinds: Mapping[str, str]) -> set[str]:
    return {column for column, kind in kinds.items() if kind == "text"}


def _read(content: bytes, kind: str, name: str, asked: Asked, text: Collection[str]) -> Reading:
    frame, dialect = _parse(content, kind, name, asked, text)
    return Reading(frame, name, kind, dialect, hashlib.sha256(content).hexdigest())


def _check_columns_as(columns_as: Mapping[str, str], reading: Reading) -> None:
    for name, kind in columns_as.items():
        take_column(reading.frame, name, reading.name)
        if kind not in READABLE:
            raise ValueError(
                f"A column can be read as {' or '.join(READABLE)}, got {kind!r} for {name!r}."
            )


def read_csv(content: bytes, name: str, *, text: Collection[str] = ()) -> pl.DataFrame:
    """The table in a csv file with this content, in UTF-8 and with commas, mended nowhere.

    Columns named in `text` are not taken for numbers; errors call the file `name`.
    """
    if not content:
        raise ValueError(f"{name} is empty (0 bytes).")
    with _told_as("csv", name):
        frame = _parse_csv(decode(content, "utf-8", name), Dialect(), name, text)
    return _with_rows(frame, name)


def _parse(
    content: bytes, kind: str, name: str, asked: Asked, text: Collection[str]
) -> tuple[pl.DataFrame, Dialect]:
    import polars as pl

    dialect = Dialect()
    with _told_as(kind, name):
        if kind == "csv":
            written, dialect = read_text(content, asked, name)
            frame = _parse_csv(written, dialect, name, text)
        elif kind == "Excel":
            frame = read_excel(content)
        else:
            read = pl.read_parquet if kind == "parquet" else pl.read_ipc
            frame = read(io.BytesIO(content))
    return _with_rows(frame, name), dialect


@contextmanager
def _told_as(kind: str, name: str) -> Iterator[None]:
    """What the reader of a format complains of, in one sentence."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        article = "an" if kind == "Excel" else "a"
        raise ValueError(f"{name} could not be read as {article} {kind} file: {reason}.") from error


def _with_rows(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """A column without any value becomes numbers: what it is to be, the model knows."""
    import polars as pl

    if frame.height == 0:
        raise ValueError(f"{name} has column names but no rows.")
    blank = [column.name for column in frame if column.null_count() == frame.height]
    return frame.with_columns(pl.col(blank).cast(pl.Float64, strict=False)) if blank else frame


def _parse_csv(text: str, dialect: Dialect, name: str, as_text: Collection[str]) -> pl.DataFrame:
    import polars as pl

    header = header_of(text, dialect.separator)
    twice = [column for column, count in Counter(header).items() if count > 1 and column.strip()]
    if twice:
        raise ValueError(f"{name} has several columns named {twice[0]!r}; rename all but one.")
    frame = pl.read_csv(
        text.encode(),
        separator=dialect.separator,
        decimal_comma=dialect.decimal == ",",
        null_values=MISSING,
        schema_overrides={column: pl.String for column in header if column in as_text},
        infer_schema_length=None,  # a column may turn out to be text in its last row
    )
    texts = [c for c in frame if c.dtype == pl.String and c.name not in as_text]
    return frame.with_columns(as_dates(column) for column in texts)


def as_dates(column: pl.Series) -> pl.Series:
    """The column as dates or times, if it holds them; a look at the first saves time."""
    first = column.drop_nulls().head(FIRST)
    if first.is_empty() or not _parsed_dates(first).dtype.is_temporal():
        return column
    dates = _parsed_dates(column)
    return dates if dates.dtype.is_temporal() else column


def _parsed_dates(column: pl.Series) -> pl.Series:
    """What the reader of csv files makes of it when it may look for dates."""
    import polars as pl

    alone = pl.DataFrame({"column": column, "row": range(len(column))}).write_csv().encode()
    read = pl.read_csv(alone, infer_schema_length=None, try_parse_dates=True)
    return read["column"].rename(column.name)


def _without_unnamed(reading: Reading) -> Reading:
    """Columns without a name that are empty or only count the rows: left by other programs."""
    left_out = {}
    for place, column in enumerate(reading.frame, 1):
        if not re.fullmatch(r"|Unnamed: \d+|_duplicated_\d+|__UNNAMED__\d+", column.name.strip()):
            continue
        if column.null_count() == len(column):
            left_out[column.name] = f"column {place} has neither a name nor a value"
        elif _counts_rows(column):
            left_out[column.name] = f"column {place} has no name and only counts the rows"
    frame = reading.frame.drop(left_out)
    return replace(reading, frame=frame, left_out=tuple(left_out.values()))


def _counts_rows(column: pl.Series) -> bool:
    if not column.dtype.is_integer() or column.null_count():
        return False
    return column[0] in (0, 1) and bool((column.diff().drop_nulls() == 1).all())


def _with_codes(reading: Reading, content: bytes, wanted: Mapping[str, str]) -> Reading:
    """Whole numbers that begin with a zero, such as 01067, are text."""

    whole = [c.name for c in reading.frame if c.dtype.is_integer() and c.name not in wanted]
    asked = Asked(reading.dialect.separator, reading.dialect.decimal, reading.dialect.encoding)
    raw, _ = _parse(content, "csv", reading.name, asked, whole)
    codes = [name for name in whole if raw[name].str.contains(r"^\s*0\d").any()]
    frame = reading.frame.with_columns(raw[name] for name in codes)
    return replace(reading, frame=frame, codes=tuple(codes))


def _mended(reading: Reading, wanted: Mapping[str, str]) -> Reading:
    import polars as pl

    mended = {}
    for column in reading.frame:
        if column.dtype == pl.String and column.name not in (*wanted, *reading.codes):
            found = mend(column, reading.dialect.decimal)
            if found is not None:
                mended[column.name] = found
    frame = reading.frame.with_columns(found.column for found in mended.values())
    told = {name: found for name, found in mended.items() if found.in_words}
    return replace(reading, frame=frame, mended=told)


def _as_asked(reading: Reading, columns_as: Mapping[str, str]) -> Reading:
    """The columns as the user says they are to be read."""
    import polars as pl

    columns, mended = [], dict(reading.mended)
    for name, kind in columns_as.items():
        column = reading.frame[name]
        if kind == "text":
            columns.append(_text(column))
        elif column.dtype == pl.String:
            found = as_numbers(column, reading.dialect.decimal)
            _refuse_text(name, found)
            columns.append(found.column)
            mended |= {name: found} if found.in_words else {}
        elif column.dtype == pl.Boolean:
            columns.append(column.cast(pl.Int64))
        elif not column.dtype.is_numeric():
            raise ValueError(f"Column {name!r} holds {column.dtype}, which is no number.")
    return replace(reading, frame=reading.frame.with_columns(columns), mended=mended)


def _text(column: pl.Series, known: Collection[str] = ()) -> pl.Series:
    """As text where a csv file would have it as such; what no cell can hold stays as it is."""
    import polars as pl

    simple = column.dtype.is_numeric() or column.dtype.is_temporal()
    if simple or column.dtype in (pl.String, pl.Boolean):
        return as_texts(column, known)
    return column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column


def _as_fitted(reading: Reading, fitted: Fitted) -> Reading:
    """The columns in the kinds of a model; text that cannot be, by row and value."""
    import polars as pl

    reading = replace(reading, frame=in_kinds(reading.frame, fitted))
    columns: list[pl.Series] = []
    mended: dict[str, Numbers] = {}
    for column in reading.frame:
        kind = fitted.kinds.get(column.name, "any")
        if column.dtype != pl.String or kind in ("text", "any"):
            continue  # other types the model knows to refuse
        if kind != "number":
            _refuse_other(column, kind)
        found = as_numbers(column, reading.dialect.decimal)
        _refuse_text(column.name, found)
        columns.append(found.column)
        mended |= {column.name: found} if found.in_words else {}
    return replace(reading, frame=reading.frame.with_columns(columns), mended=mended)


def in_kinds(frame: pl.DataFrame, fitted: Fitted) -> pl.DataFrame:
    """Columns of other types that mean the same, whatever the format: 3 for the text "3", true
    for 1, the text "2026-01-31" for a date. What means something else stays as it is."""
    import polars as pl

    columns = []
    for column in frame:
        kind = fitted.kinds.get(column.name, "any")
        if kind == "text":
            columns.append(_text(column, fitted.texts.get(column.name, ())))
        elif kind == "number" and column.dtype == pl.Boolean:
            columns.append(column.cast(pl.Int64))
        elif kind in ("date", "datetime", "time") and column.dtype == pl.String:
            columns.append(as_dates(column))
        elif kind == "boolean" and column.dtype == pl.String:
            columns.append(_as_truths(column))
    return frame.with_columns(columns)


def _as_truths(column: pl.Series) -> pl.Series:
    """The column as true and false, if it holds nothing else."""

    lowered = column.str.strip_chars().str.to_lowercase()
    if not lowered.drop_nulls().is_in(TRUTHS).all():
        return column
    return (lowered == "true").rename(column.name)


def _refuse_text(name: str, found: Numbers) -> None:
    odd = [stray for stray in found.strays if not stray.is_placeholder]
    if odd:
        raise ValueError(
            f"Column {name!r} must hold numbers, but row {odd[0].row} holds {odd[0].value!r}"
            f"{_and_more(len(odd))}; correct it or leave it empty."
        )


def _refuse_other(column: pl.Series, kind: str) -> None:
    """Text where dates or the like were wanted: at least one cell could not be read as such."""
    from clearbands.tables.kinds import KINDS

    there = [(row, text) for row, text in enumerate(column, 1) if text is not None]
    row, text = next(((r, t) for r, t in there if not _can_be(t.strip(), kind)), there[0])
    raise ValueError(
        f"Column {column.name!r} must hold {KINDS[kind].in_words}, but row {row} holds {text!r}; "
        "write it as in the file of the fit, or leave it empty."
    )


def _can_be(text: str, kind: str) -> bool:
    if kind == "boolean":
        return text.lower() in TRUTHS
    try:
        (dt.time if kind == "time" else dt.datetime).fromisoformat(text)
    except ValueError:
        return False
    return True


def _and_more(count: int) -> str:
    return f" ({count - 1:,} more such cells)" if count > 1 else ""
