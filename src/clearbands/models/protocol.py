"""Functions that fit any model with weights, or return it in a finer, coarser or repeated form."""

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
    """Fit a model, with weights if there are any.

    The last step of a pipeline takes them. Raise for a model that takes none.
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
    """Return a model that averages trees with `times` as many, and any other model as it is.

    If several members predict a row, each of them needs only its share of the trees.
    """
    return model.repeated(times) if hasattr(model, "repeated") else model


def finer(model: BaseEstimator, n_columns: int) -> Any:
    """Return the model in a finer form, with more trees or landmarks, if it has one."""
    return model.finer(n_columns) if hasattr(model, "finer") else model


def coarser(model: BaseEstimator) -> Any:
    """Return the model in a cheaper form, which shows how good it is, if it has one."""
    return model.coarser() if hasattr(model, "coarser") else model
