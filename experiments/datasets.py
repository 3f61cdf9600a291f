"""The prepared tables of the benchmark: `<name>.parquet` in the folder named by CLEARBANDS_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER_VARIABLE = "CLEARBANDS_DATA"


class DatasetError(Exception):
    """A table is not where it should be, or not what it should be; the message says which."""


def folder() -> Path:
    """The folder of the prepared tables."""
    value = os.environ.get(FOLDER_VARIABLE)
    if not value:
        raise DatasetError(
            f"Set the environment variable {FOLDER_VARIABLE} to the folder of the prepared tables "
            "(<name>.parquet)."
        )
    path = Path(value)
    if not path.is_dir():
        raise DatasetError(f"{FOLDER_VARIABLE} names {value!r}, which is not a folder.")
    return path


def names() -> list[str]:
    """The data sets that are there."""
    return sorted(path.stem for path in folder().glob("*.parquet"))


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) and y (n,) as float64, rows in the order of the table."""
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
