"""Tables with text, categories, dates and gaps to plain numbers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from clearbands.tables import check_any, is_frame

KINDS = {
    "boolean": (nw.Boolean,),
    "date": (nw.Date,),
    "datetime": (nw.Datetime,),
    "time": (nw.Time,),
    "duration": (nw.Duration,),
    "text": (nw.String, nw.Categorical, nw.Enum, nw.Object),
}


class TableEncoder(TransformerMixin, BaseEstimator):
    """Numbers are imputed, text and categories one-hot encoded, dates turned into seconds.

    Takes arrays of floats, in which NaN is missing, and frames of pandas, polars and others.
    A category that was not seen in `fit` gives zeros, or counts as rare where rare ones were
    pooled; a missing one is a category of its own.

    Parameters
    ----------
    numeric : transformer of a float array with NaN, optional
        By default the median of the training rows, and an indicator for columns with gaps.
    categorical : transformer of an object array, optional
        By default one-hot with at most 40 columns per feature, the rarest pooled.

    Attributes
    ----------
    kinds_ : what each column held, by name (position for arrays); see `column_kind`
    numeric_columns_, categorical_columns_ : the columns that become numbers, and the text
    numeric_, categorical_ : the fitted transformers; None where there are no such columns
    """

    def __init__(self, numeric: Any = None, categorical: Any = None) -> None:
        self.numeric = numeric
        self.categorical = categorical

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        X = check_any(self, X, reset=True)
        if is_frame(X):
            self.kinds_ = {name: column_kind(name, dtype) for name, dtype in _schema(X).items()}
        else:
            self.kinds_ = {j: "number" for j in range(X.shape[1])}
        self.numeric_columns_ = [name for name, kind in self.kinds_.items() if kind != "text"]
        self.categorical_columns_ = [name for name, kind in self.kinds_.items() if kind == "text"]
        numeric, categorical = self._blocks(X)
        _check_not_all_missing(self.numeric_columns_, np.isnan(numeric).all(axis=0))
        _check_not_all_missing(
            self.categorical_columns_, [all(v is None for v in column) for column in categorical.T]
        )
        self.numeric_ = self.categorical_ = None
        if self.numeric_columns_:
            self.numeric_ = clone(_imputer() if self.numeric is None else self.numeric)
            self.numeric_.fit(numeric)
        if self.categorical_columns_:
            self.categorical_ = clone(_one_hot() if self.categorical is None else self.categorical)
            self.categorical_.fit(categorical)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """(n, columns) floats: the numeric columns first, then the categories."""
        check_is_fitted(self)
        numeric, categorical = self._blocks(check_any(self, X, reset=False))
        blocks = []
        if self.numeric_ is not None:
            blocks.append(self.numeric_.transform(numeric))
        if self.categorical_ is not None:
            blocks.append(self.categorical_.transform(categorical))
        return np.ascontiguousarray(np.hstack(blocks), dtype=np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns that `transform` returns."""
        check_is_fitted(self)
        names: list[Any] = []
        for transformer, columns in (
            (self.numeric_, self.numeric_columns_),
            (self.categorical_, self.categorical_columns_),
        ):
            if transformer is not None:
                given = [f"x{c}" if isinstance(c, int) else str(c) for c in columns]
                names.extend(transformer.get_feature_names_out(given))
        return np.asarray(names, dtype=object)

    def _blocks(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The numeric columns as floats, the others as text in which None is missing."""
        if not is_frame(X):
            return X, np.empty((len(X), 0), object)
        frame = nw.from_native(X, eager_only=True)
        numeric = np.empty((len(frame), len(self.numeric_columns_)))
        for j, name in enumerate(self.numeric_columns_):
            numeric[:, j] = numbers_of(frame.get_column(name), name)
        categorical = np.empty((len(frame), len(self.categorical_columns_)), object)
        for j, name in enumerate(self.categorical_columns_):
            categorical[:, j] = texts_of(frame.get_column(name))
        return numeric, categorical

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _imputer() -> Any:
    from sklearn.impute import SimpleImputer

    return SimpleImputer(strategy="median", add_indicator=True)


def _one_hot() -> Any:
    from sklearn.preprocessing import OneHotEncoder

    return OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=40, sparse_output=False
    )


def _schema(X: Any) -> dict[Any, Any]:
    return dict(nw.from_native(X, eager_only=True).schema)


def column_kind(name: Any, dtype: Any) -> str:
    """ "number", "boolean", "date", "datetime", "time", "duration" or "text"."""
    if dtype.is_numeric():
        return "number"
    for kind, types in KINDS.items():
        if dtype in types:
            return kind
    raise TypeError(
        f"Column {name!r} has the type {dtype}, which cannot be encoded; "
        "turn it into numbers or text, or drop it."
    )


def numbers_of(column: Any, name: str) -> np.ndarray:
    if column.dtype.is_temporal():
        return _seconds(column)
    if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        raise ValueError(
            f"Column {name!r} held numbers in fit, but now holds {column.dtype}; "
            "convert it to numbers."
        )
    values = column.cast(nw.Float64).to_numpy().astype(np.float64)
    if np.isinf(values).any():
        raise ValueError(f"Column {name!r} contains infinity; replace it or leave it empty.")
    return values


def _seconds(column: Any) -> np.ndarray:
    """Since 1970 for dates, since midnight for times of day, in all for durations."""
    if column.dtype == nw.Time:
        midnight = dt.datetime.min
        times = column.to_list()
        spans = [None if t is None else dt.datetime.combine(midnight, t) - midnight for t in times]
        return np.array([np.nan if span is None else span.total_seconds() for span in spans])
    if column.dtype == nw.Duration:
        microseconds = column.dt.total_microseconds()
    else:
        microseconds = column.cast(nw.Datetime("us")).dt.timestamp("us")
    return microseconds.cast(nw.Float64).to_numpy().astype(np.float64) / 1e6


def texts_of(column: Any) -> list[str | None]:
    """Text as it stands; a missing value, None or NaN, is None."""
    return [None if v is None or v != v else str(v) for v in column.to_list()]


def _check_not_all_missing(names: list[Any], is_missing: Iterable[bool]) -> None:
    for name, missing in zip(names, is_missing, strict=True):
        if missing:
            raise ValueError(
                f"Column {name!r} has no value in any training row; drop it or fill it."
            )
