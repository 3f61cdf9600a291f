"""Rows at the door of everything that trains networks."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from clearbands.tables import check_numeric, check_target


def check_rows(estimator: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """X and y as finite floats; two rows are the least that a batch needs."""
    X, y = check_numeric(estimator, X, reset=True), check_target(y)
    check_consistent_length(X, y)
    if len(y) < 2:
        raise ValueError("A network cannot be trained with n_samples=1: give at least 2 rows.")
    return X, y
