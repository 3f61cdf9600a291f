"""Columns rotated and stretched until a smooth function changes equally fast in all directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np

from clearbands.models.kernels import Kernel, distances_between

FARTHEST = 6.0
"""Values farther from the mean than this many standard deviations are clipped."""

MAX_KNOTS = 1_000
SCALES: tuple[float, ...] = (0.7, 1.5, 3.0)  # length scales of the kernel, in median distances
RIDGES = (1e-5, 1e-3, 1e-2, 1e-1, 1.0)
ROUNDS = 3
SETTLED = 2  # rounds after which the best of the scales, which hardly changes any more, is kept
ENOUGH = 1e-12  # directions with less than this share of the largest squared gradient are raised


@dataclass(frozen=True)
class Coordinates:
    """A map of columns (n, d) to coordinates (n, d) whose distances tell how much y may change."""

    knots: Sequence[tuple[np.ndarray, np.ndarray]] | None  # values and ranks of each column
    origin: np.ndarray  # (d,)
    unit: np.ndarray  # (d,)
    turn: np.ndarray  # (d, d)

    @classmethod
    def from_data(cls, X: np.ndarray, weight: np.ndarray, *, by_rank: bool) -> Coordinates:
        """Scale the columns, or their ranks, to mean 0 and deviation 1, without a rotation."""
        n_columns = X.shape[1]
        knots = [_ranks(column, weight) for column in X.T] if by_rank else None
        plain = cls(knots, np.zeros(n_columns), np.ones(n_columns), np.eye(n_columns))
        values = plain._values(X)
        origin = np.average(values, axis=0, weights=weight)
        unit = np.sqrt(np.average((values - origin) ** 2, axis=0, weights=weight))
        tiny = unit <= 1e-12 * np.abs(values).max(axis=0, initial=0.0)
        return replace(plain, origin=origin, unit=np.where(tiny, 1.0, unit))

    def standard(self, X: np.ndarray) -> np.ndarray:
        """Return the clipped standardised columns, before they are rotated and stretched."""
        return np.clip((self._values(X) - self.origin) / self.unit, -FARTHEST, FARTHEST)

    def apply(self, X: np.ndarray) -> np.ndarray:
        return self.standard(X) @ self.turn

    def _values(self, X: np.ndarray) -> np.ndarray:
        if self.knots is None:
            return X
        columns = zip(X.T, self.knots, strict=True)
        return np.column_stack([np.interp(column, *knots) for column, knots in columns])


def _ranks(column: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values and their ranks: the share of lower rows plus half the share of equal ones."""
    values, number = np.unique(column, return_inverse=True)
    share = np.bincount(number, weight) / weight.sum()
    ranks = np.cumsum(share) - share / 2
    if len(values) > MAX_KNOTS:
        knots = np.unique(np.linspace(0, len(values) - 1, MAX_KNOTS).round().astype(int))
        values, ranks = values[knots], ranks[knots]
    return values, ranks


def learn_linear_map(Z: np.ndarray, t: np.ndarray, kernel: Kernel) -> tuple[np.ndarray, float]:
    """Return the map (d, d) of standardised columns and the length scale that predict t best.

    Every round fits t, finds the directions in which the fit changes fast, and stretches those.
    The round with the least leave-one-out error wins.
    """
    turn, gradient = np.eye(Z.shape[1]), None
    best = np.inf, turn, 1.0
    if len(Z) < 2:
        return turn, 1.0  # there are no distances
    pairs, factors = np.triu_indices(len(Z), 1), SCALES
    for done in range(ROUNDS + 1):
        if gradient is not None:
            turn = _stretch(gradient)
        S = Z @ turn
        D = distances_between(S, S)
        typical = float(np.median(D[pairs])) or 1.0
        scored = ((*_leave_one_out(kernel(D / (f * typical)), t), f) for f in factors)
        error, weights, factor = min(scored, key=itemgetter(0))
        if done + 1 >= SETTLED:
            factors = (factor,)
        scale = factor * typical
        if error < best[0]:
            best = error, turn, scale
        slope = kernel.slope(D / scale) * weights / scale**2
        gradient = (S * slope.sum(axis=1)[:, None] - slope @ S) @ turn.T
        if not np.abs(gradient).max() > 0:
            break
    return best[1], best[2]


def _stretch(gradient: np.ndarray) -> np.ndarray:
    """Return the fourth root of the mean outer product of the gradients.

    The square root would stretch fully; few rows only justify half of that.
    """
    size, directions = np.linalg.eigh(gradient.T @ gradient)
    size = np.sqrt(np.sqrt(np.maximum(size / size[-1], ENOUGH)))
    return (directions * size) @ directions.T


def _leave_one_out(K: np.ndarray, t: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the mean squared error at the best ridge, and the weights of the rows there."""
    size, vectors = np.linalg.eigh(K)
    inverse = 1 / (np.maximum(size, 0)[:, None] + np.array(RIDGES))
    weights = vectors @ (inverse * (vectors.T @ t)[:, None])  # (n, ridges)
    losses = np.mean((weights / (vectors**2 @ inverse)) ** 2, axis=0)
    best = int(np.argmin(losses))
    return float(losses[best]), weights[:, best]
