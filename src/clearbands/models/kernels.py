"""Kernels, and features that say how alike a row is to a few landmarks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.utils.validation import check_is_fitted, validate_data

from clearbands.rows.checks import check_count
from clearbands.rows.typed import Seed

Name = Literal["gaussian", "matern"]
KERNELS: tuple[Name, ...] = ("gaussian", "matern")
ROOT = float(np.sqrt(3))
NUMBERS_IN_CACHE = 2**15


@dataclass(frozen=True)
class Kernel:
    """A Gaussian kernel for very smooth functions, or Matérn 3/2 for functions with kinks."""

    name: Name

    def __call__(self, distance: np.ndarray) -> np.ndarray:
        """Return the kernel at each distance: 1 at distance 0, and nearly 0 far away."""
        if self.name == "gaussian":
            values = distance**2
            values *= -0.5
            return np.exp(values, out=values)
        return (1 + ROOT * distance) * np.exp(-ROOT * distance)

    def slope(self, distance: np.ndarray) -> np.ndarray:
        """Return the derivative of the kernel divided by the distance."""
        if self.name == "gaussian":
            return -np.exp(-0.5 * distance**2)
        return -3 * np.exp(-ROOT * distance)


def distances_between(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the Euclidean distances (n, m) between rows (n, d) and rows (m, d)."""
    squares = A @ B.T
    own, others = (A**2).sum(axis=1)[:, None], (B**2).sum(axis=1)
    for rows in stretches_in_cache(squares):
        some = squares[rows]
        some *= -2
        some += own[rows]
        some += others
        np.sqrt(np.maximum(some, 0, out=some), out=some)
    return squares


def stretches_in_cache(values: np.ndarray) -> Iterator[slice]:
    """Yield all rows of an array (n, m), so many at once as stay in the cache while they change."""
    step = max(1, NUMBERS_IN_CACHE // max(1, values.shape[1]))
    for start in range(0, len(values), step):
        yield slice(start, start + step)


class Landmarks(TransformerMixin, BaseEstimator):
    """Features that approximate a Gaussian kernel: linear models of them are nonlinear in X.

    This is scikit-learn's `Nystroem` with at most as many landmarks as rows. Scale X first.

    Parameters
    ----------
    n_landmarks : int
        How many rows are drawn. More landmarks approximate the kernel better and take longer.
    random_state : int, RandomState or None

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 50).reshape(-1, 1)
    >>> Landmarks(10, random_state=0).fit_transform(X).shape, Landmarks().fit_transform(X).shape
    ((50, 10), (50, 50))
    """

    def __init__(self, n_landmarks: int = 300, *, random_state: Seed = None) -> None:
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Landmarks:
        check_count(self.n_landmarks, "n_landmarks")
        X = validate_data(self, X, dtype=np.float64)
        n = min(self.n_landmarks, len(X))
        self.kernel_ = Nystroem(n_components=n, random_state=self.random_state).fit(X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the features (n, landmarks)."""
        check_is_fitted(self)
        return self.kernel_.transform(validate_data(self, X, dtype=np.float64, reset=False))
