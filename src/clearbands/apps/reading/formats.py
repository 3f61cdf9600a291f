"""The bytes behind a name: which format they are in, unpacked where they are compressed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from clearbands._compat import advice

if TYPE_CHECKING:
    import polars as pl

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
MAGIC = ((b"PAR1", "parquet"), (b"ARROW1", "feather"))


def read_content(path: Path) -> tuple[bytes, str]:
    """What is in a file or comes from standard input, unpacked, and its format."""
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


def unpacked(content: bytes, path: Path) -> tuple[bytes, str]:
    """The content of a file of this name, unpacked, and its format."""
    kind, unpack = _format_of(path)
    return (content if unpack is None else _unpacked(content, unpack, path)), kind


def read_excel(content: bytes) -> pl.DataFrame:
    """The first sheet."""
    import polars as pl

    if find_spec("fastexcel") is not None:
        return pl.read_excel(io.BytesIO(content), engine="calamine")
    if find_spec("openpyxl") is not None:
        return pl.read_excel(io.BytesIO(content), engine="openpyxl")
    raise ImportError(advice("Reading an Excel file", "excel"))


def name_of(path: Path) -> str:
    """As it stands in sentences."""
    return "Standard input" if path == STREAM else str(path)


def _format_of(path: Path) -> tuple[str, Callable[[bytes], bytes] | None]:
    """By the ending of the name, behind which another may say how it is compressed."""
    unpack = COMPRESSIONS.get(path.suffix.lower())
    ending = (path.with_suffix("") if unpack else path).suffix.lower()
    if unpack and ending not in FORMATS:
        ending = ".csv"  # data.zip, data.gz
    if ending not in FORMATS:
        has = f"ends in {path.suffix!r}" if path.suffix else "has no ending"
        raise ValueError(
            f"{path} {has}; tables are files that end in {', '.join(FORMATS)}, the text files "
            f"also with {', '.join(COMPRESSIONS)} behind it."
        )
    return FORMATS[ending], unpack


def _from_stream(content: bytes) -> tuple[bytes, str]:
    if not content:
        raise ValueError("Standard input is empty (0 bytes).")
    if content.startswith(b"\x1f\x8b"):
        content = _unpacked(content, gzip.decompress, STREAM)
    return content, next((kind for magic, kind in MAGIC if content.startswith(magic)), "csv")


def _unpacked(content: bytes, unpack: Callable[[bytes], bytes], path: Path) -> bytes:
    try:
        return unpack(content)
    except (*BROKEN, ValueError, OSError, EOFError, RuntimeError) as error:
        raise ValueError(f"{name_of(path)} cannot be unpacked: {error}.") from error


def _unzip(content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        if len(members) != 1:
            raise zipfile.BadZipFile(f"it holds {len(members)} files where one is needed")
        return archive.read(members[0])


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".zip": _unzip,
}
