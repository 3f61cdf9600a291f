"""A spline basis: columns of numbers to the terms of an additive model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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
        """(n, p)"""
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
        """(p, p): coefficients to the sum of their squared second differences."""
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
