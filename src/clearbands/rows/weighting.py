"""Rows that count more than others: weights at the door, and models that take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from clearbands.rows.checks import check_weights
from clearbands.rows.typed import TableLike

MOST_ROWS = 1e15  # that weights can stand for: beyond, floats do not count single rows any more


def check_sample_weight(weight: ArrayLike | None, n: int) -> np.ndarray | None:
    """(n,) weights that are not negative and not all 0; None for none."""
    return None if weight is None else check_weights(weight, "sample_weight", n)


def check_row_weight(weight: ArrayLike | None, n: int) -> np.ndarray | None:
    """The same, where weights say how many rows a row counts as, which calibration relies on."""
    weights = check_sample_weight(weight, n)
    if weights is None:
        return None
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not 2 <= total <= MOST_ROWS:
        raise ValueError(
            f"sample_weight adds up to {total:g}, but it says how many rows each row "
            f"counts as: multiply it, for example so that it adds up to the {n:,} rows."
        )
    return weights


def drop_weightless(
    X: np.ndarray, y: np.ndarray, weight: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The rows without those of weight 0, which are as if they were not there."""
    if weight is None or np.all(weight > 0):
        return X, y, weight
    kept = weight > 0
    return X[kept], y[kept], weight[kept]


def fit_weighted(
    model: BaseEstimator, X: TableLike, y: np.ndarray, weight: np.ndarray | None, **others: Any
) -> Any:
    """Fit a model, with weights where there are any.

    Of a pipeline the last step takes them. A model that takes none is refused.
    """
    if weight is None:
        return model.fit(X, y, **others)
    return model.fit(X, y, **{_name_of_weight(model): weight}, **others)


def _name_of_weight(model: BaseEstimator) -> str:
    if has_fit_parameter(model, "sample_weight"):
        return "sample_weight"
    if isinstance(model, Pipeline):
        name, last = model.steps[-1]
        return f"{name}__{_name_of_weight(last)}"
    raise ValueError(
        f"{type(model).__name__} takes no sample_weight, so it cannot tell rows that count more: "
        "choose another model, or leave sample_weight out."
    )


def mean_of(values: np.ndarray, weight: np.ndarray | None) -> float:
    """The mean, in which a row counts as its weight says."""
    return float(values.mean() if weight is None else np.average(values, weights=weight))


def size_of(weight: np.ndarray | None, n: int) -> float:
    """How many rows n rows count as."""
    return n if weight is None else float(weight.sum())


def error_of_mean(values: np.ndarray, weight: np.ndarray | None) -> float:
    """The standard error of `mean_of` them."""
    squares = (values - mean_of(values, weight)) ** 2
    return float(np.sqrt(mean_of(squares, weight)) / np.sqrt(size_of(weight, len(values))))
