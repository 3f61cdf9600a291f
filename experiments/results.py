"""The result rows, appended as they exist: one per dataset, variant, setting, seed and method."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

FOLDER = Path(__file__).parent / "results"
BENCHMARK = FOLDER / "benchmark.csv"
KEY = ["dataset", "variant", "setting", "seed", "method"]
METRICS = ["picp", "niw", "nciw", "quantile_loss", "interval_score"]
COLUMNS = [*KEY, *METRICS, "lambda", "gamma1", "fit_seconds", "error"]


def append(path: Path, row: Mapping[str, Any]) -> None:
    """Add one row in one write: another process sees all of it or nothing."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([row[column] for column in COLUMNS])
    handle = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(handle, line.getvalue().encode())
    finally:
        os.close(handle)


def prepare(path: Path) -> None:
    """Make the file, or cut off a last line that a killed run left unfinished."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = ",".join(COLUMNS) + "\n"
    if not path.exists() or path.stat().st_size == 0:
        path.write_text(header)
        return
    text = path.read_bytes()
    if not text.startswith(header.encode()):
        raise ValueError(
            f"{path} is no csv file of benchmark rows; its first line must be {header!r}."
        )
    if not text.endswith(b"\n"):
        os.truncate(path, text.rfind(b"\n") + 1)


def read(path: Path = BENCHMARK) -> pd.DataFrame:
    """All rows, sorted; of rows that were run again, the last. The file is csv or parquet."""
    with path.open("rb") as file:
        is_parquet = file.read(4) == b"PAR1"
    if is_parquet:
        rows = pd.read_parquet(path)
    else:
        rows = pd.read_csv(path, dtype={"error": str, "seed": int})
    rows["error"] = rows["error"].fillna("")
    rows = rows.drop_duplicates(KEY, keep="last")
    return rows.sort_values(KEY, ignore_index=True)


def newest() -> Path:
    """The benchmark's rows: as packed, or as the last run left them."""
    packed = BENCHMARK.with_suffix(".parquet")
    there = [path for path in (packed, BENCHMARK) if path.exists()]
    return max(there, key=lambda path: path.stat().st_mtime, default=BENCHMARK)


def pack(paths: Sequence[Path], out: Path) -> int:
    """Join files of rows into one, csv or parquet by its name; how many rows it has."""
    rows = pd.concat([read(path) for path in paths]).drop_duplicates(KEY, keep="last")
    rows = rows.sort_values(KEY, ignore_index=True)[COLUMNS]
    unfinished = out.with_name(out.name + ".unfinished")
    if out.suffix == ".parquet":
        rows.to_parquet(unfinished, index=False)
    else:
        rows.to_csv(unfinished, index=False)
    unfinished.replace(out)
    return len(rows)


def known(path: Path, *, with_errors: bool = True) -> set[tuple[Any, ...]]:
    """The keys of the rows that are there; without errors, those that need no second try."""
    if not path.exists():
        return set()
    rows = read(path)
    if not with_errors:
        rows = rows[rows["error"] == ""]
    return set(rows[KEY].itertuples(index=False, name=None))
