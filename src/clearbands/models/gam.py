"""Additive expectile regression: one spline basis, refitted on every bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal

import numpy as np
from sklearn.base import clone

from clearbands.engine.threads import one_blas_thread, run_threads
from clearbands.models.expectiles import (
    WeightedRows,
    choose_smoothing,
    fit_expectiles,
    safe_ridge,
)
from clearbands.models.quantile_model import QuantileModel, TooLarge
from clearbands.rows.draws import few_missing_rows
from clearbands.rows.weighting import mean_of


@dataclass(frozen=True)
class SplineBasis:
    """A map from columns to terms: an intercept, straight lines, then the splines of each column.

    The splines of a column sum to one everywhere, also beyond its range. With an intercept, the
    last of them is therefore redundant and left out. The fit stays the same, and the normal
    equations have one solution.
    """

    low: np.ndarray  # (d,)
    span: np.ndarray  # (d,): largest minus smallest value, 0 for a constant column
    straight: np.ndarray  # (d,) bool: the column has two values, so a straight line is enough
    n_splines: int
    spline_order: int

    @classmethod
    def from_data(cls, X: np.ndarray, n_splines: int, spline_order: int) -> SplineBasis:
        low, high = X.min(axis=0), X.max(axis=0)
        with np.errstate(over="ignore"):
            span = high - low
        check_finite(span)
        straight = np.all((X == low) | (X == high), axis=0) & (high > low)
        return cls(low, span, straight, n_splines, spline_order)

    @property
    def curved(self) -> np.ndarray:
        return (self.span > 0) & ~self.straight

    @property
    def n_terms(self) -> int:
        return int(1 + self.straight.sum() + self.curved.sum() * (self.n_splines - 1))

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Return the terms (n, p) of rows."""
        curved, straight = self.curved, self.straight
        n_lines = 1 + int(straight.sum())
        terms = np.empty((len(X), self.n_terms))
        terms[:, 0] = 1
        terms[:, 1:n_lines] = (X[:, straight] - self.low[straight]) / self.span[straight]
        if curved.any():
            # Imported late: numba takes a second to load, which `import clearbands` should not.
            from clearbands.engine.compiled import whole_and_read_only
            from clearbands.engine.spline_kernel import fill_splines

            rows, low, span = map(whole_and_read_only, (np.asarray(X, float), self.low, self.span))
            numbers = np.flatnonzero(curved)
            fill_splines(
                rows, numbers, low, span, self.n_splines, self.spline_order, n_lines, terms
            )
        return terms

    def roughness(self) -> np.ndarray:
        """Return the matrix (p, p) of the sum of squared second differences of coefficients."""
        differences = np.diff(np.eye(self.n_splines), n=2, axis=0)[:, :-1]
        n_lines = 1 + self.straight.sum()
        n_curves = self.curved.sum()
        roughness = np.zeros((self.n_terms, self.n_terms))
        roughness[n_lines:, n_lines:] = np.kron(np.eye(n_curves), differences.T @ differences)
        return roughness


def check_finite(numbers: np.ndarray) -> None:
    if not np.isfinite(numbers).all():
        raise ValueError(
            "ExpectileGAM cannot be fitted in double precision: its numbers overflow. "
            "Rescale X and y to moderate values."
        )


MAX_TERMS = 2_000  # a fit holds their square in memory and takes time with their cube
MAX_NUMBERS = 250_000_000  # the most rows times terms, which take 2 GB


class ExpectileGAM(QuantileModel):
    """Expectiles of y as a sum of smooth functions, one per column of X.

    Every function is a penalised B-spline on uniform knots over the range of its column and goes
    on as a straight line beyond it. A column with two values, such as a dummy, needs only a
    straight line, which is the same fit; a constant column is left out.

    At the levels `quantiles` the model predicts expectiles, not quantiles. The expectile at the
    level tau minimises squared errors that weigh tau above the fit and 1 - tau below it; at 0.5 it
    is the mean. Expectiles of other levels lie closer together than the quantiles of these levels.
    As widths they have the right shape, and calibration corrects their scale.

    The cost grows with the cube of the number of splines. The model refuses more than 2,000
    splines, that is more than 222 columns of ten, and so many rows that their splines would take 2
    GB.

    Parameters
    ----------
    quantiles : sequence of float
        The levels to predict, rising and strictly between 0 and 1.
    n_splines : int
        How many splines each column has; it must be more than `spline_order`.
    spline_order : int
        The degree of the splines, at least 1.
    smoothing : "gcv" or float
        A number of at least 0 that multiplies the squared second differences of the coefficients,
        the same for all columns. "gcv" takes the value of `SMOOTHING_GRID` with the best
        generalised cross-validation at the level 0.5 on the whole training set; bootstraps share
        it, as they share the knots.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat(np.linspace(0, 1, 50), 4).reshape(-1, 1)
    >>> y = 10 * X[:, 0] ** 2 + np.tile([-1.0, 0.0, 0.0, 1.0], 50)
    >>> model = ExpectileGAM(quantiles=(0.1, 0.5, 0.9)).fit(X, y)
    >>> model.predict_quantiles([[0.25], [0.75]]).round(1)
    array([[0. , 0.7, 1.3],
           [5. , 5.7, 6.3]])
    """

    def __init__(
        self,
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        *,
        n_splines: int = 10,
        spline_order: int = 3,
        smoothing: float | Literal["gcv"] = "gcv",
    ):
        self.quantiles = quantiles
        self.n_splines = n_splines
        self.spline_order = spline_order
        self.smoothing = smoothing

    def check_parameters(self) -> None:
        super().check_parameters()
        _check_splines(self.n_splines, self.spline_order)
        _check_smoothing(self.smoothing)

    def fit_bag(
        self,
        X: np.ndarray,
        y: np.ndarray,
        counts: np.ndarray,
        *,
        weight: np.ndarray | None = None,
        n_jobs: int | None = None,
        stage: str = "fit",
    ) -> GAMBag:
        levels = np.asarray(self.quantiles, float)
        basis = SplineBasis.from_data(X, self.n_splines, self.spline_order)
        _check_size(len(X), basis.n_terms)
        design = basis.apply(X)
        center, scale = _mean_and_deviation(y, weight)
        target = (y - center) / scale
        coef = np.empty((len(counts), len(levels), design.shape[1]))
        with one_blas_thread():
            ones = np.ones(len(y)) if weight is None else weight
            everything = WeightedRows.from_counts(design, target, ones)
            ridge = safe_ridge(everything.gram)
            smoothing = self.smoothing
            if smoothing == "gcv":
                smoothing = choose_smoothing(everything, basis.roughness(), ridge)
            penalty = smoothing * basis.roughness()
            penalty[np.diag_indices_from(penalty)] += ridge
            starts = fit_expectiles(everything, levels, penalty)

            def fit_member(i: int, stop: np.ndarray) -> None:
                if not stop[0]:
                    out = few_missing_rows(counts[i][ones > 0])
                    if out is None:
                        drawn = WeightedRows.from_counts(design, target, counts[i] * ones)
                    else:
                        drawn = everything.without_rows(out)
                    coef[i] = fit_expectiles(drawn, levels, penalty, starts)

            run_threads(fit_member, len(counts), n_jobs=n_jobs, stage=stage)
        coef *= scale
        coef[:, :, 0] += center
        check_finite(coef)
        return GAMBag(basis, coef, float(smoothing))

    def with_choices_of(self, bag: GAMBag) -> ExpectileGAM:
        """Return the model, unfitted, with the smoothing that a bag chose."""
        return clone(self).set_params(smoothing=bag.smoothing)


@dataclass(frozen=True)
class GAMBag:
    """A bag of members that differ only in their coefficients."""

    basis: SplineBasis
    coef: np.ndarray  # (b, q, p)
    smoothing: float

    def predict_members(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions (n, q, b), where each member's expectiles rise along q."""
        n_members, n_levels, n_terms = self.coef.shape
        side_by_side = self.coef.transpose(1, 0, 2).reshape(-1, n_terms)
        predictions = self.basis.apply(np.asarray(X, float)) @ side_by_side.T
        return np.sort(predictions.reshape(-1, n_levels, n_members), axis=1)


def _mean_and_deviation(y: np.ndarray, weight: np.ndarray | None) -> tuple[float, float]:
    with np.errstate(over="ignore", invalid="ignore"):
        center = mean_of(y, weight)
        scale = np.max(np.abs(y - center))
    check_finite(scale)
    return float(center), float(scale) or 1.0


def _check_splines(n_splines: int, spline_order: int) -> None:
    whole = isinstance(n_splines, Integral) and isinstance(spline_order, Integral)
    if not whole or spline_order < 1 or n_splines <= spline_order:
        raise ValueError(
            "n_splines and spline_order must be whole numbers with n_splines > spline_order >= 1, "
            f"got n_splines={n_splines!r} and spline_order={spline_order!r}."
        )


def _check_smoothing(smoothing: object) -> None:
    if isinstance(smoothing, str) and smoothing == "gcv":
        return
    if not isinstance(smoothing, Real) or not 0 <= float(smoothing) < np.inf:
        raise ValueError(f'smoothing must be "gcv" or a number of at least 0, got {smoothing!r}.')


def _check_size(n_rows: int, n_terms: int) -> None:
    if n_terms > MAX_TERMS or n_rows * n_terms > MAX_NUMBERS:
        raise TooLarge(
            f"ExpectileGAM would need {n_terms:,} splines for {n_rows:,} rows; it takes at most "
            f"{MAX_TERMS:,}, and {MAX_NUMBERS // max(n_terms, 1):,} rows of so many. "
            "Give it fewer columns or a smaller n_splines, or take a model of trees."
        )
