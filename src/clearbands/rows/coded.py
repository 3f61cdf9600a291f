"""Encoded rows that remember which of their columns are codes of categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

NEVER_SEEN = -1  # the code of a category that no training row has


class CodedArray(np.ndarray):
    """Numbers (n, columns) whose columns `code_columns` hold codes of categories.

    Codes are whole numbers from 0, or `NEVER_SEEN`. Rows taken from such an array are such an
    array again. Columns that are added must stand behind the others.

    Examples
    --------
    >>> X = coded(np.array([[0.5, 0.0], [1.5, 1.0]]), [1])
    >>> X[1:].code_columns
    (1,)
    """

    code_columns: tuple[int, ...]

    def __array_finalize__(self, other: Any) -> None:
        self.code_columns = getattr(other, "code_columns", ())

    def __reduce__(self) -> Any:
        return coded, (np.asarray(self), self.code_columns)


def coded(X: np.ndarray, columns: Sequence[int]) -> np.ndarray:
    """Return X as an array that knows its columns of codes, or X itself if there are none."""
    if len(columns) == 0:
        return X
    array = np.asarray(X).view(CodedArray)
    array.code_columns = tuple(columns)
    return array


def code_columns(X: Any) -> tuple[int, ...]:
    """Return the positions of the columns of codes; a plain array has none."""
    return X.code_columns if isinstance(X, CodedArray) else ()


def plain_columns(X: np.ndarray) -> np.ndarray:
    """Return the columns that do not hold codes; an encoder puts its codes behind all others."""
    return np.asarray(X)[:, : X.shape[1] - len(code_columns(X))]
