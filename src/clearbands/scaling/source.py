"""A table in one or many parquet files, which are read piece by piece, never all at once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands._compat import require
from clearbands.rows.frames import is_dask

if TYPE_CHECKING:
    import polars as pl

ENDINGS = (".parquet", ".pq")


@dataclass(frozen=True)
class Piece:
    """Neighbouring rows of one file."""

    file: str
    offset: int  # the place of the first row in the file
    start: int  # the place of the first row in the table
    size: int

    @property
    def rows(self) -> np.ndarray:
        """The numbers of the rows in the table."""
        return np.arange(self.start, self.start + self.size)


@dataclass(frozen=True)
class ParquetTable:
    """Parquet files with the same columns, one below the other."""

    files: tuple[str, ...]
    sizes: tuple[int, ...]  # rows of each file
    columns: tuple[str, ...]
    fingerprint: str  # SHA-256 of the contents

    @property
    def n_rows(self) -> int:
        return sum(self.sizes)

    def pieces(self, rows_at_once: int) -> tuple[Piece, ...]:
        """Cut the table into pieces of at most so many rows, each from one file."""
        pieces, start = [], 0
        for file, size in zip(self.files, self.sizes, strict=True):
            for offset in range(0, size, rows_at_once):
                rows = min(rows_at_once, size - offset)
                pieces.append(Piece(file, offset, start + offset, rows))
            start += size
        return tuple(pieces)


def read_piece(piece: Piece, columns: Sequence[str]) -> pl.DataFrame:
    """Return the rows of the piece; raise if the file has become shorter."""
    scan = _polars().scan_parquet(piece.file).select(columns)
    frame = scan.slice(piece.offset, piece.size).collect()
    if frame.height != piece.size:
        raise ValueError(f"{piece.file} has changed while it was read: it lost rows.")
    return frame


def is_table_on_disk(X: object) -> bool:
    """Whether the rows of X are not in memory: X names files, or is a Dask DataFrame."""
    if isinstance(X, str | os.PathLike) or is_dask(X):
        return True
    return isinstance(X, list | tuple) and bool(X) and all(isinstance(x, str | Path) for x in X)


def check_nothing_for_files(features: Any, work: Any, engine: Any) -> None:
    """Raise if an argument was given that only a table in files can use."""
    if not (features is work is engine is None):
        raise ValueError(
            "features, work and engine are for a table in parquet files or of Dask: X is in "
            "memory already."
        )


def open_table(table: str | os.PathLike[str] | Sequence[str | Path]) -> ParquetTable:
    """Open the table in a parquet file, in several, or in a folder and its subfolders.

    The files of a folder are read in the order of their names.
    """
    paths = [table] if isinstance(table, str | os.PathLike) else list(table)
    files = [file for path in paths for file in _files(Path(path))]
    sizes: list[int] = []
    first = shape_of(files[0])[1]
    for file in files:
        size, schema = shape_of(file)
        if schema != first:
            raise ValueError(
                f"{file} has other columns than {files[0]}, {_difference(schema, first)}: all "
                "files of a table need the same, in the same order and of the same types."
            )
        sizes.append(size)
    if not sum(sizes):
        raise ValueError(f"{files[0]} has column names but no rows.")
    names = tuple(name for name, _ in first)
    return ParquetTable(tuple(map(str, files)), tuple(sizes), names, _fingerprint(files))


def check_holds_numbers(table: ParquetTable, what: str, name: str) -> None:
    """Raise unless a column holds numbers or booleans."""
    pl = _polars()
    dtype = pl.scan_parquet(table.files[0]).collect_schema()[name]
    if not (dtype.is_numeric() or dtype == pl.Boolean):
        raise ValueError(
            f"The {what} {name!r} holds values of type {dtype}; it must be numbers only."
        )


def from_dask(frame: Any, folder: Path) -> ParquetTable:
    """Have Dask write the rows of its DataFrame to parquet files, and open these."""
    require("pyarrow", what="Writing a Dask DataFrame", extra="dask")
    parts = folder / f"dask-{frame._name}"
    complete = parts.with_suffix(".complete")
    if not complete.exists():
        frame.to_parquet(str(parts), write_index=False, overwrite=parts.exists())
        complete.touch()
    return open_table(parts)


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise ValueError(f"There is no file {path}.")
    if not path.is_dir():
        if path.suffix.lower() not in ENDINGS:
            raise ValueError(
                f"{path} does not end in {' or '.join(ENDINGS)}: a table that is not read into "
                "memory must be in parquet files."
            )
        return [path.resolve()]
    files = sorted(file for file in path.resolve().rglob("*") if file.suffix.lower() in ENDINGS)
    files = [file for file in files if not file.name.startswith((".", "_"))]
    if not files:
        raise ValueError(f"The folder {path} holds no parquet file.")
    return files


def shape_of(file: Path) -> tuple[int, list[tuple[str, Any]]]:
    """Return the number of rows of a parquet file, and the names and types of its columns."""
    pl = _polars()
    try:
        scan = pl.scan_parquet(file)
        schema = list(scan.collect_schema().items())
        return int(scan.select(pl.len()).collect().item()), schema
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise ValueError(f"{file} could not be read as a parquet file: {reason}.") from error


def _difference(own: list[tuple[str, Any]], first: list[tuple[str, Any]]) -> str:
    """Say in words the first difference between the columns of two files."""
    mine, theirs = dict(own), dict(first)
    for name in theirs:
        if name not in mine:
            return f"without {name!r}"
        if mine[name] != theirs[name]:
            return f"{name!r} of type {mine[name]} instead of {theirs[name]}"
    new = next((name for name in mine if name not in theirs), None)
    return "in another order" if new is None else f"with {new!r}"


def _fingerprint(files: Sequence[Path]) -> str:
    whole = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            whole.update(hashlib.file_digest(opened, "sha256").digest())
    return whole.hexdigest()[:32]


def _polars() -> Any:
    return require("polars", what="Reading parquet files", extra="dask")
