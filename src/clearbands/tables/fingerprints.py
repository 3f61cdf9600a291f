"""Hashes by which rows are recognised, in any order and from any kind of file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from clearbands.rows.hashing import ODD, mix_bits
from clearbands.tables.columns import columns_of

if TYPE_CHECKING:
    import polars as pl


def hash_rows(X: pl.DataFrame, y: np.ndarray) -> np.ndarray:
    """Return unsigned 64-bit numbers (n,), equal for rows that are equal in every column and in y.

    1 and 1.0 are equal, and so are all ways to be missing.

    >>> import numpy as np, polars as pl
    >>> rows = hash_rows(pl.DataFrame({"a": [1, 2, 1], "b": ["x", None, "x"]}), np.array([3, 4, 3]))
    >>> rows[0] == rows[2], rows[0] == rows[1]
    (np.True_, np.False_)
    """
    is_text = np.asarray(y).dtype.kind in "OU"  # classes
    hashes = mix_bits(_hash_texts(y) if is_text else _hash_numbers(np.asarray(y, float)))
    for column in columns_of(X):
        own = _hash_texts(column.values) if column.is_text else _hash_numbers(column.values)
        hashes = mix_bits(hashes * ODD + own)
    return hashes


def hash_table(rows: np.ndarray) -> str:
    """Return a name for a set of rows, whatever their order."""
    return hashlib.sha256(np.sort(rows).tobytes()).hexdigest()[:32]


def _hash_numbers(values: np.ndarray) -> np.ndarray:
    plain = np.where(np.isnan(values), np.nan, values + 0.0)  # one kind of NaN, and no -0
    return plain.astype("<f8").view("<u8").astype(np.uint64)


def _hash_texts(values: Sequence[str | None] | np.ndarray) -> np.ndarray:
    known = {text: _hash_text(text) for text in set(values)}
    return np.array([known[text] for text in values], np.uint64)


def _hash_text(text: str | None) -> int:
    if text is None:
        return 0
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
