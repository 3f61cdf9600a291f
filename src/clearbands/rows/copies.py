"""Rows that occur in a table more than once: a training row gives away the target of its copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from clearbands.rows.messages import warn
from clearbands.rows.split import Rows

Arrays: TypeAlias = "tuple[np.ndarray, np.ndarray]"  # X and y

MANY_COPIES = 0.1  # with this share of copies, intervals at 90 % cover about 1 % too little
FEW_DIFFERENT = 20  # fewer different rows do not show whether rows are copies
MOST_OF_ONE = 20  # a row that occurs more often is a common one, not a copy
RARELY_OTHERWISE = 0.1  # this share of the rows with equal X may differ in y
BY_CHANCE = 10  # rows that are alike up to so many times as often as by chance are no copies
GRAINS_APART = 10  # if y differs by more grains among rows of equal X, an equal y is no chance
ROUNDING = float(np.finfo(np.float32).eps)  # the rounding of a number in single precision
STEPS_APART = 0.1  # rounding is less than this share of the mean step between n sorted values


def check_copies(train: Rows, held_out: Sequence[Rows] = (), *, are_apart: bool = False) -> bool:
    """Whether many rows seem to calibrate models that were trained on copies of them.

    A warning is given if so. Rows are compared up to the rounding of single precision. If the user
    gave the calibration rows (`are_apart`) and all are exact copies of training rows, that is an
    error. Training rows with labels in `groups` are not compared: the user decides what stays
    together.
    """
    if not all(isinstance(part.X, np.ndarray) for part in (train, *held_out)):
        return False
    if are_apart:
        return _are_shared(_concatenated([train]), _concatenated(held_out))
    return train.groups is None and _have_copies(*_concatenated([train, *held_out]))


def count_copies(X: np.ndarray, y: np.ndarray) -> int:
    """Count the rows, encoded as numbers, that have a copy with the same X and y.

    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    >>> count_copies(X, y), count_copies(np.r_[X, X[:3]], np.r_[y, y[:3]])
    (0, 6)
    """
    return _count_copies((X, y))


def copy_labels(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return labels (n,) that are equal for rows with the same X and y up to rounding.

    >>> copy_labels(np.array([[0.0], [1.0], [1.0 + 1e-9]]), np.array([2.0, 3.0, 3.0])).tolist()
    [0, 1, 1]
    """
    return _pair_labels(_labels_of_rows(X), _labels_of_values(y))


def _pair_labels(X_labels: np.ndarray, y_labels: np.ndarray) -> np.ndarray:
    return np.unique(X_labels * (y_labels.max() + 1) + y_labels, return_inverse=True)[1]


def _concatenated(parts: Sequence[Rows]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([part.X for part in parts]), np.concatenate([part.y for part in parts])


def _have_copies(X: np.ndarray, y: np.ndarray) -> bool:
    n_copies = _count_copies((X, y))
    if n_copies <= MANY_COPIES * len(y):
        return False
    warn(
        f"{n_copies:,} of {len(y):,} rows have a copy among the others, with the same X and y up "
        "to rounding. If these are the same observations, rows are judged by what has seen them, "
        "and the intervals are too short: drop the copies, let sample_weight say how many rows "
        "each one counts as, or keep them together by labels in groups.",
        UserWarning,
    )
    return True


def _are_shared(train: Arrays, held_out: Arrays) -> bool:
    n, n_copies = len(held_out[1]), _count_copies(train, held_out)
    if all(map(np.array_equal, train, held_out)) or (
        n_copies == n and _contains_all(train, held_out)
    ):
        raise ValueError(
            f"All {n} calibration rows are among the training rows, so the intervals would "
            "be too short: give X_cal and y_cal that are not in X and y, or leave them out."
        )
    if n_copies <= MANY_COPIES * n:
        return False
    warn(
        f"{n_copies:,} of {n:,} calibration rows are among the training rows, up to rounding; if "
        "these are the same observations, the intervals are too short.",
        UserWarning,
    )
    return True


def _count_copies(rows: Arrays, others: Arrays | None = None) -> int:
    """Count the rows of `others` that are copies of `rows`, or the copies within `rows`.

    Rows with the same X and y do not count as copies where that is to be expected: if there is
    only one y; if X has few values and y follows from it; or if rows of the same X differ in y,
    but y has few values, too. A row that occurs very often does not count, either: new rows will
    also be like it.
    """
    X, y = rows if others is None else map(np.concatenate, zip(rows, others, strict=True))
    X_labels, y_labels = _labels_of_rows(X), _labels_of_values(y)
    both = _pair_labels(X_labels, y_labels)
    n = len(rows[1])
    looked_for, own = (slice(None), 1) if others is None else (slice(n, None), 0)
    n_different = len(np.unique(both[:n]))
    is_few = n_different < FEW_DIFFERENT and (others is None or n_different < n)
    if is_few or np.all(y[:n] == y[0]):
        return 0
    alike, equal, same_y = (
        _count(of[:n], of[looked_for]) - own for of in (X_labels, both, y_labels)
    )
    is_rare = (equal > 0) & (equal < MOST_OF_ONE)
    rounded = y[np.unique(y_labels, return_index=True)[1]][y_labels[:n]]  # equal where y is alike
    if _identifies_rows(rounded, X_labels[:n]):
        only_here = equal == same_y  # a frequent y such as 0 occurs with other X, too
        return int((is_rare & only_here).sum())
    has_one_y = (alike > 0) & (equal == alike)
    if has_one_y.sum() < max(1.0, (1 - RARELY_OTHERWISE) * (alike > 0).sum()):
        return 0
    expected = BY_CHANCE * n * _chance_of_equal_rows(X, X_labels, n)[looked_for]
    return int((has_one_y & is_rare & (alike >= expected)).sum())


def _identifies_rows(y: np.ndarray, X_labels: np.ndarray) -> bool:
    """Whether rows of equal X differ in y so finely that rows with equal y are one observation."""
    order = np.lexsort((y, X_labels))
    steps, same_X = np.diff(y[order]), X_labels[order][1:] == X_labels[order][:-1]
    within = steps[same_X & (steps > 0)]
    if len(within) < max(1.0, RARELY_OTHERWISE * np.count_nonzero(same_X)):
        return False
    values = np.unique(y)
    between = np.diff(values)
    between = between[between > 1e-9 * (values[-1] - values[0])]  # leave out rounding errors
    return bool(np.median(within) > GRAINS_APART * np.quantile(between, 0.05))


def _chance_of_equal_rows(X: np.ndarray, X_labels: np.ndarray, n: int) -> np.ndarray:
    """Return how likely each row equals another one by chance, if columns were independent.

    Each column gives a factor, the largest of three: the share of the value in those of the first
    n rows that are not like this one; the share of pairs of different rows that have the same
    value; and one divided by the number of points of the grid on which the column's values lie.
    """
    chance, size = np.ones(len(X)), _count(X_labels[:n], X_labels)
    different = np.unique(X_labels[:n], return_index=True)[1]
    for column in map(_fill_missing, X.T):
        numbers = _labels_of_values(column)
        of_value = (_count(numbers[:n], numbers) - size) / np.maximum(n - size, 1)
        counts = np.bincount(numbers[different])
        of_pairs = np.sum(counts * (counts - 1.0)) / max(len(different) * (len(different) - 1.0), 1)
        values = np.sort(column[np.unique(numbers, return_index=True)[1]])
        grain = np.diff(values).min(initial=np.inf)
        chance *= np.maximum(of_value, max(of_pairs, 1 / (1 + np.ptp(values) / grain)))
    return chance


def _labels_of_rows(X: np.ndarray) -> np.ndarray:
    """Return whole numbers (n,) that are equal where rows are equal up to rounding.

    Equal rows lie side by side once all rows are sorted along a random direction.
    """
    columns = [column for column in map(_fill_missing, X.T) if not _is_constant(column)]
    place, rng = np.zeros(len(X)), np.random.default_rng(0)
    for column in columns:
        place += rng.normal() * (column - column.mean()) / _spread(column)
    order = np.argsort(place)
    is_new = np.zeros(len(X) - 1, bool)
    for column in columns:
        is_new |= _differs_from_previous(column[order], _tolerance(column)[order])
    return _group_numbers(order, is_new)


def _labels_of_values(values: np.ndarray) -> np.ndarray:
    """Return whole numbers (n,) that are equal where values are equal up to rounding."""
    order = np.argsort(values)
    return _group_numbers(order, _differs_from_previous(values[order], _tolerance(values)[order]))


def _fill_missing(column: np.ndarray) -> np.ndarray:
    """Return the column with one further value in the place of all missing ones."""
    missing = np.isnan(column)
    return (
        np.where(missing, 2 * np.abs(column[~missing]).max(initial=1.0), column)
        if missing.any()
        else column
    )


def _spread(values: np.ndarray) -> float:
    """Return the mean distance of values from their mean."""
    return float(np.mean(np.abs(values - values.mean())))


def _is_constant(values: np.ndarray) -> bool:
    """Whether all values are equal up to rounding."""
    return _spread(values) <= ROUNDING * float(np.abs(values).max())


def _tolerance(values: np.ndarray) -> np.ndarray:
    """Return by how much each value (n,) may differ from another that equals it up to rounding.

    It is less than the mean step between values: otherwise all values of a narrow range far from
    zero would be equal.
    """
    spread = _spread(values)
    rounding = ROUNDING * np.maximum(np.abs(values), spread)
    return np.minimum(rounding, STEPS_APART * spread / len(values))


def _differs_from_previous(values: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
    """Return whether each value differs from the one before it: booleans (n - 1,)."""
    return np.abs(np.diff(values)) > np.maximum(tolerance[1:], tolerance[:-1])


def _group_numbers(order: np.ndarray, is_new: np.ndarray) -> np.ndarray:
    """Number rows (n,) in this order, beginning with 0, and one more for each that is new."""
    numbers = np.zeros(len(order), np.int64)
    numbers[order[1:]] = np.cumsum(is_new)
    return numbers


def _contains_all(rows: Arrays, others: Arrays) -> bool:
    """Whether all of the others are among the rows, bit for bit."""
    known, looked_for = (
        {row.tobytes() for row in np.column_stack(part) + 0.0} for part in (rows, others)
    )
    return looked_for <= known


def _count(numbers: np.ndarray, looked_for: np.ndarray) -> np.ndarray:
    """Count how often each number in `looked_for` occurs in `numbers`; all numbers are small."""
    return np.bincount(numbers, minlength=int(looked_for.max()) + 1)[looked_for]
