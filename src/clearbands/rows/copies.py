"""Rows that stand in a table more than once: one that trains tells the target of its twin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from clearbands.rows.hashing import ODD, mixed
from clearbands.rows.split import Rows
from clearbands.rows.telling import warn

Arrays: TypeAlias = "tuple[np.ndarray, np.ndarray]"  # X and y

MANY_COPIES = 0.1  # of the rows: intervals at 90 % then cover about 1 % too little
FEW_DIFFERENT = 20  # rows: where there are fewer, they say too little to tell copies
MOST_OF_ONE = 20  # copies of one row, on average
RARELY_OTHERWISE = 0.1  # of the rows with the same X as others: such a share may have another y
BY_CHANCE = 10  # times as many rows are alike as if columns were drawn apart: still by chance
GRAINS_APART = 10  # between neighbouring y of the same X, where the same y is no chance


def check_copies(train: Rows, held_out: Sequence[Rows] = (), *, given: bool = False) -> bool:
    """Whether many rows calibrate what seems to have seen them; a warning says so.

    Of rows that the user gave for calibration, it is an error if all of them train too. Rows that
    are kept together by their labels are the user's own affair.
    """
    parts = [train, *held_out]
    if train.together is not None or not all(isinstance(part.X, np.ndarray) for part in parts):
        return False
    if given:
        return _are_shared(_joined([train]), _joined(held_out))
    return _have_copies(*_joined(parts))


def _joined(parts: Sequence[Rows]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([part.X for part in parts]), np.concatenate([part.y for part in parts])


def _have_copies(X: np.ndarray, y: np.ndarray) -> bool:
    n_copies = _count_copies((X, y))
    if n_copies <= MANY_COPIES * len(y):
        return False
    warn(
        f"{n_copies:,} of {len(y):,} rows have a copy among the others, with the same X and y. If "
        "these are the same observations, rows are judged by what has seen them, and the intervals "
        "are too short: drop the copies, or let sample_weight say how many rows each one counts "
        "as.",
        UserWarning,
    )
    return True


def _are_shared(train: Arrays, held_out: Arrays) -> bool:
    n, n_copies = len(held_out[1]), _count_copies(train, held_out)
    if n_copies == n or all(map(np.array_equal, train, held_out)):
        raise ValueError(
            f"All {n} calibration rows are among the training rows, so the intervals would "
            "be too short: give X_cal and y_cal that are not in X and y, or leave them out."
        )
    if n_copies <= MANY_COPIES * n:
        return False
    warn(
        f"{n_copies:,} of {n:,} calibration rows are among the training rows; if these are the "
        "same observations, the intervals are too short.",
        UserWarning,
    )
    return True


def _count_copies(rows: Arrays, others: Arrays | None = None) -> int:
    """How many rows, of others or of these themselves, are copies of these.

    Rows with the same X and y are no copies where that is to be expected: if there is one y only,
    which all intervals know; if X has few values and y follows from it; and if rows of the same X
    differ in y, but y too has few values.
    """
    X, y = rows
    n_different = len(np.unique(_hashes(X, y)))
    is_few = n_different < FEW_DIFFERENT and (others is None or n_different < len(y))
    if is_few or np.all(y == y[0]):
        return 0
    looked_for, own = (rows, 1) if others is None else (others, 0)  # a row is no copy of itself
    of_X = _hashes(X)
    alike = _count_in(of_X, _hashes(looked_for[0])) - own
    equal = _count_in(_hashes(X, y), _hashes(*looked_for)) - own
    if _is_told_by(y, of_X):
        only_here = equal == _count_in(y, looked_for[1]) - own  # zeros, say, are all over the table
        return int(((equal > 0) & only_here).sum())
    n_alike, n_copies = int((alike > 0).sum()), int(((alike > 0) & (equal == alike)).sum())
    if n_copies == 0 or n_copies < (1 - RARELY_OTHERWISE) * n_alike:
        return 0
    different = np.unique(of_X, return_index=True)[1]
    expected = BY_CHANCE * len(y) * _chance_to_be_alike(X[different])
    return 0 if len(different) * MOST_OF_ONE < len(y) or alike.mean() < expected else n_copies


def _is_told_by(y: np.ndarray, of_X: np.ndarray) -> bool:
    """Whether rows of the same X differ in y, and so finely that two of the same y are one."""
    order = np.lexsort((y, of_X))
    steps, same_X = np.diff(y[order]), of_X[order][1:] == of_X[order][:-1]
    within = steps[same_X & (steps > 0)]
    if len(within) < max(1.0, RARELY_OTHERWISE * np.count_nonzero(same_X)):
        return False
    values = np.unique(y)
    between = np.diff(values)
    between = between[between > 1e-9 * (values[-1] - values[0])]  # no errors of rounding
    return bool(np.median(within) > GRAINS_APART * np.quantile(between, 0.05))


def _chance_to_be_alike(X: np.ndarray) -> float:
    """Of two rows whose columns have nothing to do with each other."""
    chance, n = 1.0, len(X)
    for column in X.T:
        counts = np.unique(column, return_counts=True)[1]
        chance *= float(np.sum(counts * (counts - 1.0))) / max(n * (n - 1.0), 1.0)
        if chance == 0:
            break
    return chance


def _hashes(X: np.ndarray, y: np.ndarray | None = None) -> np.ndarray:
    """(n,) numbers that are equal where rows are."""
    found = np.zeros(len(X), np.uint64)
    for column in X.T if y is None else (*X.T, y):
        bits = np.ascontiguousarray(column + 0.0, np.float64).view(np.uint64)  # no -0
        found = mixed(found * ODD + bits)
    return found


def _count_in(values: np.ndarray, looked_for: np.ndarray) -> np.ndarray:
    """How often each number that is looked for is among the values."""
    rising = np.sort(values)
    first, behind = (np.searchsorted(rising, looked_for, side) for side in ("left", "right"))
    return behind - first
