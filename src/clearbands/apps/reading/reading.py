"""Tables read from the files of their owners, mended, and with a record of all changes."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from clearbands.apps.reading.choosing import take_column
from clearbands.apps.reading.dates import find_dates, find_times
from clearbands.apps.reading.dialect import TO_BE_FOUND, Dialect, TextOptions, read_text
from clearbands.apps.reading.formats import name_of, read_content, read_excel
from clearbands.apps.reading.layout import TextTable, read_cells
from clearbands.apps.reading.numbers import Stray, as_numbers, trimmed
from clearbands.apps.reading.totals import is_total, partial_totals
from clearbands.apps.reading.understanding import (
    NOTHING_KNOWN,
    Known,
    as_truths,
    find_signs,
    infer_columns,
)
from clearbands.rows.messages import row_of_file, warn
from clearbands.tables.spelling import as_texts

if TYPE_CHECKING:
    import polars as pl

    from clearbands.apps.reading.dates import Dates
    from clearbands.apps.reading.numbers import Numbers

READABLE = ("number", "text", "date", "dmy", "mdy")  # kinds that can be asked for


@dataclass(frozen=True)
class Fitted:
    """The columns of a model: their kinds, the texts in them, and how its file was written."""

    kinds: Mapping[str, str]
    texts: Mapping[str, Collection[str]] = field(default_factory=dict)
    known: Known = NOTHING_KNOWN


@dataclass(frozen=True)
class Reading:
    """A table and how it was read."""

    frame: pl.DataFrame
    name: str  # the name of the file in messages
    format: str  # csv, parquet, ...
    dialect: Dialect
    digest: str  # SHA-256 of the content
    mended: Mapping[str, Numbers | Dates] = field(default_factory=dict)  # by column
    remarks: Mapping[str, str] = field(default_factory=dict)  # by column: what else to know
    codes: tuple[str, ...] = ()  # columns of text that looks like numbers: 01067
    orders: Mapping[str, str] = field(default_factory=dict)  # the order of day and month, by column
    notes: tuple[str, ...] = ()  # what was left out or renamed, in words

    @property
    def in_words(self) -> str:
        """The format and the dialect of the file in words."""
        return ", ".join(word for word in (self.format, self.dialect.in_words) if word)

    @property
    def fingerprint(self) -> str:
        """The name of the file and the first half of its digest."""
        return f"{Path(self.name).name}, SHA-256 {self.digest[:32]}"

    @property
    def known(self) -> Known:
        """The way the file is written, which helps to read the next file of its kind."""
        return Known(self.dialect.decimal, self.orders)


def read_table(
    path: Path,
    *,
    options: TextOptions = TO_BE_FOUND,
    fitted: Fitted | None = None,
    columns_as: Mapping[str, str] | None = None,
) -> Reading:
    """Read the table in a file, or from standard input if `path` is "-".

    `fitted` are the columns of a model: the table's columns are read in their kinds, or an error
    names a row and its value. Without them a column is read as what it looks like, mended where a
    few cells stand in the way, or as what `columns_as` says.
    """
    content, kind = read_content(path)
    name = name_of(path)
    if fitted is not None:
        return read_fitted(content, kind, name, fitted, options=options)
    wanted = dict(columns_as or {})
    reading = _read(content, kind, name, options)
    _check_columns_as(wanted, reading)
    return _as_asked(_understood(reading, wanted, options), wanted)


def read_fitted(
    content: bytes, kind: str, name: str, fitted: Fitted, *, options: TextOptions = TO_BE_FOUND
) -> Reading:
    """Read a table from its content in a format, with columns in the kinds of a model."""
    return _as_fitted(_read(content, kind, name, options), fitted, options)


def reading_in_words(reading: Reading) -> list[str]:
    """Return a sentence each about what was left out, mended or guessed."""
    sentences = [f"{note[:1].upper()}{note[1:]}." for note in reading.notes]
    about = [(name, column.in_words) for name, column in reading.mended.items()]
    about += reading.remarks.items()
    return sentences + [f"Column {name!r}: {words}." for name, words in about]


def _read(content: bytes, kind: str, name: str, options: TextOptions) -> Reading:
    """Read the table with its cells as they stand in the file."""
    import polars as pl

    dialect, table = Dialect(), TextTable(pl.DataFrame())
    with _reading_error_in_words(kind, name):
        if kind == "csv":
            written, dialect = read_text(content, options, name)
            table = read_cells(written, dialect.separator)
        elif kind == "Excel":
            frame, above = read_excel(content)
            rows = "1 row" if above == 1 else f"{above} rows"
            table = TextTable(frame, (f"{rows} above the header left out",) if above else ())
        else:
            read = pl.read_parquet if kind == "parquet" else pl.read_ipc
            table = TextTable(read(io.BytesIO(content)))
    if table.frame.height == 0:
        raise ValueError(f"{name} has column names but no rows.")
    digest = hashlib.sha256(content).hexdigest()
    return Reading(table.frame, name, kind, dialect, digest, notes=table.notes)


@contextmanager
def _reading_error_in_words(kind: str, name: str) -> Iterator[None]:
    """Turn an error of the reader of a format into one sentence."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        article = "an" if kind == "Excel" else "a"
        raise ValueError(f"{name} could not be read as {article} {kind} file: {reason}.") from error


def _check_columns_as(columns_as: Mapping[str, str], reading: Reading) -> None:
    for name, kind in columns_as.items():
        take_column(reading.frame, name, reading.name)
        if kind not in READABLE:
            raise ValueError(
                f"A column can be read as {', '.join(READABLE[:-1])} or {READABLE[-1]}, got "
                f"{kind!r} for {name!r}."
            )


def _understood(
    reading: Reading, kinds: Mapping[str, str], options: TextOptions, known: Known = NOTHING_KNOWN
) -> Reading:
    """Turn columns of text into what they hold; in files with types only those in `kinds`."""
    import polars as pl

    texts = {column.name: column for column in reading.frame if column.dtype == pl.String}
    if reading.format not in ("csv", "Excel"):
        texts = {name: text for name, text in texts.items() if name in kinds}
    else:
        texts = {name: trimmed(text) for name, text in texts.items()}
    decimals = find_signs(
        {name: text for name, text in texts.items() if kinds.get(name) != "text"},
        options, reading.dialect, known,
    )  # fmt: skip
    frame, notes = reading.frame, list(reading.notes)
    if len(texts) == frame.width and is_total(pl.DataFrame(list(texts.values())), decimals):
        first = next(cell for cell in frame.row(-1) if cell is not None)
        notes.append(f"the last row, {first!r}, left out: it sums up the others")
        frame = frame[:-1]
        texts = {name: text[:-1] for name, text in texts.items()}
    sums = partial_totals(pl.DataFrame(list(texts.values()))) if len(texts) == frame.width else []
    if sums:
        rows = "1 row is" if len(sums) == 1 else f"{len(sums):,} rows are"
        notes.append(f"{rows} named like a sum, such as {sums[0]!r}: remove them if they are sums")
    dialect = replace(reading.dialect, decimal=decimals.of_file)
    european = dialect.decimal == "," or dialect.separator == ";"
    understood = infer_columns(texts, decimals, kinds=kinds, known=known, european=european)
    frame = frame.with_columns(texts.values()).with_columns(understood.columns.values())
    reading = replace(
        reading,
        frame=frame.with_columns(_numbers_if_blank()),
        dialect=dialect,
        mended=understood.mended,
        remarks=understood.remarks,
        codes=tuple(understood.codes),
        orders=understood.orders,
        notes=tuple(notes),
    )
    return _without_unnamed(reading) if reading.format in ("csv", "Excel") else reading


def _numbers_if_blank() -> pl.Expr:
    """Cast a column without any value to numbers; a model knows what it is to be."""
    import polars as pl
    import polars.selectors as cs

    return cs.by_dtype(pl.Null).cast(pl.Float64)


def _as_asked(reading: Reading, kinds: Mapping[str, str]) -> Reading:
    """Read columns as the user asks, or raise an error that names a cell."""
    import polars as pl

    columns = []
    for name, kind in kinds.items():
        column = reading.frame[name]
        if kind == "text":
            columns.append(_text(column))
        elif kind == "number" and column.dtype == pl.Boolean:
            columns.append(column.cast(pl.Int64))
        elif kind == "number" and (not column.dtype.is_numeric() or column.count() == 0):
            strays = reading.mended[name].strays if name in reading.mended else ()
            example = strays[0].value if strays else str(column.drop_nulls().first())
            raise ValueError(f"Column {name!r} holds no number, but cells such as {example!r}.")
        elif kind != "number" and not column.dtype.is_temporal():
            refuse_text(column, "date")
    return replace(reading, frame=reading.frame.with_columns(columns))


def _without_unnamed(reading: Reading) -> Reading:
    """Drop columns without a name that are empty or only count the rows, as other programs do."""
    notes, dropped = list(reading.notes), []
    for place, column in enumerate(reading.frame, 1):
        if not re.fullmatch(r"|Unnamed: \d+|column_\d+|__UNNAMED__\d+", column.name.strip()):
            continue
        if column.null_count() == len(column):
            notes.append(f"column {place} has neither a name nor a value: left out")
        elif _counts_rows(column):
            notes.append(f"column {place} has no name and only counts the rows: left out")
        else:
            continue
        dropped.append(column.name)
    return replace(reading, frame=reading.frame.drop(dropped), notes=tuple(notes))


def _counts_rows(column: pl.Series) -> bool:
    if not column.dtype.is_integer() or column.null_count():
        return False
    return column[0] in (0, 1) and bool((column.diff().drop_nulls() == 1).all())


def _text(column: pl.Series, known: Collection[str] = ()) -> pl.Series:
    """Return a column as a csv file writes it; a type that no cell can hold stays as it is."""
    import polars as pl

    simple = column.dtype.is_numeric() or column.dtype.is_temporal()
    if simple or column.dtype in (pl.String, pl.Boolean):
        return as_texts(column, known)
    return column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column


def _as_fitted(reading: Reading, fitted: Fitted, options: TextOptions) -> Reading:
    """Read columns in the kinds of a model, or raise an error that names a row and its value."""
    import polars as pl

    kinds = {name: kind for name, kind in fitted.kinds.items() if kind != "any"}
    reading = _understood(reading, kinds, options, fitted.known)
    reading = replace(reading, frame=in_kinds(reading.frame, fitted))
    for column in reading.frame:
        kind = kinds.get(column.name, "text")
        if column.dtype == pl.String and kind != "text" and column.count() > 0:
            refuse_text(column, kind)
        if column.name in kinds and column.name in reading.mended:
            _refuse_strays(column.name, kind, reading.mended[column.name].strays)
    return reading


def in_kinds(frame: pl.DataFrame, fitted: Fitted) -> pl.DataFrame:
    """Convert columns of other types that mean the same as those of a model.

    The number 3 may stand for the text "3", true for 1, the text "2026-01-31" for a date. What
    means something else stays as it is.
    """
    import polars as pl

    columns = []
    for column in frame:
        kind = fitted.kinds.get(column.name, "any")
        if kind == "text":
            known = fitted.texts.get(column.name, ())
            columns.append(_text(column, known))
            _warn_of_unknown_numbers(columns[-1], known)
        elif kind == "number" and column.dtype == pl.Boolean:
            columns.append(column.cast(pl.Int64))
        elif kind in ("date", "datetime", "time", "boolean") and column.dtype == pl.String:
            columns.append(_of_kind(column, kind, fitted.known))
    return frame.with_columns(columns)


def _warn_of_unknown_numbers(text: pl.Series, known: Collection[str]) -> None:
    """Warn of a column of numbers alone where the fit knew texts, none of which is among them."""
    import polars as pl

    values = text.drop_nulls().unique()
    if not known or values.is_empty() or values.dtype != pl.String:
        return
    are_numbers = not values.cast(pl.Float64, strict=False).has_nulls()
    if are_numbers and not values.is_in(list(known)).any():
        warn(
            f"Column {text.name!r} was text such as {min(known)!r} in fit, but now holds numbers, "
            "none of which the fit knew: each counts as never seen. If they mean the same, write "
            "them as in fit."
        )


def _of_kind(text: pl.Series, kind: str, known: Known) -> pl.Series:
    """Return text as dates, times or booleans if it holds nothing else."""
    name = text.name
    if kind == "boolean":
        values = as_truths(text)
    elif kind == "time":
        values = find_times(text)
    else:
        dates = find_dates({name: text}, known.orders).get(name)
        values = None if dates is None or dates.strays or dates.doubt else dates.column
    return text if values is None else values


def _refuse_strays(name: str, kind: str, strays: tuple[Stray, ...]) -> None:
    from clearbands.tables.kinds import KINDS

    odd = [stray for stray in strays if not stray.is_placeholder]
    if odd:
        more = f" ({len(odd) - 1:,} more such cells)" if len(odd) > 1 else ""
        raise ValueError(
            f"Column {name!r} must hold {KINDS[kind].in_words}, but {odd[0].row_name} holds "
            f"{odd[0].value!r}{more}; correct it or leave it empty."
        )


def refuse_text(column: pl.Series, kind: str) -> None:
    """Raise for text where another kind was wanted, and name a cell that is not of that kind."""
    from clearbands.tables.kinds import KINDS

    there = [(row, text) for row, text in enumerate(column, 1) if text is not None]
    if not there:
        raise ValueError(
            f"Column {column.name!r} must hold {KINDS[kind].in_words}, but all its cells are empty."
        )
    row, text = next(((row, t) for row, t in there if not _can_be(t, kind)), there[0])
    raise ValueError(
        f"Column {column.name!r} must hold {KINDS[kind].in_words}, but {row_of_file(row)} holds "
        f"{text!r}; write it as the others, or leave it empty."
    )


def _can_be(text: str, kind: str) -> bool:
    import polars as pl

    alone = pl.Series("x", [text])
    if kind == "boolean":
        return as_truths(alone) is not None
    if kind == "time":
        return find_times(alone) is not None
    if kind == "number":
        return as_numbers(alone).column.count() > 0
    return bool(find_dates({"x": alone}))
