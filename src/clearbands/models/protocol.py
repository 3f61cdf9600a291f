"""What any model is asked for: to learn from weights, to be finer, coarser or repeated."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from clearbands.rows.typed import TableLike


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


def repeated(model: BaseEstimator, times: float) -> Any:
    """The model with so many times as many trees if it is a mean of trees, else as it is.

    Where several members judge a row, each of them needs only its share of them.
    """
    return model.repeated(times) if hasattr(model, "repeated") else model


def finer(model: BaseEstimator, n_columns: int) -> Any:
    """The model for those who need it once: with more steps or landmarks where it has such."""
    return model.finer(n_columns) if hasattr(model, "finer") else model


def coarser(model: BaseEstimator) -> Any:
    """The model for those who only want to know how good it is, where it can be cheaper."""
    return model.coarser() if hasattr(model, "coarser") else model
