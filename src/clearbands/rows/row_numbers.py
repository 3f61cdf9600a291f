"""What rows are called in messages: from 0 as in Python, from 1 where they stand in a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

_in_file: ContextVar[bool] = ContextVar("in_file", default=False)
_order: ContextVar[np.ndarray | None] = ContextVar("order", default=None)


def row_name(index: int) -> str:
    """The name of a row in a message, which says how it was counted.

    >>> row_name(7)
    'row 7 (counted from 0)'
    >>> with rows_of_a_file():
    ...     row_name(7)
    'row 8 (counted from 1)'
    """
    if not _in_file.get():
        return f"row {index:,} (counted from 0)"
    order = _order.get()
    number = index if order is None or index >= len(order) else int(order[index])
    return f"row {number + 1:,} (counted from 1)"


@contextmanager
def rows_of_a_file() -> Iterator[None]:
    """Inside, rows are those of a file below its header, and are counted from 1."""
    in_file, order = _in_file.set(True), _order.set(None)
    try:
        yield
    finally:
        _in_file.reset(in_file)
        _order.reset(order)


def rows_stand_as(order: np.ndarray) -> None:
    """Tell which of the rows (n,) stand where from now on, so that messages name them as before."""
    before = _order.get()
    _order.set(order if before is None else before[order])
