"""Linear quantile regression, solved exactly as a linear programme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy.linalg import qr
from scipy.optimize import linprog

from clearbands.engine.threads import one_blas_thread, run_threads
from clearbands.models.quantile_model import QuantileModel

SAME_DIRECTION = 1e-8  # a standardised column this close to a sum of others adds rounding only
# The first attempt has the tightest tolerance of the solver, which bounds the residuals if an exact
# fit exists. If it cannot be kept, because residuals differ by many orders of magnitude, the second
# attempt has the solver's default. Older solvers may stop even then, but not with an interior-point
# method.
ATTEMPTS = (("highs", 1e-10), ("highs", 1e-7), ("highs-ipm", 1e-7))


class LinearQuantiles(QuantileModel):
    """Conditional quantiles that are linear in the columns of X.

    Columns are standardised inside. A column that is constant, or that follows linearly from other
    columns, gets the coefficient zero, so rows unlike the training rows get sensible predictions.

    Parameters
    ----------
    quantiles : sequence of float
        The levels to predict, rising and strictly between 0 and 1.
    alpha : float
        The weight of the sum of absolute coefficients of the standardised columns, which is added
        to the mean quantile loss. With 0 the coefficients are not penalised.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat(np.arange(10.0), 5).reshape(-1, 1)
    >>> y = 2 * X[:, 0] + np.tile([-1.0, -0.5, 0.0, 0.5, 1.0], 10)
    >>> model = LinearQuantiles(quantiles=(0.1, 0.5, 0.9)).fit(X, y)
    >>> model.predict_quantiles([[100.0]]).round(1)
    array([[199., 200., 201.]])
    """

    def __init__(self, quantiles: Sequence[float] = (0.05, 0.5, 0.95), *, alpha: float = 0.0):
        self.quantiles = quantiles
        self.alpha = alpha

    def check_parameters(self) -> None:
        super().check_parameters()
        _check_alpha(self.alpha)

    def fit_bag(
        self,
        X: np.ndarray,
        y: np.ndarray,
        counts: np.ndarray,
        *,
        weight: np.ndarray | None = None,
        n_jobs: int | None = None,
        stage: str = "fit",
    ) -> LinearBag:
        levels = np.asarray(self.quantiles, float)
        lines = np.empty((len(counts), len(levels), 1 + X.shape[1]))

        def fit_member(i: int, stop: np.ndarray) -> None:
            if not stop[0]:
                own = counts[i] if weight is None else counts[i] * weight
                lines[i] = fit_lines(X, y, own, levels, self.alpha)

        with one_blas_thread():
            run_threads(fit_member, len(counts), n_jobs=n_jobs, stage=stage)
        _check_finite(lines)
        return LinearBag(coef=lines[:, :, 1:], intercept=lines[:, :, 0])


@dataclass(frozen=True)
class LinearBag:
    """A bag of members that differ only in their coefficients."""

    coef: np.ndarray  # (b, q, d)
    intercept: np.ndarray  # (b, q)

    def predict_members(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions (n, q, b), where each member's quantiles rise along q."""
        n_members, n_levels, n_columns = self.coef.shape
        side_by_side = self.coef.transpose(1, 0, 2).reshape(-1, n_columns)
        predictions = np.asarray(X, float) @ side_by_side.T + self.intercept.T.reshape(-1)
        return np.sort(predictions.reshape(-1, n_levels, n_members), axis=1)


def fit_lines(
    X: np.ndarray, y: np.ndarray, counts: np.ndarray, levels: np.ndarray, alpha: float
) -> np.ndarray:
    """Return intercept and coefficients (q, 1 + d) of every level, for rows of weight `counts`."""
    drawn = np.flatnonzero(counts)
    X, y, weights = X[drawn], y[drawn], counts[drawn].astype(float)
    center, scale = _mean_and_deviation(X, weights)
    y_center, y_scale = _mean_and_deviation(y, weights)
    columns, target = (X - center) / scale, (y - y_center) / y_scale
    independent = np.arange(X.shape[1]) if alpha > 0 else independent_columns(columns, weights)
    lines = np.zeros((len(levels), 1 + X.shape[1]))
    for line, level in zip(lines, levels, strict=True):
        line[np.r_[0, 1 + independent]] = _solve(
            columns[:, independent], target, weights, level, alpha
        )
    lines[:, 1:] *= y_scale / scale
    lines[:, 0] = lines[:, 0] * y_scale + y_center - lines[:, 1:] @ center
    return lines


def _mean_and_deviation(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return weighted means and standard deviations of columns; constant ones have the scale 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        # Values are counted from the first row, so that the mean of a constant is not rounded.
        center = values[0] + np.average(values - values[0], axis=0, weights=weights)
        scale = np.sqrt(np.average((values - center) ** 2, axis=0, weights=weights))
    _check_finite(scale)
    constant = scale <= 10 * np.finfo(float).eps * np.max(np.abs(values), axis=0)
    return center, np.where(constant, 1.0, scale)


def independent_columns(columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the indices of independent columns that span all of these centered columns."""
    triangle, order = qr(
        columns * np.sqrt(weights)[:, None], mode="r", pivoting=True, check_finite=False
    )
    new_length = np.abs(np.diag(triangle))
    total = np.sqrt(weights.sum())  # the length of a standardised column
    return np.sort(order[: len(new_length)][new_length > SAME_DIRECTION * total])


def _solve(
    columns: np.ndarray, target: np.ndarray, weights: np.ndarray, level: float, alpha: float
) -> np.ndarray:
    """Return the line (1 + d,) with the least weighted quantile loss, from the dual problem.

    The dual has one constraint per column, the primal one per row, so that the dual is many times
    faster. It looks for prices of the rows within [-(1 - level), level] times their weight that
    earn most on the target, nothing on the intercept, and nothing on any column (with alpha > 0, a
    bounded amount). The coefficients are the multipliers of these constraints.
    """
    bounds = np.column_stack(((level - 1) * weights, level * weights))
    intercept = np.ones((1, len(target)))
    if alpha > 0:
        ceiling = np.full(2 * columns.shape[1], alpha * weights.sum())
        constraints = {
            "A_eq": intercept, "b_eq": np.zeros(1),
            "A_ub": np.vstack((columns.T, -columns.T)), "b_ub": ceiling,
        }  # fmt: skip
    else:
        together = np.vstack((intercept, columns.T))
        constraints = {"A_eq": together, "b_eq": np.zeros(len(together))}
    for method, tolerance in ATTEMPTS:
        options = {
            "primal_feasibility_tolerance": tolerance,
            "dual_feasibility_tolerance": tolerance,
            "presolve": False,  # it costs more than it saves: redundant columns are gone already
        }
        result = linprog(-target, bounds=bounds, method=method, options=options, **constraints)
        if result.status == 0:
            break
    else:
        raise RuntimeError(
            f"The linear programme of the quantile {level} was not solved: {result.message} "
            "Look for extreme values in X and y, or set alpha > 0."
        )
    if alpha > 0:
        rising, falling = np.split(result.ineqlin.marginals, 2)
        return np.concatenate((-result.eqlin.marginals, falling - rising))
    return -result.eqlin.marginals


def _check_finite(numbers: np.ndarray) -> None:
    if not np.isfinite(numbers).all():
        raise ValueError(
            "LinearQuantiles cannot be fitted in double precision: its numbers overflow. "
            "Rescale X and y to moderate values."
        )


def _check_alpha(alpha: object) -> None:
    if not isinstance(alpha, Real) or not 0 <= float(alpha) < np.inf:
        raise ValueError(f"alpha must be a number of at least 0, got {alpha!r}.")
