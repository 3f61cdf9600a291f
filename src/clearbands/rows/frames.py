"""Checks of X: tables and arrays of features are checked once, where they come in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, TypeGuard

import narwhals.stable.v1 as nw
import numpy as np
from narwhals.stable.v1.typing import IntoDataFrame
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from clearbands.rows.checks import check_target, unmasked
from clearbands.rows.coded import code_columns, coded
from clearbands.rows.messages import row_name
from clearbands.rows.typed import TableLike


def is_frame(X: object) -> TypeGuard[IntoDataFrame]:
    """Whether X is a table with named, typed columns (pandas, polars, ...), not an array."""
    return not isinstance(X, np.ndarray) and nw.dependencies.is_into_dataframe(X)


def is_lazy(X: object) -> bool:
    """Whether X only says how to get a table (a LazyFrame, a query), and has no rows yet."""
    if isinstance(X, np.ndarray) or is_frame(X):
        return False
    return isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame)


def is_dask(X: object) -> bool:
    """Whether X is a Dask DataFrame: rows in partitions, wherever they are."""
    return nw.dependencies.is_dask_dataframe(X)


def check_numeric(estimator: BaseEstimator, X: Any, *, reset: bool) -> np.ndarray:
    """Return X as finite floats; store its columns when `reset`, else compare them with fit's."""
    if not reset and _is_ready(estimator, X) and np.isfinite(X).all():
        return X
    _check_matrix(X)
    checked = validate_data(estimator, unmasked(X), dtype=np.float64, order="C", reset=reset)
    return coded(checked, code_columns(X))


def check_table(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """Return a frame as it is, and anything else as floats in which NaN is missing.

    A frame's columns may come in another order than in `fit`: they are put in its order by name.
    """
    if not reset and _is_ready(estimator, X) and not np.isinf(X).any():
        return X
    _check_matrix(X)
    if not is_frame(X):
        checked = validate_data(
            estimator,
            unmasked(X),
            dtype=np.float64,
            order="C",
            ensure_all_finite="allow-nan",
            reset=reset,
        )
        return coded(checked, code_columns(X))
    names = _check_names(X)
    if not reset and names and names == getattr(estimator, "feature_names_in_", _NO_NAMES).tolist():
        return _with_rows(X)
    if not reset:
        X = _in_order_of_fit(estimator, X)
    validate_data(estimator, X, skip_check_array=True, reset=reset)
    if not names:
        raise ValueError("X has no columns; give at least one.")
    return _with_rows(X)


_NO_NAMES = np.empty(0, object)


def _with_rows(X: Any) -> Any:
    if len(X) == 0:
        raise ValueError("X has no rows.")
    return X


def _is_ready(estimator: BaseEstimator, X: Any) -> bool:
    """Whether X is an array like that of `fit`, so that only its values are left to check.

    Scikit-learn's own check takes many times longer than a prediction for a few rows.
    """
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and len(X) > 0
        and X.dtype == np.float64
        and X.flags.c_contiguous
        and X.shape[1] == getattr(estimator, "n_features_in_", None)
        and not hasattr(estimator, "feature_names_in_")
    )


NO_TABLES = (type(None), str, bytes, dict, set)


def _check_matrix(X: object) -> None:
    """Raise for mistakes whose message in scikit-learn is long; it finds the others itself."""
    if isinstance(X, str | os.PathLike):
        raise TypeError(
            f"X is a path, {os.fspath(X)!r}: read the table first, or use the command clearbands "
            "predict, which takes files of any size."
        )
    if is_dask(X):
        raise TypeError(
            "X is a Dask DataFrame, which only predict_interval of a ClearRegressor takes: predict "
            "anything else partition by partition, with X.map_partitions(...)."
        )
    if is_lazy(X):
        raise TypeError(
            f"X is a {type(X).__name__}, which has no rows yet; collect it first: X.collect()."
        )
    if type(X) in NO_TABLES or isinstance(X, Iterator):
        raise TypeError(
            f"X must be a table (pandas, polars, ...) or an array with rows and columns, got "
            f"{type(X).__name__}."
        )
    if isinstance(X, list | tuple):
        rows = (row for row in X if isinstance(row, list | tuple))
        _check_no_text(v for row in rows for v in row if isinstance(v, str))
    if not isinstance(X, np.ndarray) and not nw.dependencies.is_into_series(X):
        return
    values = np.asarray(X)
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported: X must hold real numbers.")
    if values.dtype.kind in "mM":
        raise ValueError(
            f"X is an array of dates or times ({values.dtype}), whose numbers depend on their "
            "unit: give a table (pandas, polars, ...), which knows what its columns are."
        )
    if values.ndim == 1:
        raise ValueError(
            f"X must have two dimensions, rows and columns, but has the shape {values.shape}. "
            "Reshape your data: X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if one row."
        )
    if values.dtype.kind in "USO":
        _check_no_text(values.flat)


def _check_no_text(values: Iterable[Any]) -> None:
    """Raise for text that is not a number: it belongs into a table, which may have text columns."""
    for value in values:
        if isinstance(value, list | tuple | dict | set):
            raise TypeError(
                f"X is an array with cells of the type {type(value).__name__}, such as {value!r}; "
                "each cell of the argument must be a string or a number."
            )
        if isinstance(value, str) and not _is_number(value):
            raise ValueError(
                f"X is an array that holds text such as {str(value)!r}: give a table (pandas, "
                "polars, ...), whose columns may be text."
            )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_no_infinity(X: Any) -> None:
    """Raise for an infinite number in a frame; arrays were checked before."""
    if is_frame(X):
        for column in nw.from_native(X, eager_only=True).iter_columns():
            if column.dtype.is_float():
                refuse_infinity(np.asarray(column.to_numpy(), float), column.name)


def refuse_infinity(values: np.ndarray, name: Any) -> None:
    """Raise for infinite values (n,) of a column."""
    if np.isinf(values).any():
        row = row_name(int(np.argmax(np.isinf(values))))
        raise ValueError(
            f"Column {name!r} contains infinity, first in {row}; replace it or leave it empty."
        )


def _check_names(X: Any) -> list[str]:
    """Return the names of a frame's columns, or raise if a name occurs twice."""
    try:
        return nw.from_native(X, eager_only=True).columns
    except nw.exceptions.DuplicateError as error:
        names = list(X.columns)
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"X has several columns named {twice!r}; rename or drop all but one."
        ) from error


def _in_order_of_fit(estimator: BaseEstimator, X: IntoDataFrame) -> Any:
    """Return the frame with its columns as in `fit`, or raise an error that names what differs."""
    names = getattr(estimator, "feature_names_in_", None)
    frame = nw.from_native(X, eager_only=True)
    if names is None or frame.columns == list(names):
        return X
    missing = [name for name in names if name not in frame.columns]
    extra = [name for name in frame.columns if name not in set(names)]
    if missing or extra:
        differences = [f"missing: {', '.join(map(str, missing))}"] if missing else []
        differences += [f"not seen in fit: {', '.join(map(str, extra))}"] if extra else []
        raise ValueError(
            f"The columns of X differ from those in fit ({'; '.join(differences)}). "
            "Give exactly the columns the model was fitted on, in any order."
        )
    return frame.select(*names).to_native()


def check_rows(
    estimator: BaseEstimator, X: TableLike, y: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Return X and y as finite floats, or raise if there is a single row, too few for a model."""
    X = check_numeric(estimator, X, reset=True)
    y = check_target(y, X)
    if len(y) < 2:
        name = type(estimator).__name__
        raise ValueError(f"{name} cannot be trained with n_samples=1: give at least 2 rows.")
    return X, y
