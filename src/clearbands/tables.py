"""Tables and targets as users bring them: checked at the door, frames kept as frames."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.utils.validation import _check_y, validate_data


def is_frame(X: Any) -> bool:
    """Whether X is a table with named, typed columns (pandas, polars, ...)."""
    return nw.dependencies.is_into_dataframe(X)


def check_numeric(estimator: Any, X: Any, *, reset: bool) -> np.ndarray:
    """X as finite floats in C order; remembers the columns when `reset`, else compares them."""
    return validate_data(estimator, X, dtype=np.float64, order="C", reset=reset)


def check_any(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as it is when it is a frame, else as floats in which NaN stands for missing.

    A frame's columns may come in another order than in `fit`: they are put right by name.
    """
    if not is_frame(X):
        return validate_data(
            estimator, X, dtype=np.float64, order="C", ensure_all_finite="allow-nan", reset=reset
        )
    if not reset:
        X = _in_order_of_fit(estimator, X)
    validate_data(estimator, X, skip_check_array=True, reset=reset)
    if len(X) == 0:
        raise ValueError("X has no rows.")
    return X


def _in_order_of_fit(estimator: Any, X: Any) -> Any:
    """The frame with its columns as `fit` saw them, or an error that names what differs."""
    names = getattr(estimator, "feature_names_in_", None)
    frame = nw.from_native(X, eager_only=True)
    if names is None or frame.columns == list(names):
        return X
    missing = [name for name in names if name not in frame.columns]
    extra = [name for name in frame.columns if name not in set(names)]
    if missing or extra:
        said = [f"missing: {', '.join(map(str, missing))}"] if missing else []
        said += [f"not seen in fit: {', '.join(map(str, extra))}"] if extra else []
        raise ValueError(
            f"The columns of X differ from those in fit ({'; '.join(said)}). "
            "Give exactly the columns the model was fitted on, in any order."
        )
    return frame.select(*names).to_native()


def check_target(y: Any, X: Any = None) -> np.ndarray:
    """y as finite floats, one per row of X, or an error that says what is wrong with it."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    values = np.asarray(y)
    if values.dtype.kind in "USO":
        text = next((str(v) for v in values.ravel() if isinstance(v, str)), None)
        if text is not None:
            raise ValueError(f"y must be numbers, but it holds text such as {text!r}.")
    target = np.asarray(_check_y(y, y_numeric=True), np.float64)
    if X is not None and len(X) != len(target):
        raise ValueError(
            f"X has {len(X):,} rows and y has {len(target):,} values: give one for every row."
        )
    return target


def check_count(value: Any, name: str, smallest: int = 1, largest: int | None = None) -> None:
    """Raise unless `value` is a whole number in the range, ends included."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if is_whole and smallest <= value and (largest is None or value <= largest):
        return
    allowed = f"of at least {smallest}" if largest is None else f"from {smallest} to {largest}"
    raise ValueError(f"{name} must be a whole number {allowed}, got {value!r}.")


def check_share(value: Any, name: str) -> None:
    """Raise unless `value` lies strictly between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}.")


def check_rows(estimator: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """X and y as finite floats, for models that cannot be trained on a single row."""
    X = check_numeric(estimator, X, reset=True)
    y = check_target(y, X)
    if len(y) < 2:
        name = type(estimator).__name__
        raise ValueError(f"{name} cannot be trained with n_samples=1: give at least 2 rows.")
    return X, y
