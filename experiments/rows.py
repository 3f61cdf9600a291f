"""Rows of small experiments, which are appended as they are computed and not computed twice."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd


def known(path: Path, key: Sequence[str]) -> set[tuple[Any, ...]]:
    """Return the keys of the rows in the file."""
    if not path.exists():
        return set()
    return set(pd.read_csv(path)[list(key)].itertuples(index=False, name=None))


def append(path: Path, fields: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Append rows in one write, so that a killed run leaves no row half done."""
    path.parent.mkdir(exist_ok=True)
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows(
            {k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in row.items()}
            for row in rows
        )
