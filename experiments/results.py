"""The result rows of the benchmark and of the simulations, which are appended to files."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

FOLDER = Path(__file__).parent / "results"
BENCHMARK = FOLDER / "benchmark.csv"
SIMULATIONS = FOLDER / "simulations.csv"
SHIFT = FOLDER / "shift.csv"


class RowsError(ValueError):
    """A file does not hold the rows that it should; the message says what it holds."""


class Schema(NamedTuple):
    """The columns and the file of one kind of rows."""

    what: str
    path: Path  # the csv file to which a run appends by default
    key: list[str]
    columns: list[str]  # the columns of that file
    packed: list[str]  # the columns of the packed file; without `error`, rows with one are refused


def simulation_schema(what: str, path: Path, where: str) -> Schema:
    """Return the schema of simulated rows, scored at the places in the column `where`."""
    key = ["noise", "d", "seed", "method", where]
    columns = [*key, "coverage", "width"]
    return Schema(what, path, key, [*columns, "error"], columns)


KEY = ["dataset", "variant", "setting", "seed", "method"]
METRICS = ["picp", "niw", "nciw", "quantile_loss", "interval_score"]
COLUMNS = [*KEY, *METRICS, "lambda", "gamma1", "fit_seconds", "error"]
BENCHMARK_ROWS = Schema("benchmark", BENCHMARK, KEY, COLUMNS, COLUMNS)
SPHERE_ROWS = simulation_schema("simulation", SIMULATIONS, "radius")
SHIFT_ROWS = simulation_schema("shift", SHIFT, "scale")
SCHEMAS = (BENCHMARK_ROWS, SPHERE_ROWS, SHIFT_ROWS)


def append(path: Path, *rows: Mapping[str, Any], schema: Schema = BENCHMARK_ROWS) -> None:
    """Append rows in one write, so that another process sees all of them or nothing."""
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows(
        [row[column] for column in schema.columns] for row in rows
    )
    handle = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(handle, lines.getvalue().encode())
    finally:
        os.close(handle)


def prepare(path: Path, schema: Schema = BENCHMARK_ROWS) -> None:
    """Create the file, or cut off a last line that a killed run left unfinished."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = ",".join(schema.columns) + "\n"
    if not path.exists() or path.stat().st_size == 0:
        path.write_text(header)
        return
    text = path.read_bytes()
    if not text.startswith(header.encode()):
        raise RowsError(
            f"{path} is no csv file of {schema.what} rows; its first line must be {header!r}."
        )
    if not text.endswith(b"\n"):
        os.truncate(path, text.rfind(b"\n") + 1)


def read(path: Path = BENCHMARK, schema: Schema = BENCHMARK_ROWS) -> pd.DataFrame:
    """Read all rows of a csv or parquet file, sorted, with the last of rows that were run again."""
    return _sorted(_read(path), schema)


def read_any(path: Path) -> tuple[Schema, pd.DataFrame]:
    """Read all rows likewise, with the schema that fits the file."""
    rows = _read(path)
    schema = _schema_of([rows], [path])
    return schema, _sorted(rows, schema)


def _read(path: Path) -> pd.DataFrame:
    with path.open("rb") as file:
        is_parquet = file.read(4) == b"PAR1"
    if is_parquet:
        rows = pd.read_parquet(path)
    else:
        rows = pd.read_csv(path, dtype={"error": str, "seed": int})
    return rows.assign(error=rows["error"].fillna("") if "error" in rows else "")


def _sorted(rows: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    return rows.drop_duplicates(schema.key, keep="last").sort_values(schema.key, ignore_index=True)


def newest(path: Path = BENCHMARK) -> Path:
    """Return the newer file of rows: the one at `path`, or the packed one beside it."""
    there = [found for found in (path.with_suffix(".parquet"), path) if found.exists()]
    return max(there, key=lambda found: found.stat().st_mtime, default=path)


def pack(paths: Sequence[Path], out: Path | None = None) -> tuple[int, Path]:
    """Join files of rows into one csv or parquet file; return its number of rows and its path."""
    found = [_read(path) for path in paths]
    schema = _schema_of(found, paths)
    out = out or schema.path.with_suffix(".parquet")
    rows = _sorted(pd.concat(found), schema)
    if "error" not in schema.packed and (failed := rows["error"] != "").any():
        raise RowsError(
            f"{failed.sum()} rows have an error, the first {rows['error'][failed].iloc[0]!r}; "
            "`simulate --retry` runs them again."
        )
    unfinished = out.with_name(out.name + ".unfinished")
    if out.suffix == ".parquet":
        rows[schema.packed].to_parquet(unfinished, index=False)
    else:
        rows[schema.packed].to_csv(unfinished, index=False)
    unfinished.replace(out)
    return len(rows), out


def _schema_of(found: Sequence[pd.DataFrame], paths: Sequence[Path]) -> Schema:
    """Return the schema that all files fit; raise if there is none."""
    for schema in SCHEMAS:
        if all(set(rows.columns) == set(schema.columns) for rows in found):
            return schema
    names = ", ".join(map(str, paths))
    raise RowsError(
        f"{names}: not rows of one kind, be it {', '.join(schema.what for schema in SCHEMAS)}."
    )


def known(
    path: Path, *, with_errors: bool = True, schema: Schema = BENCHMARK_ROWS
) -> set[tuple[Any, ...]]:
    """Return the keys of existing rows; without errors, only of those that need no second try."""
    if not path.exists():
        return set()
    rows = read(path, schema)
    if not with_errors:
        rows = rows[rows["error"] == ""]
    return set(rows[schema.key].itertuples(index=False, name=None))
