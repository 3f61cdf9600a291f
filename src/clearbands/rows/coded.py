"""Encoded rows that say which of their columns are codes of categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

NEVER_SEEN = -1  # the code of a category that no row of the fit had


class CodedArray(np.ndarray):
    """Numbers (n, columns) of which the columns `code_columns` are no quantities but codes.

    Codes are whole numbers from 0, and `NEVER_SEEN`. What takes rows of such an array gives one;
    columns that are added stand behind the others.

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
    """X that says which of its columns are codes; X itself where there are none."""
    if len(columns) == 0:
        return X
    array = np.asarray(X).view(CodedArray)
    array.code_columns = tuple(columns)
    return array


def code_columns(X: Any) -> tuple[int, ...]:
    """The numbers of the columns that are codes; none of an array that does not say so."""
    return X.code_columns if isinstance(X, CodedArray) else ()


def plain_columns(X: np.ndarray) -> np.ndarray:
    """The columns that are no codes, of which those of an encoder stand behind all others."""
    return np.asarray(X)[:, : X.shape[1] - len(code_columns(X))]
