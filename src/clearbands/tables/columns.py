"""The columns of any table as plain values: floats, or text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from clearbands.rows.frames import is_frame
from clearbands.rows.typed import TableLike
from clearbands.tables.kinds import kind_of, numbers_of, texts_of, value_of


@dataclass(frozen=True)
class Column:
    """One column of a table, with a value for every row."""

    name: str
    kind: str  # see `clearbands.tables.kinds`
    values: np.ndarray  # (n,) floats where NaN is missing, or text where None is missing

    @property
    def is_text(self) -> bool:
        return self.kind == "text"

    @property
    def is_missing(self) -> np.ndarray:
        """Whether each row has no value, booleans (n,)."""
        if self.is_text:
            return np.array([value is None for value in self.values], bool)
        return np.isnan(self.values)

    def in_words(self, value: Any) -> str:
        """Return a value of the column as its owner would write it."""
        if self.is_text or value is None:
            return "missing" if value is None else str(value)
        if np.isnan(value):
            return "missing"
        if self.kind == "boolean":
            return "yes" if value else "no"
        if self.kind in ("date", "datetime", "time"):
            return value_of(self.kind, value).replace("T", " ")
        is_whole = value == round(value) and abs(value) < 1e15
        return f"{value:.0f}" if is_whole else f"{value:.5g}"  # years and ids stay what they are


def columns_of(X: TableLike) -> Iterator[Column]:
    """Yield every column of a table; those of an array are called x0, x1, ..."""
    if not is_frame(X):
        for j, values in enumerate(np.asarray(X, float).T):
            yield Column(f"x{j}", "number", values)
        return
    frame = nw.from_native(X, eager_only=True)
    for name in frame.columns:
        column = frame.get_column(name)
        kind = kind_of(column, name)
        if kind == "text":
            yield Column(str(name), kind, np.array(texts_of(column), dtype=object))
        else:
            yield Column(str(name), kind, numbers_of(column, name))
