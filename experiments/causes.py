"""The causes why cells of our tables differ from the paper's, which are kept in a file.

`results/causes.toml` has for every cause the cells, the reason in one sentence, and the command
that shows it. `python -m experiments compare` prints them beside the differences.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from experiments import results

FILE = results.FOLDER / "causes.toml"
CELL = ("variant", "setting", "dataset", "method", "metric")


class Cause(NamedTuple):
    name: str
    why: str
    command: str
    cells: dict[str, list[str]]  # by column, the values that it explains; a missing column is all

    def explains(self, cell: Any) -> bool:
        return all(getattr(cell, column) in values for column, values in self.cells.items())


def load(path: Path = FILE) -> list[Cause]:
    """Read the causes in the order of the file; the first that explains a cell counts."""
    with path.open("rb") as file:
        entries = tomllib.load(file)
    return [
        Cause(
            name,
            entry["why"],
            entry["command"],
            {_column(key): entry[key] for key in entry if key not in ("why", "command")},
        )
        for name, entry in entries.items()
    ]


def _column(key: str) -> str:
    if not key.endswith("s") or key[:-1] not in CELL:
        plural = ", ".join(f"{column}s" for column in CELL)
        raise results.RowsError(f"causes.toml: {key!r} is none of {plural}, why, command.")
    return key[:-1]


def find(causes: list[Cause], cell: Any) -> Cause | None:
    return next((cause for cause in causes if cause.explains(cell)), None)
