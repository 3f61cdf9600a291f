"""Tables from and to csv and parquet files, for the command line.

Input is checked on reading, output before the work whose result it is to hold; a file that is
written appears whole or not at all.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

SUFFIXES = (".csv", ".parquet")
# Nothing is lost where one of these was meant as text: a missing category is a category of its own.
MISSING = ["NA", "N/A", "n/a", "NaN", "nan", "NULL", "null"]
MAX_NAMED = 8


def read_table(path: Path, *, text: Collection[str] = ()) -> pl.DataFrame:
    """The table in a csv or parquet file; columns named in `text` are not taken for numbers.

    A column without any value is read as numbers: what it is to be, the model knows.
    """
    _check_suffix(path)
    if not path.exists():
        raise ValueError(f"There is no file {path}.")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give a .csv or .parquet file.")
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty (0 bytes).")
    return _read(path, str(path), _kind(path), text)


def read_csv(content: bytes, name: str, *, text: Collection[str] = ()) -> pl.DataFrame:
    """What `read_table` reads from a csv file with this content; errors call it `name`."""
    if not content:
        raise ValueError(f"{name} is empty (0 bytes).")
    return _read(content, name, ".csv", text)


def take_column(frame: pl.DataFrame, name: str, path: Path) -> pl.Series:
    """The column of that name, or an error with the nearest ones."""
    if name not in frame.columns:
        raise ValueError(f"{path} has no column {name!r}; {_nearest(name, frame.columns)}")
    return frame[name]


def take_target(frame: pl.DataFrame, target: str, path: Path) -> np.ndarray:
    """The target as finite floats (n,), or an error that says what is wrong with it."""
    import polars as pl

    column = take_column(frame, target, path)
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        shown = next(iter(column.drop_nulls().to_list()), None)
        what = "text" if column.dtype == pl.String else f"values of type {column.dtype}"
        raise ValueError(
            f"The target {target!r} holds {what} such as {str(shown)!r}; it must be numbers only."
        )
    values = column.cast(pl.Float64)
    n_missing = int((values.is_null() | values.is_nan()).sum())
    if n_missing:
        raise ValueError(
            f"The target {target!r} is missing in {_rows(n_missing)} of {frame.height}; "
            "fill them in or remove those rows."
        )
    n_infinite = int(values.is_infinite().sum())
    if n_infinite:
        raise ValueError(
            f"The target {target!r} is infinite in {_rows(n_infinite)} of {frame.height}; "
            "correct or remove those rows."
        )
    return values.to_numpy()


def take_features(frame: pl.DataFrame, names: Sequence[str], path: Path | str) -> pl.DataFrame:
    """The columns a model needs, or an error that names those that are not there."""
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise ValueError(
            f"{path} lacks {_columns(len(missing))} the model was fitted on: {_some(missing)}; "
            "add what is missing, or fit a model without."
        )
    return frame.select(names)


def drop_target(frame: pl.DataFrame, target: str, path: Path) -> pl.DataFrame:
    """All columns but the target, of which there must be one."""
    features = frame.drop(target)
    if features.width == 0:
        raise ValueError(
            f"{path} has no column besides the target {target!r}; a model needs at least one "
            "feature column."
        )
    return features


def check_output(path: Path, *, inputs: Collection[Path] = (), table: bool = False) -> None:
    """Raise unless `path` can be written, as a table if `table`, without hitting an input."""
    if table:
        _check_suffix(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give the name of a file in it.")
    if not path.parent.is_dir():
        raise ValueError(f"There is no folder {path.parent} for {path.name}; create it first.")
    for given in inputs:
        if path.exists() and given.exists() and path.samefile(given):
            raise ValueError(f"{path} is an input and would be overwritten; choose another --out.")
    if path.exists() and not os.access(path, os.W_OK):
        raise ValueError(f"{path} is there and write-protected; choose another name.")
    probe = _unfinished(path)
    try:
        probe.touch()
    except OSError as error:
        raise ValueError(
            f"{path} cannot be written ({error.strerror}); choose another place."
        ) from error
    finally:
        probe.unlink(missing_ok=True)


def fingerprint(path: Path) -> str:
    """The name of a file and the first half of its SHA-256: the same file, the same words."""
    with path.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return f"{path.name}, SHA-256 {digest[:32]}"


def make_folder(path: Path) -> None:
    """Create the folder unless it is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"The folder {path} cannot be created ({error.strerror}); choose another place."
        ) from error


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A name to write under in the same folder; the file takes its place if the block succeeds."""
    path = Path(os.path.realpath(path))  # a link stays a link
    unfinished = _unfinished(path)
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write a csv or parquet file, by suffix, whole or not at all."""
    with written_whole(path) as unfinished:
        if _kind(path) == ".csv":
            frame.write_csv(unfinished)
        else:
            frame.write_parquet(unfinished)


def _read(source: Path | bytes, name: str, kind: str, text: Collection[str]) -> pl.DataFrame:
    import polars as pl

    try:
        is_csv = kind == ".csv"
        frame = _parse_csv(source, text) if is_csv else pl.read_parquet(source, glob=False)
    except (pl.exceptions.PolarsError, OSError, UnicodeError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise ValueError(f"{name} could not be read as a {kind[1:]} file: {reason}.") from error
    if frame.height == 0:
        raise ValueError(f"{name} has column names but no rows.")
    blank = [column.name for column in frame if column.null_count() == frame.height]
    return frame.with_columns(pl.col(blank).cast(pl.Float64, strict=False)) if blank else frame


def _parse_csv(source: Path | bytes, text: Collection[str]) -> pl.DataFrame:
    import polars as pl

    options: dict[str, Any] = {"null_values": MISSING, "glob": False}
    header = pl.read_csv(source, n_rows=0, infer_schema=False, **options).columns
    return pl.read_csv(
        source,
        schema_overrides={name: pl.String for name in header if name in text},
        infer_schema_length=None,  # a column may turn out to be text in its last row
        try_parse_dates=True,
        **options,
    )


def _check_suffix(path: Path) -> None:
    if _kind(path) not in SUFFIXES:
        ending = f"ends in {path.suffix!r}" if path.suffix else "has no ending"
        raise ValueError(f"{path} {ending}; tables are files that end in .csv or .parquet.")


def _kind(path: Path) -> str:
    return path.suffix.lower()


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.stem}-{secrets.token_hex(4)}{path.suffix}")


def _nearest(name: str, names: Sequence[str]) -> str:
    """What to try instead: similar names, or else the first there are."""
    lowered = {other.lower(): other for other in names}
    close = difflib.get_close_matches(name.lower(), lowered, n=3)
    if close:
        return f"did you mean {' or '.join(repr(lowered[other]) for other in close)}?"
    return f"its columns are {_some(names)}."


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:MAX_NAMED])
    left = len(names) - MAX_NAMED
    return f"{shown} and {left} more" if left > 0 else shown


def _rows(count: int) -> str:
    return f"{count} row" if count == 1 else f"{count} rows"


def _columns(count: int) -> str:
    return "the column" if count == 1 else f"{count} columns"
