"""Additive expectile regression: one spline basis, refitted on every bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from sklearn.preprocessing import SplineTransformer
from threadpoolctl import threadpool_limits

from clearbands.engine.threads import run_threads
from clearbands.quantile_models.base import QuantileModel, check_quantiles

SMOOTHING_GRID = np.logspace(-3, 3, 11)
GCV_INFLATION = 1.4  # what a degree of freedom costs in the criterion: 1 is known to undersmooth
SMALLEST_RIDGE = np.sqrt(np.finfo(float).eps)
MAX_ITERATIONS = 100
SETTLED = 1e-10  # movement of the fit, in units of the largest deviation of y, that ends it


class ExpectileGAM(QuantileModel):
    """Expectiles of y as a sum of smooth functions, one per column of X.

    Every function is a penalised B-spline on uniform knots over the range of its column and goes
    on as a straight line beyond it. A column with two values, such as a dummy, needs only a
    straight line, which is the same fit; a constant column is left out.

    What it predicts at the levels `quantiles` are expectiles, not quantiles: the level tau is
    the minimum of squared errors that weigh tau above the fit and 1 - tau below. At 0.5 that is
    the mean. Away from it expectiles lie closer together than the quantiles of the same levels;
    as widths they have the right shape, and calibration takes care of the scale.

    Parameters
    ----------
    quantiles : rising levels strictly between 0 and 1.
    n_splines : splines per column, more than `spline_order`.
    spline_order : degree of the splines, at least 1.
    smoothing : "gcv", or a number of at least 0 that multiplies the squared second differences
        of the coefficients, the same for all columns. "gcv" takes the value of `SMOOTHING_GRID`
        with the best generalised cross-validation at the level 0.5 on the whole training set;
        bootstraps share it, as they share the knots.
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

    def fit_bag(
        self,
        X: np.ndarray,
        y: np.ndarray,
        counts: np.ndarray,
        *,
        n_jobs: int | None = None,
        stage: str = "fit",
    ) -> GAMBag:
        levels = check_quantiles(self.quantiles)
        _check_splines(self.n_splines, self.spline_order)
        _check_smoothing(self.smoothing)
        basis = SplineBasis.from_data(X, self.n_splines, self.spline_order)
        design = basis.apply(X)
        center, scale = _location_and_scale(y)
        target = (y - center) / scale
        coef = np.empty((len(counts), len(levels), design.shape[1]))
        # Our threads share out the bootstraps; a second layer of threads inside BLAS would only
        # compete with them, and could change the last digits with n_jobs.
        with threadpool_limits(1, user_api="blas"):
            everything = WeightedRows.from_counts(design, target, np.ones(len(y)))
            ridge = _safe_ridge(everything.gram)
            smoothing = self.smoothing
            if smoothing == "gcv":
                smoothing = choose_smoothing(design, target, basis.roughness(), ridge)
            penalty = smoothing * basis.roughness()
            penalty[np.diag_indices_from(penalty)] += ridge
            starts = fit_expectiles(everything, levels, penalty)

            def fit_member(i: int, stop: np.ndarray) -> None:
                if not stop[0]:
                    drawn = WeightedRows.from_counts(design, target, counts[i])
                    coef[i] = fit_expectiles(drawn, levels, penalty, starts)

            run_threads(fit_member, len(counts), n_jobs=n_jobs, stage=stage)
        coef *= scale
        coef[:, :, 0] += center
        _check_finite(coef)
        return GAMBag(basis, coef, float(smoothing))


@dataclass(frozen=True)
class GAMBag:
    """Members that differ in their coefficients only."""

    basis: SplineBasis
    coef: np.ndarray  # (b, q, p)
    smoothing: float

    def predict_members(self, X: np.ndarray) -> np.ndarray:
        """(n, q, b), every member sorted along q."""
        n_members, n_levels, n_terms = self.coef.shape
        side_by_side = self.coef.transpose(1, 0, 2).reshape(-1, n_terms)
        predictions = self.basis.apply(np.asarray(X, float)) @ side_by_side.T
        return np.sort(predictions.reshape(-1, n_levels, n_members), axis=1)


@dataclass(frozen=True)
class SplineBasis:
    """From columns to terms: an intercept, straight lines, then the splines column by column.

    The splines of a column sum to one everywhere, also beyond its range, so with an intercept
    the last of them is redundant: it is left out and its coefficient is zero. The fit stays the
    same and the normal equations have one solution.
    """

    low: np.ndarray  # (d,)
    span: np.ndarray  # (d,): largest minus smallest value, 0 for a constant column
    straight: np.ndarray  # (d,) bool: two values, so every function of them is a straight line
    n_splines: int
    spline_order: int

    @classmethod
    def from_data(cls, X: np.ndarray, n_splines: int, spline_order: int) -> SplineBasis:
        low, high = X.min(axis=0), X.max(axis=0)
        with np.errstate(over="ignore"):
            span = high - low
        _check_finite(span)
        straight = np.all((X == low) | (X == high), axis=0) & (high > low)
        return cls(low, span, straight, n_splines, spline_order)

    @property
    def curved(self) -> np.ndarray:
        return (self.span > 0) & ~self.straight

    def apply(self, X: np.ndarray) -> np.ndarray:
        """(n, p)"""
        curved, straight = self.curved, self.straight
        n_lines = 1 + straight.sum()
        terms = np.empty((len(X), n_lines + curved.sum() * (self.n_splines - 1)))
        terms[:, 0] = 1
        terms[:, 1:n_lines] = (X[:, straight] - self.low[straight]) / self.span[straight]
        if curved.any():
            unit = (X[:, curved] - self.low[curved]) / self.span[curved]
            # On the unit interval all columns have the same knots, so they go through as one.
            splines = self._splines().transform(unit.reshape(-1, 1))
            terms[:, n_lines:] = splines.reshape(len(X), -1)
        return terms

    def _splines(self) -> SplineTransformer:
        knots = np.linspace(0, 1, self.n_splines - self.spline_order + 1)[:, None]
        return SplineTransformer(
            degree=self.spline_order, knots=knots, extrapolation="linear", include_bias=False
        ).fit(knots)

    def roughness(self) -> np.ndarray:
        """(p, p): coefficients to the sum of their squared second differences."""
        differences = np.diff(np.eye(self.n_splines), n=2, axis=0)[:, :-1]
        n_lines = 1 + self.straight.sum()
        n_curves = self.curved.sum()
        size = n_lines + n_curves * (self.n_splines - 1)
        roughness = np.zeros((size, size))
        roughness[n_lines:, n_lines:] = np.kron(np.eye(n_curves), differences.T @ differences)
        return roughness


@dataclass(frozen=True)
class WeightedRows:
    """Rows of the design times the root of their weights, and the sums that do not change.

    The rows that weigh nothing are gone.
    """

    design: np.ndarray  # (m, p)
    target: np.ndarray  # (m,)
    gram: np.ndarray  # (p, p)
    moment: np.ndarray  # (p,)

    @classmethod
    def from_counts(
        cls, design: np.ndarray, target: np.ndarray, counts: np.ndarray
    ) -> WeightedRows:
        rows = np.flatnonzero(counts)
        root = np.sqrt(counts[rows], dtype=float)
        weighted = design[rows]
        weighted *= root[:, None]
        weighted_target = target[rows] * root
        return cls(weighted, weighted_target, weighted.T @ weighted, weighted.T @ weighted_target)


def fit_expectiles(
    rows: WeightedRows,
    levels: np.ndarray,
    penalty: np.ndarray,
    starts: np.ndarray | None = None,
) -> np.ndarray:
    """(q, p): the coefficients of every level; `starts` (q, p) only saves time."""
    if starts is None:
        mean = solve_positive(0.5 * rows.gram + penalty, 0.5 * rows.moment)
        starts = np.broadcast_to(mean, (len(levels), len(mean)))
    return np.stack(
        [
            _fit_expectile(rows, level, penalty, start)
            for level, start in zip(levels, starts, strict=True)
        ]
    )


def _fit_expectile(
    rows: WeightedRows, level: float, penalty: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """Iteratively reweighted least squares; exact once no residual changes its sign.

    All rows carry the lighter of the two weights, and those on the heavy side of the fit the
    rest: at levels far from 0.5 they are few, and only their part of the sums is new.
    """
    lighter, rest = min(level, 1 - level), abs(2 * level - 1)
    if rest == 0:
        return solve_positive(lighter * rows.gram + penalty, lighter * rows.moment)
    coef, residual = start, rows.target - rows.design @ start
    for _ in range(MAX_ITERATIONS):
        heavy = _is_heavy(residual, level)
        design, target = rows.design[heavy], rows.target[heavy]
        solved = solve_positive(
            lighter * rows.gram + rest * (design.T @ design) + penalty,
            lighter * rows.moment + rest * (design.T @ target),
        )
        solved_residual = rows.target - rows.design @ solved
        if np.array_equal(heavy, _is_heavy(solved_residual, level)):
            return solved
        if np.max(np.abs(solved_residual - residual)) < SETTLED:
            return solved  # only residuals of zero still change their sign
        step = _downhill_step(level, penalty, (coef, residual), (solved, solved_residual))
        coef = coef + step * (solved - coef)
        residual = residual + step * (solved_residual - residual)
    raise ValueError(
        f"The expectile at level {level} did not settle in {MAX_ITERATIONS} iterations. "
        "A larger smoothing or a level nearer to 0.5 makes the problem easier."
    )


def _is_heavy(residual: np.ndarray, level: float) -> np.ndarray:
    return residual > 0 if level > 0.5 else residual < 0


def _downhill_step(
    level: float,
    penalty: np.ndarray,
    here: tuple[np.ndarray, np.ndarray],
    there: tuple[np.ndarray, np.ndarray],
) -> float:
    """How far to go from here to there, each (coef, residual), for a smaller loss.

    The full step is the rule; without the shorter ones the iteration could go round in circles.
    """

    def loss(step: float) -> float:
        coef, residual = (a + step * (b - a) for a, b in zip(here, there, strict=True))
        weights = np.where(residual > 0, level, 1 - level)
        return float(weights @ residual**2 + coef @ penalty @ coef)

    step, start = 1.0, loss(0.0)
    while loss(step) > start and step > 1e-6:
        step /= 2
    return step


def choose_smoothing(
    design: np.ndarray, target: np.ndarray, roughness: np.ndarray, ridge: float
) -> float:
    """The value of `SMOOTHING_GRID` with the least generalised cross-validation at level 0.5."""
    scores = gcv_scores(design, target, roughness, ridge)
    return float(SMOOTHING_GRID[_first_least(scores)])


def gcv_scores(
    design: np.ndarray, target: np.ndarray, roughness: np.ndarray, ridge: float
) -> np.ndarray:
    """Generalised cross-validation for every value of `SMOOTHING_GRID`, inf where it has none.

    One decomposition serves all values. It is taken against gram + penalty, not against either
    alone, because both are singular as a rule (splines without rows; straight lines). `shares`
    is then the part, from 0 to 1, that the data have in each direction of the sum.
    """
    gram = 0.5 * (design.T @ design)
    penalty = roughness + ridge * np.eye(len(roughness))
    try:
        shares, axes = eigh(gram, gram + penalty, check_finite=False)
    except LinAlgError as error:
        raise ValueError(SINGULAR) from error
    shares = np.clip(shares, 0, 1)[:, None]
    shrinkage = 1 / (shares + SMOOTHING_GRID * (1 - shares))
    moment = 0.5 * (axes.T @ (design.T @ target))
    fits = design @ (axes @ (shrinkage * moment[:, None]))
    squares = np.sum((target[:, None] - fits) ** 2, axis=0)
    left_over = len(target) - GCV_INFLATION * np.sum(shares * shrinkage, axis=0)
    scores = np.full(len(SMOOTHING_GRID), np.inf)
    usable = left_over > 0  # else the fit uses up the rows and its residuals say nothing
    scores[usable] = len(target) * squares[usable] / left_over[usable] ** 2
    return scores


def _first_least(scores: np.ndarray) -> int:
    """The least smoothing of the best; the most if there are too few rows to judge any."""
    return int(np.argmin(scores)) if np.isfinite(scores).any() else len(scores) - 1


SINGULAR = (
    "ExpectileGAM cannot solve its normal equations: they are singular in double precision. "
    "Remove columns that repeat others, or raise smoothing."
)


def solve_positive(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve for a positive definite matrix, which is used up."""
    try:
        # The transpose of a symmetric matrix is itself, in the memory order LAPACK works in.
        factor = cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError as error:
        raise ValueError(SINGULAR) from error
    return cho_solve(factor, right, check_finite=False)


def _safe_ridge(gram: np.ndarray) -> float:
    """Too small to be seen in the fit, large enough for Cholesky where columns are collinear."""
    rounding = len(gram) * np.finfo(float).eps * np.trace(gram)
    return max(SMALLEST_RIDGE, rounding)


def _location_and_scale(y: np.ndarray) -> tuple[float, float]:
    with np.errstate(over="ignore", invalid="ignore"):
        center = np.mean(y)
        scale = np.max(np.abs(y - center))
    _check_finite(scale)
    return float(center), float(scale) or 1.0


def _check_finite(numbers: np.ndarray) -> None:
    if not np.isfinite(numbers).all():
        raise ValueError(
            "ExpectileGAM cannot be fitted in double precision: its numbers overflow. "
            "Rescale X and y to moderate values."
        )


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
