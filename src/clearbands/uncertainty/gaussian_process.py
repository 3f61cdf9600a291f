"""A Gaussian process: the posterior of the center in closed form."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.models.networks.stack import Standard
from clearbands.rows.checks import check_count, check_target
from clearbands.rows.chunks import chunks, concatenate
from clearbands.rows.frames import check_numeric
from clearbands.rows.levels import check_levels, normal_distances
from clearbands.rows.typed import Seed, TableLike
from clearbands.rows.weighting import check_sample_weight, drop_weightless
from clearbands.uncertainty.epistemic import CenterAndWidths, EpistemicPart


class NoiseByWeight(WhiteKernel):
    """White noise that is divided by the weight of a row, which is a mean of so many observations.

    `weight` (n,) belongs to the training rows. A Gaussian process asks only about them all
    together; new rows have the noise of one observation.
    """

    def __init__(
        self,
        noise_level: float = 1.0,
        noise_level_bounds: Any = (1e-5, 1e5),
        weight: np.ndarray | None = None,
    ) -> None:
        super().__init__(noise_level, noise_level_bounds)
        self.weight = weight

    def __call__(self, X: np.ndarray, Y: Any = None, eval_gradient: bool = False) -> Any:
        value = super().__call__(X, Y, eval_gradient)
        if self.weight is None or Y is not None or len(X) != len(self.weight):
            return value
        if not eval_gradient:
            return value / self.weight[:, None]
        noise, gradient = value
        return noise / self.weight[:, None], gradient / self.weight[:, None, None]


class GaussianProcess(EpistemicPart):
    """An epistemic part without members: mean and deviation of scikit-learn's Gaussian process.

    The widths are those of the function, not of new observations. The noise is estimated together
    with the kernel and then left out, because it belongs to the aleatoric part. Inputs and target
    are standardised inside.

    Parameters
    ----------
    kernel : kernel of scikit-learn, optional
        The kernel of the function, without noise. By default it is a squared exponential with one
        length scale per column.
    max_rows : int
        How many rows are used at most, drawn at random. Time grows with their third power.
    confidence_level : float or list of float
        The levels of the widths; `ClearRegressor` sets it.
    random_state : int, RandomState or None
        The seed, as in scikit-learn.

    Attributes
    ----------
    process_ : GaussianProcessRegressor
        The fitted process, for standardised rows.
    noise_ : float
        The standard deviation of the noise, in units of the target.

    Examples
    --------
    >>> import numpy as np
    >>> from clearbands import GaussianProcess
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = X[:, 0] + np.resize([-0.1, 0.0, 0.1], 60)
    >>> process = GaussianProcess(random_state=0).fit(X, y)
    >>> center, widths = process.predict_with_widths([[0.5], [9.0]])
    >>> bool(widths[1].sum() > widths[0].sum())  # nothing was seen near 9
    True
    """

    def __init__(
        self,
        kernel: Any = None,
        *,
        max_rows: int = 1000,
        confidence_level: float | Sequence[float] = 0.9,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.max_rows = max_rows
        self.confidence_level = confidence_level
        self.random_state = random_state

    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation: tuple[Any, Any] | None = None,
    ) -> GaussianProcess:
        """Learn from X and y; a row of `sample_weight` 4 has a quarter of the noise variance.

        `validation` is not needed, because there is nothing to choose between.
        """

        check_count(self.max_rows, "max_rows")
        X = check_numeric(self, X, reset=True)
        target = check_target(y, X)
        weight = check_sample_weight(sample_weight, len(target))
        X, target, weight = drop_weightless(X, target, weight)
        rng = check_random_state(self.random_state)
        if len(target) > self.max_rows:
            rows = rng.choice(len(target), self.max_rows, replace=False)
            X, target = X[rows], target[rows]
            weight = None if weight is None else weight[rows]
        self.inputs_, self.target_ = Standard.of(X), Standard.of(target)
        signal = self.kernel
        if signal is None:
            scales = np.full(X.shape[1], float(np.sqrt(X.shape[1])))
            signal = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(scales, (1e-2, 1e5))
        noise = NoiseByWeight(0.1, (1e-8, 1e1), weight=weight)
        self.process_ = GaussianProcessRegressor(
            clone(signal) + noise, alpha=1e-8, random_state=rng.randint(2**31 - 1)
        )
        _fit_quietly(self.process_, self.inputs_.apply(X), self.target_.apply(target))
        self.noise_ = float(np.sqrt(self._noise_variance) * self.target_.deviation)
        return self

    @property
    def _noise_variance(self) -> float:
        return self.process_.kernel_.k2.noise_level

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the posterior mean (n,)."""
        check_is_fitted(self, "process_")
        X = check_numeric(self, X, reset=False)
        pieces = chunks(self.inputs_.apply(X), self._rows)
        return self.target_.undo(concatenate([self.process_.predict(rows) for rows in pieces]))

    def predict_with_widths(self, X: TableLike) -> CenterAndWidths:
        """Return the center (n,) and the epistemic widths (n, 2, k), the same below and above."""
        check_is_fitted(self, "process_")
        X = check_numeric(self, X, reset=False)
        pieces = chunks(self.inputs_.apply(X), self._rows)
        moments = concatenate([self._mean_and_deviation(rows) for rows in pieces])
        widths = moments[:, 1, None] * normal_distances(check_levels(self.confidence_level))
        widths = widths * self.target_.deviation
        return CenterAndWidths(
            self.target_.undo(moments[:, 0]), np.repeat(widths[:, None], 2, axis=1)
        )

    @property
    def _rows(self) -> int:
        return len(self.process_.X_train_)

    def _mean_and_deviation(self, X: np.ndarray) -> np.ndarray:
        mean, deviation = self.process_.predict(X, return_std=True)
        without_noise = np.maximum(deviation**2 - self._noise_variance, 0)
        return np.stack([mean, np.sqrt(without_noise)], axis=1)


def _fit_quietly(process: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Fit without a warning about a length scale at its bound, which a useless column causes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        process.fit(X, y)
