"""Tables of the library that the user's table came from: polars for polars."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np

from clearbands.rows.frames import is_frame
from clearbands.rows.typed import TableLike

PREFERRED = ("pandas", "polars", "pyarrow")  # the libraries for rows that came as an array


class FrameKind(NamedTuple):
    """The library of a table, and the index of its rows where the library has one."""

    library: str | None = None  # None for an array
    index: Any = None


def kind_of(X: TableLike) -> FrameKind:
    """Return what `make_frame` needs to make a table like X."""
    if not is_frame(X):
        return FrameKind()
    frame = nw.from_native(X, eager_only=True)
    return FrameKind(frame.implementation.value, nw.maybe_get_index(frame))


def make_frame(columns: Mapping[str, Any], kind: FrameKind) -> Any:
    """Return a native frame with these columns; for arrays an installed library makes it.

    Examples
    --------
    >>> import polars as pl
    >>> make_frame({"a": [1.5]}, kind_of(pl.DataFrame({"x": [0]}))).columns
    ['a']
    """
    values = {
        name: column.tolist() if isinstance(column, np.ndarray) else list(column)
        for name, column in columns.items()
    }
    library: Any = kind.library if kind.library is not None else _installed()
    frame = nw.from_dict(values, backend=library).to_native()
    if kind.index is not None:
        frame.index = kind.index
    return frame


def _installed() -> str:
    for library in PREFERRED:
        if find_spec(library) is not None:
            return library
    raise ImportError("A table needs pandas, polars or pyarrow: pip install polars.")
