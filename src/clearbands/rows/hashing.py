"""Random numbers of rows: each is a function of a seed, a stream and the row's number.

The numbers do not depend on the order of the rows or on how many are asked for at once. So many
machines agree on which member sees which row without telling each other.
"""

from __future__ import annotations

import numpy as np

ODD = np.uint64(0x9E3779B97F4A7C15)
ROWS_AT_ONCE = 2**20


def mix_bits(values: np.ndarray) -> np.ndarray:
    """Mix the bits of values so that each bit of the result depends on every bit (splitmix64)."""
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def row_hashes(seed: int, stream: int, rows: np.ndarray) -> np.ndarray:
    """Return the hashes (n,), unsigned 64-bit numbers, of the rows with the numbers `rows`.

    >>> import numpy as np
    >>> some, all_ = row_hashes(7, 0, np.array([5, 3])), row_hashes(7, 0, np.arange(6))
    >>> bool((some == all_[[5, 3]]).all())
    True
    """
    with np.errstate(over="ignore"):
        start = mix_bits(mix_bits(np.array([seed], np.uint64) + ODD) + ODD * np.uint64(stream + 1))
        return mix_bits(start + ODD * (np.asarray(rows).astype(np.uint64) + np.uint64(1)))


def hashed_folds(seed: int, repeat: int, rows: np.ndarray, n_folds: int) -> np.ndarray:
    """Return the fold (n,) of each row, a number from 0 to n_folds - 1."""
    high = row_hashes(seed, repeat, rows) >> np.uint64(32)
    return ((high * np.uint64(n_folds)) >> np.uint64(32)).astype(np.int64)


def hashed_share(seed: int, stream: int, rows: np.ndarray, share: float) -> np.ndarray:
    """Return whether each row belongs to a random `share` of all rows: booleans (n,)."""
    if share >= 1:
        return np.ones(len(rows), bool)
    return row_hashes(seed, stream, rows) < np.uint64(int(share * 2.0**64))


def smallest_hashes(seed: int, stream: int, n_rows: int, size: int) -> np.ndarray:
    """Return the numbers of the `size` rows among 0 .. n_rows - 1 with the smallest hashes.

    They are ordered by rising hash, so that the first of them are a random sample, too.
    """
    rows, hashes = np.empty(0, np.int64), np.empty(0, np.uint64)
    for start in range(0, n_rows, ROWS_AT_ONCE):
        more = np.arange(start, min(start + ROWS_AT_ONCE, n_rows))
        rows = np.concatenate([rows, more])
        hashes = np.concatenate([hashes, row_hashes(seed, stream, more)])
        if len(rows) > size:
            smallest = np.argpartition(hashes, size)[:size]
            rows, hashes = rows[smallest], hashes[smallest]
    return rows[np.argsort(hashes)]  # no two rows of a stream have the same hash
