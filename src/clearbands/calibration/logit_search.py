"""The two constants of member logits that make held-out classes most likely.

With a = c1 and b = c1 c2 the logits a * mean + b * deviation are linear in (a, b), and gradient and
Hessian of the negative log-likelihood are means and covariances over the classes. It is no convex
problem: Newton's method runs from several starts, and how flat the loss is where it ends is kept.
Far out, where members no longer weigh but vote, few rows have spurious minima: the search ends
where the logits, or their deviations, are 8 on average (or larger, as they were given).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

LOWEST = np.array([1e-6, 0.0])  # of a and b, as the root mean square of what they scale
HIGHEST = 8.0
FLAWLESS = 1e-6  # a loss that only rows without an error reach
# Where searches may start. Without any spread the loss is flat in b, minimum or not: none does.
STARTS = np.geomspace(0.1, 8, 10)
N_SCANNED = 300  # rows that decide which starts are worth a search
TOLERANCE = 1e-9  # of the projected gradient
MAX_STEPS = 200


@dataclass(frozen=True)
class Constants:
    """What scales all logits (c1), what scales their spread (c2), and what came of it."""

    c1: float
    c2: float
    loss: float  # what was minimised
    gradient_norm: float  # per relative change of the logits; at a bound, of what may still move
    is_limited: bool  # whether the rows set the limit, and not the end of the search


@dataclass(frozen=True)
class Logits:
    """Member logits of rows whose class is known, taken apart, each part in units of its size."""

    y: np.ndarray  # (n,) whole numbers
    mean: np.ndarray  # (n, 1, classes)
    deviation: np.ndarray  # (n, m, classes)
    sizes: np.ndarray  # (2,): root mean squares of mean and deviation
    prior_rows: float

    @classmethod
    def of(cls, y: np.ndarray, logits: np.ndarray, prior_rows: float) -> Logits:
        centred = logits - logits.mean(axis=2, keepdims=True)  # the softmax does not see the mean
        mean = centred.mean(axis=1, keepdims=True)
        parts = mean, centred - mean
        sizes = np.array([np.sqrt(np.mean(part**2)) for part in parts])
        sizes[sizes <= 1e-12 * sizes.sum()] = 0.0  # nothing but the last digits
        units = np.where(sizes > 0, sizes, 1.0)
        return cls(y, mean / units[0], parts[1] / units[1], sizes, prior_rows)

    @property
    def highest(self) -> np.ndarray:
        return np.maximum(HIGHEST, self.sizes)

    def every(self, step: int) -> Logits:
        rows = slice(None, None, step)
        return Logits(
            self.y[rows], self.mean[rows], self.deviation[rows], self.sizes, self.prior_rows
        )

    def labels(self) -> Iterator[tuple[np.ndarray, float]]:
        """Classes (n,) and their weight: those seen, and each class for the rows of chance."""
        n, n_classes = len(self.y), self.mean.shape[2]
        yield self.y, n / (n + self.prior_rows)
        if self.prior_rows:
            for label in range(n_classes):
                weight = self.prior_rows / (n + self.prior_rows) / n_classes
                yield np.full(n, label), weight

    def loss(self, at: np.ndarray) -> float:
        log_p = self._log_p(at)
        total = 0.0
        for y, weight in self.labels():
            own = _of_class(log_p, y)
            top = own.max(axis=1, keepdims=True)
            pooled = np.log(np.exp(own - top).mean(axis=1)) + top[:, 0]
            total -= weight * float(pooled.mean())
        return total

    def derivatives(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient (2,) and Hessian (2, 2) of the loss."""
        log_p = self._log_p(at)
        expected, covariance = self._moments(np.exp(log_p))
        gradient, hessian = np.zeros(2), np.zeros((2, 2))
        for y, weight in self.labels():
            share = _of_class(log_p, y)
            share = np.exp(share - share.max(axis=1, keepdims=True))
            share /= share.sum(axis=1, keepdims=True)  # of each member in the pooled probability
            own = np.empty_like(expected)
            own[0] = _of_class(self.mean, y)
            own[1] = _of_class(self.deviation, y)
            pull = own - expected  # the gradient of each member's log-probability
            mean_pull = (share * pull).sum(axis=2)
            gradient -= weight * mean_pull.mean(axis=1)
            curvature = (share * (covariance - pull[:, None] * pull[None])).sum(axis=(2, 3))
            hessian += weight * (curvature + mean_pull @ mean_pull.T) / len(y)
        return gradient, hessian

    def _log_p(self, at: np.ndarray) -> np.ndarray:
        """(n, m, classes): log-probabilities of the members."""
        z = at[0] * self.mean + at[1] * self.deviation
        z -= z.max(axis=2, keepdims=True)
        return z - np.log(np.exp(z).sum(axis=2, keepdims=True))

    def _moments(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Over the classes: expectations (2, n, m) and covariances (2, 2, n, m) of both parts."""
        u, v = self.mean, self.deviation
        weighted = p * u, p * v
        expected = np.stack([part.sum(axis=2) for part in weighted])
        crossed = (weighted[0] * v).sum(axis=2)
        squares = [(part * own).sum(axis=2) for part, own in zip(weighted, (u, v), strict=True)]
        products = np.array([[squares[0], crossed], [crossed, squares[1]]])
        return expected, products - expected[:, None] * expected[None]


def _of_class(values: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(n, m) of (n, m, classes): those of each row's class."""
    return np.take_along_axis(values, y[:, None, None], axis=2)[:, :, 0]


def search_constants(y: np.ndarray, logits: np.ndarray, prior_rows: float = 0.0) -> Constants:
    """The c1 and c2 of the lowest loss that Newton's method finds from several starts.

    y (n,) are whole numbers, logits (n, m, classes). `prior_rows` rows of a class drawn by chance
    are added to the loss, spread over all rows.
    """
    problem = Logits.of(y, logits, prior_rows)
    ends = (_descend(problem, start) for start in _starts(problem))
    end = _rounded(problem, min(ends, key=lambda end: end.loss))
    is_there = problem.sizes > 0  # on a part that is not, nothing depends
    a, b = np.divide(end.at, problem.sizes, out=np.ones(2), where=is_there).tolist()
    return Constants(
        c1=a,
        c2=b / a if is_there.all() else 1.0,
        loss=end.loss,
        gradient_norm=end.gradient_norm,
        is_limited=end.loss > FLAWLESS and not np.any((end.at >= problem.highest) & is_there),
    )


@dataclass(frozen=True)
class _End:
    at: np.ndarray  # (2,): a and b
    loss: float
    gradient_norm: float


def _starts(problem: Logits) -> list[np.ndarray]:
    """The logits as they are, and the points of a grid that no neighbour is lower than."""
    sample = problem.every(max(1, len(problem.y) // N_SCANNED))
    losses = np.array([[sample.loss(np.array([a, b])) for b in STARTS] for a in STARTS])
    padded = np.pad(losses, 1, constant_values=np.inf)
    around = np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).min(axis=(2, 3))
    return [problem.sizes, *STARTS[np.argwhere(losses <= around)]]


def _rounded(problem: Logits, end: _End) -> _End:
    """An end that has all but arrived at b = 0 is put there."""
    bare = np.array([end.at[0], 0.0])
    if end.at[1] > 1e-4 or (loss := problem.loss(bare)) > end.loss + 1e-12:
        return end
    return _End(bare, loss, end.gradient_norm)


def _descend(problem: Logits, at: np.ndarray) -> _End:
    """Newton steps between the bounds, halved until the loss falls."""
    highest = problem.highest
    at = np.clip(at, LOWEST, highest)
    loss, norm = problem.loss(at), np.inf
    for _ in range(MAX_STEPS):
        gradient, hessian = problem.derivatives(at)
        at_bound = ((at <= LOWEST) & (gradient > 0)) | ((at >= highest) & (gradient < 0))
        free = ~at_bound & (problem.sizes > 0)
        norm = float(np.linalg.norm(gradient[free]))
        if norm <= TOLERANCE:
            break
        step = np.zeros(2)
        step[free] = -_solve(hessian[np.ix_(free, free)], gradient[free])
        lower = _line_search(problem, at, step, gradient, loss)
        if lower is None:  # as low as the digits go
            break
        at, loss = lower
    return _End(at, loss, norm)


def _solve(hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The Newton step, with the curvature made positive where the loss is not convex."""
    values, vectors = np.linalg.eigh(hessian)
    values = np.maximum(np.abs(values), 1e-10)
    return vectors @ ((vectors.T @ gradient) / values)


def _line_search(
    problem: Logits, at: np.ndarray, step: np.ndarray, gradient: np.ndarray, loss: float
) -> tuple[np.ndarray, float] | None:
    length = 1.0
    while length > 1e-10:
        new = np.clip(at + length * step, LOWEST, problem.highest)
        new_loss = problem.loss(new)
        if new_loss < loss and new_loss <= loss + 1e-4 * float(gradient @ (new - at)):
            return new, new_loss
        length /= 2
    return None
