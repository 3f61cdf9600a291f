"""The dialect of a text file, found from its content: encoding, separator, decimal sign."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}  # the likeliest first
NUMBER_LIKE = re.compile(r"[+-]?\d[\d.,]*([eE][+-]?\d+)?")
BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SAMPLE = 200_000  # characters that decide
SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)


@dataclass(frozen=True)
class Dialect:
    """The separator of columns, the sign before decimals, and the encoding of characters."""

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"

    @property
    def in_words(self) -> str:
        """The words for all that differs from the usual dialect."""
        words = []
        if self.separator != ",":
            names = {**SEPARATORS, " ": "blank"}
            words.append(f"separator {names.get(self.separator, repr(self.separator))}")
        if self.decimal == ",":
            words.append("decimal comma")
        if self.encoding not in ("utf-8", "utf-8-sig"):
            words.append(f"encoding {self.encoding}")
        return ", ".join(words)


@dataclass(frozen=True)
class TextOptions:
    """The options that a user sets for a text file; None means that the content decides."""

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None and len(self.delimiter.encode()) != 1:
            raise ValueError(f"The separator must be one character, got {self.separator!r}.")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f'The decimal sign must be "." or ",", got {self.decimal!r}.')

    @property
    def delimiter(self) -> str | None:
        """The separator as a character; people type a tab as "tab"."""
        return {"": None, "tab": "\t", "\\t": "\t"}.get(self.separator or "", self.separator)


TO_BE_FOUND = TextOptions()


def read_text(content: bytes, options: TextOptions, name: str) -> tuple[str, Dialect]:
    """Return the text of a file and its dialect, whose decimal sign is a point by default."""
    encoding = options.encoding or find_encoding(content)
    text = decode(content, encoding, name)
    if "\0" in text[:SAMPLE]:
        raise ValueError(f"{name} is no text file: it holds bytes that are no characters.")
    if "\n" not in text:
        text = text.replace("\r", "\n")  # as old Macs wrote them
    first_line = SEPARATOR_LINE.match(text)  # this line tells Excel the separator
    if first_line:
        text = text[first_line.end() :]
    separator = options.delimiter or (
        first_line[1] if first_line else find_separator(first_lines(text))
    )
    return text, Dialect(separator, options.decimal or ".", encoding)


def decode(content: bytes, encoding: str, name: str) -> str:
    """Return the characters, or raise an error that names a byte that is no character."""
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except LookupError as error:
        raise ValueError(f"There is no encoding {encoding!r}.") from error
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name} is not written in {encoding}: byte 0x{content[error.start]:02x} at place "
            f"{error.start}; give another --encoding."
        ) from error


def find_encoding(content: bytes) -> str:
    """Find the encoding by the first bytes; else it is UTF-8, or what Windows wrote in the West.

    >>> find_encoding("Zürich".encode()), find_encoding("Zürich".encode("latin-1"))
    ('utf-8', 'windows-1252')
    """
    for bom, encoding in BOMS:
        if content.startswith(bom):
            return encoding
    even, odd = content[:2000:2].count(0), content[1:2000:2].count(0)
    if max(even, odd) > len(content[:2000]) / 4:
        return "utf-16-le" if odd > even else "utf-16-be"
    for encoding in ("utf-8", "windows-1252"):
        try:
            content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return "latin-1"  # in which every byte is a character


def find_separator(lines: list[str]) -> str:
    """The one that cuts the most lines into the same number of fields.

    If several cut as many, it is the one with the larger share of numbers, or else of more fields.
    Blanks separate columns where nothing else does and most of what they part are numbers.

    >>> find_separator(["size;price", "1,5;2", "2,5;3"])
    ';'
    """
    regularity = {separator: _regularity(lines, separator) for separator in SEPARATORS}
    most, _ = max(regularity.values())
    alike = [separator for separator, (share, _) in regularity.items() if share == most]
    likeliest = max(
        alike, key=lambda separator: (_share_of_numbers(lines, separator), regularity[separator])
    )
    if most == 0 and _are_numbers_between_blanks(lines):
        return " "
    return likeliest


def _are_numbers_between_blanks(lines: list[str]) -> bool:
    counts = [len(row) for row in records(lines[1:], " ")]
    width = usual_count(counts)
    are_regular = counts.count(width) > 0.9 * len(counts)
    return width > 2 and are_regular and _share_of_numbers(lines, " ") > 0.5


def _share_of_numbers(lines: list[str], separator: str) -> float:
    """Return the share of numbers in the cells below the first line, in lines of usual length."""
    rows = records(lines[1:], separator)
    width = usual_count([len(row) for row in rows])
    cells = [cell for row in rows if len(row) == width for cell in row]
    return sum(bool(NUMBER_LIKE.fullmatch(cell.strip())) for cell in cells) / max(len(cells), 1)


def _regularity(lines: list[str], separator: str) -> tuple[float, int]:
    counts = [len(record) for record in records(lines, separator)]
    fields = usual_count(counts)
    return (counts.count(fields) / len(counts), fields) if fields > 1 else (0.0, 0)


def usual_count(counts: list[int]) -> int:
    """Return the number of fields that most lines have, 0 without lines.

    >>> usual_count([1, 3, 3, 3, 2])
    3
    """
    return max(Counter(counts).items(), key=lambda pair: (pair[1], pair[0]), default=(0, 0))[0]


def records(lines: Iterable[str], separator: str) -> list[list[str]]:
    """Return the fields of every line that is not empty."""
    try:
        return [record for record in csv.reader(lines, delimiter=separator) if record]
    except csv.Error:  # a field of megabytes: not the separator, or no table
        return []


def first_lines(text: str) -> list[str]:
    """Return the whole lines at the start of a text, without the characters that end them."""
    sample = text[:SAMPLE]
    lines = sample.split("\n")
    whole = lines if len(text) <= SAMPLE else lines[:-1]
    return list(islice((line.rstrip("\r") for line in whole), 1000))
