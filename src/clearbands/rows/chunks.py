"""Rows in pieces, so that the predictions of all members fit into bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from clearbands.rows.typed import TableLike

ROWS_TO_TRY = 1_000
PREDICTIONS_AT_ONCE = 2**22  # the most predictions of members that are held at once


def chunks(X: TableLike, members: int = 128) -> Iterator[Any]:
    """Yield X in pieces of so many rows that the predictions of `members` members can be held."""
    numbers = row_chunks(_num_samples(X), members)
    if len(numbers) == 1:
        yield X
        return
    for rows in numbers:
        yield _safe_indexing(X, rows)


def concatenate(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Join the predictions for pieces of rows."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def row_chunks(n: int, members: int = 128) -> list[np.ndarray]:
    """Return the row numbers 0 .. n - 1 in pieces for which all predictions can be held."""
    size = max(1, PREDICTIONS_AT_ONCE // members)
    return [np.arange(start, min(start + size, n)) for start in range(0, n, size)]


def spread_rows(X: TableLike) -> Any:
    """Return rows from all over X, enough to see whether a model can predict at all."""
    n = _num_samples(X)
    return X if n <= ROWS_TO_TRY else _safe_indexing(X, np.arange(0, n, n // ROWS_TO_TRY))
