"""Class labels: their checks, their positions, and classes from probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d


def positions(y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes and the position (n,) of each row's class; raise for a single class."""
    check_classification_targets(y)
    classes, label = np.unique(y, return_inverse=True)
    _check_several(classes, len(label))
    return classes, label


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN or pandas' NA."""
    if value is None:
        return True
    is_other = value != value  # for pandas' NA this is NA again, not a boolean
    return not isinstance(is_other, bool | np.bool_) or bool(is_other)


def check_labels(y: ArrayLike, n: int) -> np.ndarray:
    """Return the class (n,) of every row; raise if rows have none or their number is wrong."""
    if np.ma.is_masked(y):
        raise ValueError("y is masked in some rows, which have no class then: leave them out.")
    labels = column_or_1d(y, warn=True)
    if len(labels) != n:
        raise ValueError(
            f"X has {n:,} rows and y has {len(labels):,} values: give one for every row."
        )
    if labels.dtype.kind == "O" and any(map(is_missing, labels)):
        raise ValueError("y has rows without a class: leave them out, or name a class for them.")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y contains NaN or infinity, which is no class: leave such rows out.")
    check_classification_targets(labels)
    return labels


def check_counts(classes: np.ndarray, counts: np.ndarray) -> None:
    """Raise unless there are two classes, each with two rows: one trains, one is predicted."""
    _check_several(classes, counts.sum())
    if counts.min() < 2:
        raise ValueError(
            f"The class {classes[np.argmin(counts)]!s} has one row only: give at least 2, leave it "
            "out, or pool it with others."
        )


def _check_several(classes: np.ndarray, n: int) -> None:
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only, {classes[0]!s} (n_samples={n}): at least 2 classes are "
            "needed."
        )


def likeliest(probabilities: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the most probable class (n,); among equals, the first."""
    return classes[np.argmax(probabilities, axis=1)]
