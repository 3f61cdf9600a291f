"""Text columns as dummies where they hold few values, and as codes where they hold many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from clearbands.rows.coded import NEVER_SEEN

FEW = 10  # a column with at most so many values gets a dummy for each


class CategoryCodes(TransformerMixin, BaseEstimator):
    """Dummies of columns with few values, then one column of codes for each of the others.

    A code is the place of the value among those of `fit`, in the order of the alphabet, a missing
    one last; -1 stands for a value that `fit` did not see. Each model learns the effect of a code
    from its own training rows.

    Parameters
    ----------
    few : int
        A column with more values than this becomes codes.

    Attributes
    ----------
    categories_ : list of arrays
        The values of each column; None, where values were missing, is the last.
    is_coded_ : (columns,) booleans
        Which of the columns become codes.
    is_left_out_ : (columns,) booleans
        Which of them do not: see `leave_out`.

    Examples
    --------
    >>> towns = np.array([["Bern", "a"], ["Chur", "a"], ["Genf", None]], dtype=object)
    >>> CategoryCodes(few=2).fit(towns).transform(towns)
    array([[1., 0., 0.],
           [1., 0., 1.],
           [0., 1., 2.]])
    """

    def __init__(self, few: int = FEW) -> None:
        self.few = few

    def fit(self, X: np.ndarray, y: ArrayLike | None = None) -> CategoryCodes:
        """Note the values of every column of X (n, columns), objects in which None is missing."""
        self.n_features_in_ = X.shape[1]
        self.categories_ = [_values(column) for column in X.T]
        self.is_coded_ = np.array([len(values) > self.few for values in self.categories_], bool)
        self.is_left_out_ = np.zeros(X.shape[1], bool)
        return self

    def leave_out(self, columns: Sequence[int]) -> CategoryCodes:
        """Leave these columns out of what `transform` returns."""
        self.is_left_out_[list(columns)] = True
        self.is_coded_[list(columns)] = False
        return self

    def widen(self, values: Sequence[Iterable[str | None]]) -> CategoryCodes:
        """Add values of every column that only rows outside of `fit` have."""
        self.categories_ = [
            _values(np.array([*known, *more], dtype=object))
            for known, more in zip(self.categories_, values, strict=True)
        ]
        self.is_coded_ = np.array([len(known) > self.few for known in self.categories_], bool)
        return self

    @property
    def n_codes(self) -> int:
        """The number of columns of codes, which stand last."""
        check_is_fitted(self, "is_coded_")
        return int(self.is_coded_.sum())

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the dummies and then the codes, as floats (n, columns)."""
        check_is_fitted(self, "categories_")
        dummies, codes = [], []
        for j, (values, is_coded) in self._used_columns():
            code = _codes(X[:, j], values)
            if is_coded:
                codes.append(code[:, None].astype(float))
            else:
                dummies.append((code[:, None] == np.arange(len(values))).astype(float))
        return np.hstack([np.empty((len(X), 0)), *dummies, *codes])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that `transform` returns."""
        check_is_fitted(self, "categories_")
        names = range(len(self.categories_)) if input_features is None else input_features
        columns = [(names[j], values, is_coded) for j, (values, is_coded) in self._used_columns()]
        dummies = [
            f"{name}_{value}"
            for name, values, is_coded in columns
            if not is_coded
            for value in values
        ]
        return np.array([*dummies, *(str(n) for n, _, is_coded in columns if is_coded)], object)

    def _used_columns(self) -> Iterator[tuple[int, tuple[np.ndarray, bool]]]:
        """Return the numbers of the columns that are used, with their values and whether they
        become codes."""
        columns = zip(self.categories_, self.is_coded_, strict=True)
        return ((j, column) for j, column in enumerate(columns) if not self.is_left_out_[j])


def _values(column: np.ndarray) -> np.ndarray:
    """Return the distinct values in their order, and then None where some are missing."""
    values = set(column.tolist())
    texts = sorted(value for value in values if value is not None)
    return np.array([*texts, None] if None in values else texts, dtype=object)


def _codes(column: np.ndarray, values: np.ndarray) -> np.ndarray:
    place = {value: code for code, value in enumerate(values.tolist())}
    return np.array([place.get(value, NEVER_SEEN) for value in column.tolist()], np.int64)
