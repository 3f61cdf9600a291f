"""The prepared tables of the benchmark: `<name>.parquet` in the folder that CLEARBANDS_DATA names.

Without that variable they are read from the cache that `python -m experiments download` fills.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.results import RowsError
from experiments.sources import PAPER_SETS, SOURCES, difference

FOLDER_VARIABLE = "CLEARBANDS_DATA"


class DatasetError(Exception):
    """A table is missing or is not the right one; the message says which."""


def run(main: Callable[[], None]) -> None:
    """Run a script that reads tables or rows; if these are wrong, exit with a sentence."""
    try:
        main()
    except (DatasetError, RowsError) as error:
        sys.exit(str(error))


def folder() -> Path:
    """Return the folder of the prepared tables."""
    value = os.environ.get(FOLDER_VARIABLE)
    if not value:
        if cache().is_dir():
            return cache()
        raise DatasetError(
            f"Set the environment variable {FOLDER_VARIABLE} to the folder of the prepared tables "
            "(<name>.parquet), or fetch them with `python -m experiments download`."
        )
    path = Path(value)
    if not path.is_dir():
        raise DatasetError(f"{FOLDER_VARIABLE} names {value!r}, which is not a folder.")
    return path


def cache() -> Path:
    """Return the folder in which downloaded tables are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "clearbands" / "datasets"


def names() -> list[str]:
    """Return the names of the data sets in the folder."""
    return sorted(path.stem for path in folder().glob("*.parquet"))


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return X (n, d) and y (n,) as float64, with rows in the order of the table."""
    path = folder() / f"{name}.parquet"
    if not path.is_file():
        there = ", ".join(names()) or "none"
        raise DatasetError(f"There is no data set {name!r} in {folder()}; there are: {there}.")
    table = pd.read_parquet(path)
    if table.shape[1] < 2 or table.columns[-1] != "target":
        raise DatasetError(
            f"{path.name} must have feature columns and then a last column 'target', "
            f"got {list(table.columns)}."
        )
    return table.iloc[:, :-1].to_numpy(float), table["target"].to_numpy(float)


def check(name: str, X: np.ndarray, y: np.ndarray) -> None:
    """Raise if this is a data set of the paper but not the paper's table."""
    differs = difference(SOURCES[name], X, y) if name in SOURCES else ""
    if differs:
        raise DatasetError(f"The table of {name!r} is not the paper's: {differs}.")


def status(name: str) -> str:
    """Return "there", or say what is wrong with a data set of the paper."""
    try:
        there = names()
    except DatasetError:  # there is no folder
        there = []
    if name not in there:
        return "missing"
    try:
        check(name, *load(name))
    except DatasetError as error:
        return str(error)
    return "there"


def available() -> tuple[list[str], list[str]]:
    """Return the data sets of the paper that are there, and those that are missing."""
    there = set(names())
    found = [name for name in PAPER_SETS if name in there]
    return found, [name for name in PAPER_SETS if name not in there]
