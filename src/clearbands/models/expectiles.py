"""Penalised expectile regression on a given design matrix, and the choice of the penalty."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

SMOOTHING_GRID = np.logspace(-3, 3, 11)
GCV_INFLATION = 1.4  # the cost of a degree of freedom in the criterion; 1 is known to undersmooth
SMALLEST_RIDGE = np.sqrt(np.finfo(float).eps)
MAX_ITERATIONS = 100
SETTLED = 1e-10  # iteration ends if the fit moves less, in units of the largest deviation of y


@dataclass(frozen=True)
class WeightedRows:
    """Rows of the design times the root of their weights, and the sums that all levels share.

    Rows of weight 0 are removed, or are not in `counted`.
    """

    design: np.ndarray  # (m, p)
    target: np.ndarray  # (m,)
    gram: np.ndarray  # (p, p): the sum over the rows that count
    moment: np.ndarray  # (p,)
    size: float  # the sum of the weights
    counted: np.ndarray | None = None  # the numbers of the rows that count; None for all

    @classmethod
    def from_counts(
        cls, design: np.ndarray, target: np.ndarray, counts: np.ndarray
    ) -> WeightedRows:
        if counts.min() == counts.max() == 1:
            return cls.of(design, target, float(len(design)))
        rows = np.flatnonzero(counts)
        root = np.sqrt(counts[rows], dtype=float)
        weighted = design[rows]
        weighted *= root[:, None]
        return cls.of(weighted, target[rows] * root, float(counts.sum()))

    @classmethod
    def of(cls, design: np.ndarray, target: np.ndarray, size: float) -> WeightedRows:
        return cls(design, target, design.T @ design, design.T @ target, size)

    def without_rows(self, out: np.ndarray) -> WeightedRows:
        """Return all but the rows with these numbers, which are subtracted from the sums."""
        few = self.of(self.design[out], self.target[out], 0.0)
        gram, moment = self.gram - few.gram, self.moment - few.moment
        counted = np.delete(np.arange(len(self.target)), out)
        return replace(self, gram=gram, moment=moment, counted=counted)

    def drop_uncounted(self) -> WeightedRows:
        """Return the same rows without those that do not count."""
        if self.counted is None:
            return self
        own = self.design[self.counted], self.target[self.counted]
        return replace(self, design=own[0], target=own[1], counted=None)


def fit_expectiles(
    rows: WeightedRows,
    levels: np.ndarray,
    penalty: np.ndarray,
    starts: np.ndarray | None = None,
) -> np.ndarray:
    """Return the coefficients (q, p) of every level; `starts` (q, p) only saves time."""
    if np.any(np.asarray(levels) != 0.5):
        rows = rows.drop_uncounted()  # only the mean follows from the sums
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
    """Fit one level by iteratively reweighted least squares, until no residual changes its sign.

    All rows have the lighter of the two weights, and those on the heavy side of the fit have the
    rest in addition. At levels far from 0.5 the latter are few, and only their sums are new.
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
            return solved  # now only residuals of zero still change their sign
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
    """Return how far to go from here to there, each (coef, residual), for a smaller loss.

    The full step is the rule. Without shorter ones the iteration could go round in circles.
    """

    def loss(step: float) -> float:
        coef, residual = (a + step * (b - a) for a, b in zip(here, there, strict=True))
        weights = np.where(residual > 0, level, 1 - level)
        return float(weights @ residual**2 + coef @ penalty @ coef)

    step, start = 1.0, loss(0.0)
    while loss(step) > start and step > 1e-6:
        step /= 2
    return step


def choose_smoothing(rows: WeightedRows, roughness: np.ndarray, ridge: float) -> float:
    """Return the value of `SMOOTHING_GRID` with the least cross-validation score at level 0.5."""
    scores = gcv_scores(rows, roughness, ridge)
    return float(SMOOTHING_GRID[_first_least(scores)])


def gcv_scores(rows: WeightedRows, roughness: np.ndarray, ridge: float) -> np.ndarray:
    """Return the generalised cross-validation score of every value of `SMOOTHING_GRID`.

    A score is infinite if too few rows are left to judge the fit. One decomposition serves all
    values. It is taken against gram + penalty, because each of them alone is singular as a rule
    (splines without rows; straight lines). `shares` are then the shares, from 0 to 1, that the
    data have in each direction of the sum.
    """
    design, target = rows.design, rows.target
    gram = 0.5 * rows.gram
    penalty = roughness + ridge * np.eye(len(roughness))
    try:
        shares, axes = eigh(gram, gram + penalty, check_finite=False)
    except LinAlgError as error:
        raise ValueError(SINGULAR) from error
    shares = np.clip(shares, 0, 1)[:, None]
    shrinkage = 1 / (shares + SMOOTHING_GRID * (1 - shares))
    moment = 0.5 * (axes.T @ rows.moment)
    fits = design @ (axes @ (shrinkage * moment[:, None]))
    squares = np.sum((target[:, None] - fits) ** 2, axis=0)
    left_over = rows.size - GCV_INFLATION * np.sum(shares * shrinkage, axis=0)
    scores = np.full(len(SMOOTHING_GRID), np.inf)
    usable = left_over > 0  # otherwise the fit uses up the rows and its residuals tell nothing
    scores[usable] = rows.size * squares[usable] / left_over[usable] ** 2
    return scores


def _first_least(scores: np.ndarray) -> int:
    """Return the least smoothing of equal scores, or the most if no score is finite."""
    return int(np.argmin(scores)) if np.isfinite(scores).any() else len(scores) - 1


SINGULAR = (
    "ExpectileGAM cannot solve its normal equations: they are singular in double precision. "
    "Remove columns that repeat others, or raise smoothing."
)


def solve_positive(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve for a positive definite matrix, which is overwritten."""
    try:
        # A symmetric matrix equals its transpose, which has the memory order of LAPACK.
        factor = cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError as error:
        raise ValueError(SINGULAR) from error
    return cho_solve(factor, right, check_finite=False)


def safe_ridge(gram: np.ndarray) -> float:
    """Return a ridge too small to change the fit, but enough for Cholesky of collinear columns."""
    rounding = len(gram) * np.finfo(float).eps * np.trace(gram)
    return max(SMALLEST_RIDGE, rounding)
