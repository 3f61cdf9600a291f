"""Every check at the door: what was wrong, what was seen, what to do, in one wording each."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterable, Iterator, Sequence, Sized
from numbers import Integral, Real
from typing import Any, TypeGuard

import narwhals.stable.v1 as nw
import numpy as np
from narwhals.stable.v1.typing import IntoDataFrame
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_y, validate_data

from clearbands.rows.class_labels import is_missing
from clearbands.rows.coded import code_columns, coded
from clearbands.rows.messages import row_name
from clearbands.rows.typed import TableLike

DATES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)


def is_frame(X: object) -> TypeGuard[IntoDataFrame]:
    """Whether X is a table with named, typed columns (pandas, polars, ...), not an array."""
    return not isinstance(X, np.ndarray) and nw.dependencies.is_into_dataframe(X)


def is_lazy(X: object) -> bool:
    """Whether X only tells how to get a table (a LazyFrame, a query), and has no rows yet."""
    if isinstance(X, np.ndarray) or is_frame(X):
        return False
    return isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame)


def is_dask(X: object) -> bool:
    """Whether X is a Dask DataFrame: rows in partitions, wherever they are."""
    return nw.dependencies.is_dask_dataframe(X)


def check_numeric(estimator: BaseEstimator, X: Any, *, reset: bool) -> np.ndarray:
    """X as finite floats in C order; remembers the columns when `reset`, else compares them."""
    if not reset and _is_ready(estimator, X) and np.isfinite(X).all():
        return X
    _check_matrix(X)
    checked = validate_data(estimator, _unmasked(X), dtype=np.float64, order="C", reset=reset)
    return coded(checked, code_columns(X))


def check_table(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """X as it is when it is a frame, else as floats in which NaN stands for missing.

    A frame's columns may come in another order than in `fit`: they are put right by name.
    """
    if not reset and _is_ready(estimator, X) and not np.isinf(X).any():
        return X
    _check_matrix(X)
    if not is_frame(X):
        checked = validate_data(
            estimator,
            _unmasked(X),
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
    """Whether X is an array as `fit` saw it, of which only the values are left to check.

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
    """Mistakes for which scikit-learn has many lines; it finds the others."""
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
    """Text that is no number belongs into a table, where it has a column."""
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
    """Raise for an infinite number in a frame; arrays were asked before."""
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
    """The names of a frame's columns, each of which must be there once."""
    try:
        return nw.from_native(X, eager_only=True).columns
    except nw.exceptions.DuplicateError as error:
        names = list(X.columns)
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"X has several columns named {twice!r}; rename or drop all but one."
        ) from error


def _unmasked(values: ArrayLike) -> Any:
    """What is masked is missing: NaN."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    return np.ma.filled(values.astype(np.float64), np.nan)


def _in_order_of_fit(estimator: BaseEstimator, X: IntoDataFrame) -> Any:
    """The frame with its columns as `fit` saw them, or an error that names what differs."""
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


def check_target(y: ArrayLike | None, X: Sized | None = None) -> np.ndarray:
    """y as finite floats, one per row of X, or an error that says what is wrong with it."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    _check_holds_numbers(np.asarray(y), "y")
    values = _unmasked(y)
    if np.iscomplexobj(np.asarray(values)):
        raise ValueError("Complex data not supported: y must hold real numbers.")
    if np.asarray(values).dtype.kind == "f":
        _check_finite(np.asarray(values), "y")
    target = np.asarray(_check_y(values, y_numeric=True), np.float64)
    _check_finite(target, "y")  # also of objects, such as None
    if X is not None and len(X) != len(target):
        raise ValueError(
            f"X has {len(X):,} rows and y has {len(target):,} values: give one for every row."
        )
    _check_same_order(X, y)
    return target


def _check_same_order(X: Any, y: Any) -> None:
    """Rows and targets of pandas go by their place: the same labels must stand in one order."""
    index: Any = getattr(X, "index", None)
    labels: Any = getattr(y, "index", None)
    if not (hasattr(index, "is_unique") and hasattr(labels, "is_unique")):
        return
    if index.equals(labels) or not (index.is_unique and labels.is_unique):
        return
    if set(index) == set(labels):
        raise ValueError(
            "X and y have the same index in another order, so rows would get the targets of "
            "others: give y.loc[X.index], or y.to_numpy() if the values are in the right order."
        )


def _check_holds_numbers(y: np.ndarray, name: str) -> None:
    """Text and dates have numbers behind them that nobody meant."""
    if y.dtype.kind not in "mMUSO":
        return
    for value in y.ravel():
        if isinstance(value, str):
            raise ValueError(f"{name} must be numbers, but it holds text such as {str(value)!r}.")
        if isinstance(value, DATES):
            raise ValueError(
                f"{name} must be numbers, but it holds dates or times such as {str(value)!r}; "
                "give, for example, the days since a fixed date."
            )


def check_count(value: Any, name: str, smallest: int = 1, largest: int | None = None) -> None:
    """Raise unless `value` is a whole number in the range, ends included."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if is_whole and smallest <= value and (largest is None or value <= largest):
        return
    allowed = f"of at least {smallest}" if largest is None else f"from {smallest} to {largest}"
    raise ValueError(f"{name} must be a whole number {allowed}, got {value!r}.")


def check_choice(value: object, name: str, allowed: Sequence[str]) -> None:
    """Raise unless `value` is one of the names."""
    if not isinstance(value, str) or value not in allowed:
        names = ", ".join(f'"{choice}"' for choice in allowed)
        raise ValueError(f"{name} must be one of {names}, got {value!r}.")


def check_share(value: Any, name: str) -> None:
    """Raise unless `value` lies strictly between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}.")


def check_rows(
    estimator: BaseEstimator, X: TableLike, y: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """X and y as finite floats, for models that cannot be trained on a single row."""
    X = check_numeric(estimator, X, reset=True)
    y = check_target(y, X)
    if len(y) < 2:
        name = type(estimator).__name__
        raise ValueError(f"{name} cannot be trained with n_samples=1: give at least 2 rows.")
    return X, y


def check_vector(values: ArrayLike, name: str, n: int | None = None) -> np.ndarray:
    """A finite (n,) float array, or an error that names what is wrong."""
    array = _as_floats(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, (n,); got shape {array.shape}.")
    if len(array) == 0:
        raise ValueError(f"{name} is empty; at least one row is needed.")
    _check_rows(array, name, n)
    return array


def check_predictions(predicted: ArrayLike, n: int, who: str, *, finite: bool = True) -> np.ndarray:
    """(n,) finite numbers, also of a column (n, 1), or an error that says who differs."""
    values = np.asarray(predicted)
    if values.shape not in ((n,), (n, 1)):
        raise ValueError(
            f"{who} predicts an array of shape {values.shape} for {n} rows: one number for every "
            "row is needed."
        )
    if values.dtype.kind not in "fiub":
        raise ValueError(f"{who} predicts values of the type {values.dtype}, not real numbers.")
    if finite and not np.isfinite(values).all():
        raise ValueError(f"{who} predicts NaN or infinity.")
    return values.reshape(n).astype(np.float64, copy=False)


def check_widths(values: ArrayLike, name: str, n: int, n_levels: int = 1) -> np.ndarray:
    """A finite, non-negative (n, 2, n_levels) float array; (n, 2) serves every level."""
    array = _as_floats(values, name)
    if array.ndim == 2:
        array = np.repeat(array[:, :, None], n_levels, axis=2)
    if array.ndim != 3 or array.shape[1:] != (2, n_levels):
        several = f" or (n, 2, {n_levels})" if n_levels > 1 else ""
        raise ValueError(
            f"{name} must have shape (n, 2){several}: distances from the center, below and above; "
            f"got shape {np.shape(values)}."
        )
    _check_rows(array, name, n)
    if np.any(array < 0):
        row, side = np.argwhere(array < 0)[0][:2]
        raise ValueError(
            f"{name} must not be negative, got {array[row, side].min():g} in {row_name(row)}. "
            "Widths are distances from the center, not bounds."
        )
    return array


def check_weights(values: ArrayLike, name: str, n: int) -> np.ndarray:
    """(n,) finite weights, none negative and not all 0."""
    weights = check_vector(values, name, n)
    if np.any(weights < 0):
        row = int(np.argmax(weights < 0))
        raise ValueError(f"{name} must not be negative, got {weights[row]:g} in {row_name(row)}.")
    if not np.any(weights > 0):
        raise ValueError(f"{name} is zero in every row: no row would count.")
    return weights


def check_threshold(value: ArrayLike, name: str, n: int) -> np.ndarray:
    """(n,): a finite number for every row, of one for all or one for each."""
    values = _as_floats(value, name)
    return check_vector(np.full(n, float(values)) if values.ndim == 0 else values, name, n)


SMALLEST, LARGEST = 1e-150, 1e150


def check_scale(values: np.ndarray, name: str, smallest: float = SMALLEST) -> None:
    """Raise unless the largest of `values` is 0 or of a size that can be multiplied exactly."""
    largest = float(np.max(np.abs(values)))
    if largest == 0 or smallest <= largest <= LARGEST:
        return
    raise ValueError(
        f"The largest value of {name} is {largest:g}: calibration is exact from {SMALLEST:g} to "
        f"{LARGEST:g}. Give y, center and widths in another unit."
    )


def _as_floats(values: ArrayLike, name: str) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be numbers: {error}.") from error
    _check_holds_numbers(array, name)
    try:
        return np.asarray(_unmasked(values), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}.") from error


def _check_rows(array: np.ndarray, name: str, n: int | None) -> None:
    if n is not None and len(array) != n:
        raise ValueError(
            f"{name} has {len(array)} rows where {n} are needed, as many as the others."
        )
    _check_finite(array, name)


def _check_finite(array: np.ndarray, name: str) -> None:
    if not np.all(np.isfinite(array)):
        row = np.argwhere(~np.isfinite(array))[0][0]
        raise ValueError(
            f"{name} contains NaN or infinity, first in {row_name(row)}; remove or repair such "
            "rows."
        )


def check_intervals(y: ArrayLike, intervals: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    y = check_vector(y, "y")
    intervals = np.asarray(intervals, float)
    if intervals.ndim == 3 and intervals.shape[2] == 1:
        intervals = intervals[:, :, 0]
    if intervals.shape != (len(y), 2):
        raise ValueError(
            f"intervals must have shape ({len(y)}, 2), lower and upper for every row of y; got "
            f"{intervals.shape}. Of several levels, score one at a time: intervals[:, :, j]."
        )
    if np.isnan(intervals).any():
        raise ValueError("intervals contain NaN.")
    if np.any(intervals[:, 0] > intervals[:, 1]):
        row = int(np.argmax(intervals[:, 0] > intervals[:, 1]))
        raise ValueError(f"The lower bound exceeds the upper bound in {row_name(row)}.")
    return y, intervals


NEAREST = 1e-9
"""Levels nearer to 0 or 1 are taken for it: no number of rows tells them apart."""


def check_one_level(confidence_level: float) -> float:
    levels = check_levels(confidence_level)
    if len(levels) != 1:
        raise ValueError(f"One confidence level at a time, got {confidence_level!r}.")
    return levels[0]


def check_levels(confidence_level: float | Sequence[float]) -> tuple[float, ...]:
    """The levels as a tuple of floats, in the order given, or an error that says what is wrong."""
    listed = [confidence_level] if isinstance(confidence_level, Real) else confidence_level
    if isinstance(listed, str) or not np.iterable(listed):
        raise TypeError(
            f"confidence_level must be a number or a list of numbers, got {confidence_level!r}."
        )
    levels = tuple(_check_level(level) for level in listed)
    if not levels:
        raise ValueError("confidence_level is an empty list; give at least one level such as 0.9.")
    if len(set(levels)) < len(levels):
        raise ValueError(f"confidence_level names a level twice: {confidence_level!r}.")
    return levels


def _check_level(level: object) -> float:
    if not isinstance(level, Real) or isinstance(level, bool | np.bool_):
        raise TypeError(f"A confidence level must be a number between 0 and 1, got {level!r}.")
    value = float(level)
    if NEAREST <= value <= 1 - NEAREST:
        return value
    hint = f" Did you mean {value / 100:g}?" if 1 < value < 100 else ""
    raise ValueError(f"confidence_level must lie strictly between 0 and 1, got {level!r}.{hint}")


MISSING = "missing"


def check_group_labels(
    groups: ArrayLike | None, n: int, name: str = "calibration_groups"
) -> np.ndarray:
    """(n,) labels as text, or an error that says what is wrong with them."""
    labels = np.array(groups, dtype=object)
    if isinstance(groups, np.ma.MaskedArray):
        labels[np.ma.getmaskarray(groups)] = None
    if labels.shape != (n,):
        raise ValueError(
            f"{name} must have shape ({n},), a label per row of y; got {labels.shape}."
        )
    return np.array([_label(value) for value in labels])


def _label(value: Any) -> str:
    """As text; a whole number is the same group whether it came as 7 or as 7.0."""
    if is_missing(value):
        return MISSING
    is_whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if is_whole else str(value)


def check_quantiles(quantiles: Sequence[float] | np.ndarray) -> np.ndarray:
    """The quantile levels as an array, or an error that says what is wrong with them."""
    levels = np.asarray(quantiles, float)
    if levels.ndim != 1 or len(levels) == 0:
        raise ValueError(
            f"quantiles must be a list of numbers such as (0.05, 0.5, 0.95), got {quantiles!r}."
        )
    inside = np.all((levels >= NEAREST) & (levels <= 1 - NEAREST))
    if not (inside and np.all(np.diff(levels) > 0)):
        raise ValueError(
            f"quantiles must rise and lie strictly between 0 and 1, got {quantiles!r}."
        )
    return levels


def check_tails(tails: object) -> tuple[float, float]:
    """The shares of targets below and above an interval, or an error that says what is wrong."""
    shares = tuple(tails) if np.iterable(tails) and not isinstance(tails, str) else ()
    if len(shares) == 2 and all(isinstance(share, Real) for share in shares):
        below, above = float(shares[0]), float(shares[1])
        parts = [share for share in (below, above) if share != 0]
        inside = all(NEAREST <= share <= 1 - NEAREST for share in parts)
        if parts and inside and below + above <= 1 - NEAREST:
            return below, above
    raise ValueError(
        "tails must be the shares of targets below and above, such as (0.02, 0.08), that add up to "
        f"less than 1; got {tails!r}."
    )


def check_labels(labels: ArrayLike, n: int) -> np.ndarray:
    """(n,) whole numbers, one for each label, or an error that says what is wrong."""
    values = np.asarray(labels)
    if values.shape != (n,):
        raise ValueError(f"groups must have shape ({n},), a label per row; got {values.shape}.")
    n_missing = sum(map(is_missing, values.tolist()))
    if n_missing:
        raise ValueError(
            f"groups has no label in {n_missing} of {n} rows: give each row a label; a row that "
            "belongs to no other gets one of its own."
        )
    return np.unique(values, return_inverse=True)[1]
