"""The table in a text file, without titles above its header and notes below its rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from clearbands.apps.reading.dialect import first_lines, records, usual_count

if TYPE_CHECKING:
    import polars as pl

# If one of these was meant as text, nothing is lost: a missing category is a category of its own.
MISSING = ["NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", "<NA>"]
FEWEST_COLUMNS = 3  # with as many columns a row with one value or none stands out
MOST_ABOVE = 30  # records that may stand above a header
NUMBER = re.compile(r"[+-]?\d+([.,]\d+)*([eE][+-]?\d+)?")
FRACTION = re.compile(r"[+-]?\d*[.,]\d+([eE][+-]?\d+)?")
SHOWN = 40  # characters of a title


@dataclass(frozen=True)
class TextTable:
    """All cells as text without blanks around them, and in words what was left out or renamed."""

    frame: pl.DataFrame
    notes: tuple[str, ...] = ()


def read_cells(text: str, separator: str) -> TextTable:
    """Return the cells below the header, under names that are all different."""
    import polars as pl

    sample = records(first_lines(text), separator)
    width = usual_count([len(record) for record in sample])
    n_above = _count_above(sample, width)
    header, body, above = _cut(text, separator, n_above)
    notes = []
    if n_above:
        lines = "1 line" if n_above == 1 else f"{n_above} lines"
        notes.append(f"{lines} above the header left out, such as {_short(above)!r}")
    if _is_data(header):
        notes.append(
            f"the first line holds numbers such as {_first_fraction(header)!r} and no names, so "
            "the columns are called column_1, column_2 and so on"
        )
        header, body = [""] * len(header), text
    completed = _with_missing_name(header, sample[n_above + 1 :])
    if completed[:1] == [""] and len(completed) > len(header):
        notes.append("rows have a field more than the header, which names all but the first")
    names, renamed = unique_names([name.strip() for name in completed])
    header_line = separator.join(f"c{place}" for place in range(len(names)))
    frame = pl.read_csv(f"{header_line}\n{body}".encode(), separator=separator, infer_schema=False)
    frame.columns = names
    frame = frame.with_columns(pl.all().str.strip_chars())
    repeats = _repeats(frame, [name.strip() for name in completed])
    if repeats.any():
        rows = "1 row repeats" if repeats.sum() == 1 else f"{repeats.sum():,} rows repeat"
        notes.append(f"{rows} the header: left out")
        frame = frame.filter(~repeats)
    table = _without_notes(TextTable(_blank_out(frame, [""]), (*notes, *renamed)))
    return replace(table, frame=_blank_out(table.frame, MISSING))


def _repeats(frame: pl.DataFrame, header: list[str]) -> pl.Series:
    """Return which rows are the header once more, as where files were joined."""
    import polars as pl

    if len(header) < 2:
        return pl.Series([False]).new_from_index(0, frame.height)
    same = (pl.nth(place).fill_null("") == name for place, name in enumerate(header))
    return frame.select(pl.all_horizontal(*same)).to_series()


def _blank_out(frame: pl.DataFrame, words: list[str]) -> pl.DataFrame:
    """Replace cells that hold one of the words by null."""
    import polars as pl

    return frame.with_columns(pl.when(~pl.all().is_in(words)).then(pl.all()))


def unique_names(header: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return every name once, with a number behind those that repeat, and the changes in words.

    >>> unique_names(["price", "size", "price", ""])[0]
    ['price', 'size', 'price_2', 'column_4']
    """
    taken, names, notes = set(header), [], []
    seen: set[str] = set()
    for place, name in enumerate(header, 1):
        unique = name or f"column_{place}"
        number = 2
        while unique in seen or (unique != name and unique in taken):
            unique = f"{name or f'column_{place}'}_{number}"
            number += 1
        if name and unique != name:
            notes.append(
                f"column {place} is named {name!r} like another, so it is called {unique!r}"
            )
        seen.add(unique)
        names.append(unique)
    return names, notes


def _count_above(sample: list[list[str]], width: int) -> int:
    """Return how many records stand above the header; only their first fields are filled."""
    for place, record in enumerate(sample[:MOST_ABOVE]):
        if not _is_title(record, width):
            n_numbers = sum(bool(NUMBER.fullmatch(cell.strip())) for cell in record)
            has_names = n_numbers == 0 or (width > 2 and n_numbers < len(record))
            return place if has_names and len(record) in (width, width - 1) else 0
    return 0


def _is_title(record: list[str], width: int) -> bool:
    n_filled = sum(bool(cell.strip()) for cell in record)
    in_front = all(cell.strip() for cell in record[:n_filled])
    return width > 1 and in_front and 2 * n_filled <= width and n_filled < max(width - 1, 2)


def _cut(text: str, separator: str, n_above: int) -> tuple[list[str], str, str]:
    """Return the names, the text that follows them, and the first text above them."""
    place = 0

    def lines() -> Iterator[str]:
        nonlocal place
        while place < len(text):
            end = text.find("\n", place) + 1 or len(text)
            line, place = text[place:end], end
            yield line

    reader = csv.reader(lines(), delimiter=separator)
    try:
        header_rows = list(islice(_filled(reader), n_above + 1))
    except csv.Error:
        return [], text, ""
    above = next((cell for cell in header_rows[0] if cell.strip()), "") if n_above else ""
    return (header_rows[-1] if header_rows else []), text[place:], above


def _filled(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    return (record for record in reader if record)


def _is_data(header: list[str]) -> bool:
    """Whether a first line has no names: more than half are numbers, and one has decimals."""
    numbers = [cell for cell in header if NUMBER.fullmatch(cell.strip())]
    return 2 * len(numbers) > len(header) and bool(_first_fraction(header))


def _first_fraction(header: list[str]) -> str:
    return next((cell for cell in header if FRACTION.fullmatch(cell.strip())), "")


def _with_missing_name(header: list[str], rows: list[list[str]]) -> list[str]:
    """Return the header with a name for a field that only rows have, as in files that R writes."""
    width = usual_count([len(row) for row in rows])
    if width != len(header) + 1 or len(rows) < 2:
        return header
    ends_empty = all(len(row) < width or not row[-1].strip() for row in rows)
    return [*header, ""] if ends_empty else ["", *header]


def _without_notes(table: TextTable) -> TextTable:
    """Return the table without empty rows and notes at its end."""
    frame = table.frame
    if frame.width < FEWEST_COLUMNS or frame.height == 0:
        return table
    filled = frame.select(n=_count_filled()).to_series()
    first, notes = frame.to_series(0), list(table.notes)
    rows = _end_of_last(filled > 0)
    n_blank = frame.height - rows
    is_row = (filled > 1) | first.is_null()
    end = _end_of_last(is_row[:rows])
    if 0 < end < rows and (is_row[:end] | (filled[:end] == 0)).all():  # rows of one value are notes
        lines = "1 line" if rows - end == 1 else f"{rows - end} lines"
        notes.append(f"{lines} below the rows left out, such as {_short(first[rows - 1])!r}")
        rows = _end_of_last(filled[:end] > 0)
        n_blank += end - rows
    if n_blank:
        rows_left = "1 empty row" if n_blank == 1 else f"{n_blank} empty rows"
        notes.append(f"{rows_left} at the end left out")
    return replace(table, frame=frame[:rows] if rows else frame, notes=tuple(notes))


def _end_of_last(wanted: pl.Series) -> int:
    """Return the place behind the last row that is wanted, 0 if none is."""
    places = wanted.arg_true()
    return int(places[-1]) + 1 if len(places) else 0


def _count_filled() -> pl.Expr:
    import polars as pl

    return pl.sum_horizontal(pl.all().is_not_null())


def _short(text: str) -> str:
    text = " ".join(str(text).split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
