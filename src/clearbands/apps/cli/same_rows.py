"""What the commands say of rows that stand in a table more than once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl

MOST_ROWS = 200_000  # that are compared before a fit; more of them would take seconds


def words_about_copies(X: pl.DataFrame, y: np.ndarray, *, told_by_fit: bool) -> str | None:
    """A sentence about copies; None where there are none, or where `fit` warns of them itself."""
    from clearbands.rows.copies import MANY_COPIES, count_copies
    from clearbands.tables.encoder import TableEncoder

    n = len(y)
    if n > MOST_ROWS:
        return None
    n_copies = count_copies(np.asarray(TableEncoder().fit_transform(X), float), y)
    if n_copies == 0 or (told_by_fit and n_copies > MANY_COPIES * n):
        return None
    return (
        f"{n_copies:,} of {n:,} rows have a copy among the others, with the same columns and the "
        "same target. If these are the same observations, drop the copies; if they belong "
        "together (visits of one patient, rooms of one house), name the column that says so with "
        "--groups COLUMN."
    )
