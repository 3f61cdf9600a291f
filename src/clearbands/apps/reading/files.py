"""Files that the command line writes.

Output is checked before the work whose result it is to hold; a file that is written appears whole
or not at all.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from clearbands.apps.reading.formats import STREAM
from clearbands.apps.reading.formulas import warn_of_formulas, without_formulas
from clearbands.persistence.writing import _temporary_path, atomic_path

if TYPE_CHECKING:
    import polars as pl


def check_output(path: Path, *, inputs: Collection[Path] = (), table: bool = False) -> None:
    """Raise unless `path` can be written, as a table if `table`, without hitting an input."""
    if table and path == STREAM:
        return
    if table:
        _check_suffix(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give the name of a file in it.")
    if not path.parent.is_dir():
        raise ValueError(f"There is no folder {path.parent} for {path.name}; create it first.")
    for each in inputs:
        if path.exists() and each.exists() and path.samefile(each):
            raise ValueError(f"{path} is an input and would be overwritten; choose another --out.")
    if path.exists() and not os.access(path, os.W_OK):
        raise ValueError(f"{path} is there and write-protected; choose another name.")
    probe = _temporary_path(path)
    try:
        probe.touch()
    except OSError as error:
        raise ValueError(
            f"{path} cannot be written ({error.strerror}); choose another place."
        ) from error
    finally:
        probe.unlink(missing_ok=True)


def fingerprint(path: Path) -> str:
    """Return the name of a file and the first half of its SHA-256."""
    with path.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return f"{path.name}, SHA-256 {digest[:32]}"


def make_folder(path: Path) -> None:
    """Create the folder unless it exists."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"The folder {path} cannot be created ({error.strerror}); choose another place."
        ) from error


def write_table(frame: pl.DataFrame, path: Path, *, no_formulas: bool = False) -> None:
    """Write a csv, parquet or feather file, by suffix, whole or not at all; "-" prints csv.

    With `no_formulas`, text in csv that a spreadsheet would run is marked as text; without it, a
    warning names such text.
    """
    frame = for_spreadsheets(frame.lazy(), path, no_formulas=no_formulas).collect()
    if path == STREAM:
        sys.stdout.write(frame.write_csv())
        return
    with atomic_path(path) as unfinished:
        WRITERS[path.suffix.lower()](frame, unfinished)


def for_spreadsheets(table: pl.LazyFrame, path: Path, *, no_formulas: bool) -> pl.LazyFrame:
    """Return the table as it is to be written; spreadsheets open csv, so only csv is changed."""
    if path != STREAM and path.suffix.lower() != ".csv":
        return table
    if no_formulas:
        return without_formulas(table)
    warn_of_formulas(table)
    return table


WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".csv": lambda frame, path: frame.write_csv(path),
    ".parquet": lambda frame, path: frame.write_parquet(path),
    ".feather": lambda frame, path: frame.write_ipc(path),
}


def _check_suffix(path: Path) -> None:
    if path.suffix.lower() not in WRITERS:
        ending = f"ends in {path.suffix!r}" if path.suffix else "has no ending"
        raise ValueError(f"{path} {ending}; tables are written to {', '.join(WRITERS)} files.")
