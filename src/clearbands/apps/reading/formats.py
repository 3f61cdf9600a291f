"""The bytes of a file: their format, and their content where they are compressed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from clearbands._compat import advice

if TYPE_CHECKING:
    import polars as pl

Opening = Callable[[io.BytesIO], AbstractContextManager[Any]]
"""A function that takes a compressed file and returns a file of its content."""

STREAM = Path("-")  # standard input or output
FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".xlsx": "Excel",
    ".xls": "Excel",
    ".ods": "Excel",
}
BROKEN = (zlib.error, lzma.LZMAError, zipfile.BadZipFile)
READ_AT_ONCE = 2**20
MOST_ABOVE = 30  # rows of a sheet among which its header is looked for
BYTES_PER_CELL = 8
MAGIC = ((b"PAR1", "parquet"), (b"ARROW1", "feather"))


class TooLargeError(ValueError):
    """A table that holds more than is allowed, however small its file."""


def read_content(path: Path) -> tuple[bytes, str]:
    """Return the content of a file or of standard input, unpacked, and its format."""
    if path == STREAM:
        return _from_stream(sys.stdin.buffer.read())
    _format_of(path)  # a name that says nothing is refused before anything else
    if not path.exists():
        raise ValueError(f"There is no file {path}.")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give a file such as a .csv or .parquet file.")
    content = path.read_bytes()
    if not content:
        raise ValueError(f"{path} is empty (0 bytes).")
    return unpacked(content, path)


def unpacked(content: bytes, path: Path, most: int | None = None) -> tuple[bytes, str]:
    """Return the content of a file of this name, unpacked, and its format.

    A table that holds more than `most` bytes is refused before they are all in memory.
    """
    kind, opened = _format_of(path)
    if opened is not None:
        content = _unpacked(content, opened, path, most)
    if most is not None and _size_of(content, kind, most) > most:
        raise _too_large(path, most)
    return content, kind


def read_excel(content: bytes) -> tuple[pl.DataFrame, int]:
    """Return the first sheet below its header, and how many rows stand above the header."""
    import polars as pl

    if find_spec("fastexcel") is not None:
        above = _rows_above(content)
        options = {"header_row": above} if above else {}
        frame = pl.read_excel(io.BytesIO(content), engine="calamine", read_options=options)
        return frame, above
    if find_spec("openpyxl") is not None:
        return pl.read_excel(io.BytesIO(content), engine="openpyxl"), 0
    raise ImportError(advice("Reading an Excel file", "excel"))


def _rows_above(content: bytes) -> int:
    """Count the rows above the header: titles, which fill one cell alone, and empty rows."""
    import fastexcel

    sheet = fastexcel.read_excel(content).load_sheet(0, header_row=None, n_rows=MOST_ABOVE)
    filled = [sum(cell not in (None, "") for cell in row) for row in sheet.to_polars().rows()]
    return next((place for place, count in enumerate(filled) if count > 1), 0)


def name_of(path: Path) -> str:
    """Return the name of a file as messages call it."""
    return "Standard input" if path == STREAM else str(path)


def _format_of(path: Path) -> tuple[str, Opening | None]:
    """Return the format by the ending of the name, and what opens it if a second ending says so."""
    opened = COMPRESSIONS.get(path.suffix.lower())
    ending = (path.with_suffix("") if opened else path).suffix.lower()
    if opened and ending not in FORMATS:
        ending = ".csv"  # data.zip, data.gz
    if ending not in FORMATS:
        has = f"ends in {path.suffix!r}" if path.suffix else "has no ending"
        raise ValueError(
            f"{path} {has}; tables are files that end in {', '.join(FORMATS)}, the text files "
            f"also with {', '.join(COMPRESSIONS)} behind it."
        )
    return FORMATS[ending], opened


def _from_stream(content: bytes) -> tuple[bytes, str]:
    if not content:
        raise ValueError("Standard input is empty (0 bytes).")
    if content.startswith(b"\x1f\x8b"):
        content = _unpacked(content, gzip.open, STREAM)
    return content, next((kind for magic, kind in MAGIC if content.startswith(magic)), "csv")


def _unpacked(content: bytes, opened: Opening, path: Path, most: int | None = None) -> bytes:
    whole = bytearray()
    try:
        with opened(io.BytesIO(content)) as packed:
            # Reading a part at a time unpacks no more than that part.
            while part := packed.read(READ_AT_ONCE):
                whole += part
                if most is not None and len(whole) > most:
                    raise _too_large(path, most)
    except TooLargeError:
        raise
    except (*BROKEN, ValueError, OSError, EOFError, RuntimeError) as error:
        raise ValueError(f"{name_of(path)} cannot be unpacked: {error}.") from error
    return bytes(whole)


def _too_large(path: Path, most: int) -> TooLargeError:
    return TooLargeError(
        f"{name_of(path)} unpacks to more than the {most:,} bytes allowed here: give fewer rows, "
        "or use the command `clearbands predict`, which has no such limit."
    )


def _size_of(content: bytes, kind: str, most: int) -> int:
    """Return about how many bytes a table takes in memory, or any number above `most`."""
    import polars as pl

    if kind == "Excel" and zipfile.is_zipfile(io.BytesIO(content)):
        return _size_of_zip(content, most)
    if kind not in ("parquet", "feather"):
        return len(content)
    scan = pl.scan_parquet if kind == "parquet" else pl.scan_ipc
    try:
        table = scan(io.BytesIO(content))
        cells = table.select(pl.len()).collect().item() * len(table.collect_schema())
    except (pl.exceptions.PolarsError, OSError):
        return len(content)  # whoever reads it says what is wrong
    return max(len(content), BYTES_PER_CELL * cells)


def _size_of_zip(content: bytes, most: int) -> int:
    """Measure the content by unpacking it in parts, as what a file says of itself may be wrong."""
    size = 0
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for info in archive.infolist():
                with archive.open(info) as packed:
                    while size <= most and (part := packed.read(READ_AT_ONCE)):
                        size += len(part)
    except (*BROKEN, ValueError, OSError, EOFError, RuntimeError):
        return len(content)  # whoever reads it says what is wrong
    return size


@contextmanager
def _only_file(content: io.BytesIO) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(content) as archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        if len(members) != 1:
            raise zipfile.BadZipFile(f"it holds {len(members)} files where one is needed")
        with archive.open(members[0]) as packed:
            yield packed


COMPRESSIONS: dict[str, Opening] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zip": _only_file,
}
