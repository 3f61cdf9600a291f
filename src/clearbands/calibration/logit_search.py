"""A search for the two constants of member logits that make held-out classes most likely.

With a = c1 and b = c1 c2 the logits a * mean + b * deviation are linear in (a, b), and gradient and
Hessian of the negative log-likelihood are means and covariances over the classes. Where members
agree, or there is only one, the loss is convex in a. Otherwise it is not: a grid on some rows shows
the valleys, and Newton's method descends into each, on few rows first, then on all. With very large
constants every member votes for one class, and few rows have spurious minima there: so the search
stops where the logits, or their deviations, have a root mean square of 8 (or a larger one, if they
came with it).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from clearbands.rows.weighting import size_of

# a and b are in units in which the logits and their deviations have a root mean square of 1.
LOWEST, HIGHEST = 1e-6, 8.0  # the limits of a and b; b may be 0, too
NO_SPREAD = 1e-3  # a smaller b is as good as 0
FLAWLESS = 1e-6  # the loss falls below it only where every row is classified correctly
# The grid of a and b: each value is twice the last but one, so that powers are squares.
SCANNED = HIGHEST / 2.0 ** (np.arange(12, -1, -1) / 2)
FARTHEST = 300 / HIGHEST  # the largest logit on the grid, so that products of two powers are finite
SCANNED_LOGITS = 8_000  # the number of logits in the sample of rows that is scanned for starts
FEWEST_SCANNED = 100  # the least number of rows in this sample
GROWTH = 10  # how many times larger each sample is than the one before it
CHUNK = 16_384  # logits that are worked on at once: as many as the processor's cache holds
SAME = 0.01  # the relative distance below which two minima count as one
TOLERANCE = 1e-9  # the norm of the projected gradient at which the search ends
DIGITS = 1e-14  # the fall of the loss that rounding hides
MAX_STEPS = 200


@dataclass(frozen=True)
class Constants:
    """The constants of all logits (c1) and of their spread (c2), and the minimum they reach."""

    c1: float
    c2: float
    loss: float  # the minimised loss, which includes `prior_rows`
    gradient_norm: float  # per relative change of the logits, without constants held at a bound
    is_limited: bool  # whether the rows limit the constants, rather than the end of the search


@dataclass(frozen=True)
class Point:
    """The loss at (a, b), with its gradient and its Hessian."""

    at: np.ndarray  # (2,)
    loss: float
    gradient: np.ndarray  # (2,)
    hessian: np.ndarray  # (2, 2)


@dataclass(frozen=True)
class Chunk:
    """Some rows; they are the last axis, so that sums over classes and members run along it."""

    mean: np.ndarray  # (classes, 1, n)
    deviation: np.ndarray  # (classes, members, n)
    counted: np.ndarray  # (labels, 1, n): the classes whose probability counts
    weight: np.ndarray  # (labels, n): how much each of them counts

    def at(self, a: float, b: float) -> tuple[float, np.ndarray, np.ndarray]:
        """Return loss, gradient (2,) and Hessian (2, 2), summed over the rows."""
        u, v = self.mean, self.deviation
        p, log_p = self.log_probabilities(a, b)
        share, pooled = shares(log_p)
        weighted = p * u
        mean_u, uu, uv = (part.sum(axis=0) for part in (weighted, weighted * u, weighted * v))
        np.multiply(p, v, out=weighted)
        mean_v, vv = weighted.sum(axis=0), (weighted * v).sum(axis=0)
        # The gradient of each member's log-probability, and its curvature: a covariance.
        du, dv = self.select_counted(u) - mean_u, self.select_counted(v) - mean_v
        bends = uu - mean_u**2, uv - mean_u * mean_v, vv - mean_v**2
        pulls = du * du, du * dv, dv * dv
        slope_u, slope_v = (share * du).sum(axis=1), (share * dv).sum(axis=1)
        slopes = slope_u * slope_u, slope_u * slope_v, slope_v * slope_v
        aa, ab, bb = (
            float(np.sum(self.weight * ((share * (bend - pull)).sum(axis=1) + slope)))
            for bend, pull, slope in zip(bends, pulls, slopes, strict=True)
        )
        gradient = -np.array([np.sum(self.weight * slope) for slope in (slope_u, slope_v)])
        return -float(np.sum(self.weight * pooled)), gradient, np.array([[aa, ab], [ab, bb]])

    def log_probabilities(self, a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
        """Return probabilities (classes, members, n), and logarithms of those that count."""
        z = b * self.deviation
        z += a * self.mean
        z -= z.max(axis=0)
        p = np.exp(z)
        total = p.sum(axis=0)
        p /= total
        return p, self.select_counted(z) - np.log(total)

    def select_counted(self, values: np.ndarray) -> np.ndarray:
        """Select the classes that count: (labels, members, n) of (classes, members, n)."""
        if len(self.counted) == len(values):  # all classes, in their order
            return values
        return np.take_along_axis(values, self.counted, axis=0)


def shares(log_p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return members' shares in the pooled probability (labels, m, n), and its logarithm."""
    top = log_p.max(axis=1, keepdims=True)
    share = np.exp(log_p - top)
    total = share.sum(axis=1, keepdims=True)
    share /= total
    return share, (np.log(total / log_p.shape[1]) + top)[:, 0]


def _powers(logits: np.ndarray) -> list[np.ndarray]:
    """Return the exponentials of the logits times each scanned factor; none is infinite or 0."""
    clipped = np.clip(logits, -FARTHEST, FARTHEST)
    powers = [np.exp(factor * clipped) for factor in SCANNED[:2]]
    for _ in SCANNED[2:]:
        powers.append(powers[-2] * powers[-2])
    return powers


@dataclass(frozen=True)
class Logits:
    """Member logits of labelled rows, split into mean and deviation, each in units of its size."""

    y: np.ndarray  # (n,) whole numbers
    mean: np.ndarray  # (classes, 1, n)
    deviation: np.ndarray  # (classes, members, n)
    sizes: np.ndarray  # (2,): root mean squares of mean and deviation
    prior_rows: float
    weight: np.ndarray | None = None  # (n,): how many rows each counts as

    @classmethod
    def of(
        cls,
        y: np.ndarray,
        logits: np.ndarray,
        prior_rows: float,
        weight: np.ndarray | None = None,
    ) -> Logits:
        """Split logits (n, members, classes) into their parts."""
        z = np.ascontiguousarray(logits.T)
        z -= z.mean(axis=0)  # the softmax does not see the mean over the classes
        mean = z.mean(axis=1, keepdims=True)
        z -= mean
        squares = [(part**2).mean(axis=(0, 1)) for part in (mean, z)]
        sizes = np.sqrt([np.average(square, weights=weight) for square in squares])
        sizes[sizes <= 1e-12 * sizes.sum()] = 0.0  # such a part is rounding error
        units = np.where(sizes > 0, sizes, 1.0)
        parts = mean / units[0], np.divide(z, units[1], out=z)
        return cls(y, *parts, sizes, prior_rows, weight)

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        return self.mean, self.deviation

    @property
    def highest(self) -> np.ndarray:
        return np.maximum(HIGHEST, self.sizes)

    @property
    def has_spread(self) -> bool:
        return bool(self.sizes[1] > 0)

    def samples(self) -> list[Logits]:
        """Return samples of evenly spaced rows, each larger than the last, the whole left out."""
        n_classes, n_members, n = self.deviation.shape
        step = n // max(FEWEST_SCANNED, SCANNED_LOGITS // (n_classes * n_members))
        samples = []
        while step > 1:
            samples.append(self._every_nth_row(step))
            step //= GROWTH
        return samples

    def _every_nth_row(self, step: int) -> Logits:
        mean, deviation = (np.ascontiguousarray(part[:, :, ::step]) for part in self.parts)
        weight = None if self.weight is None else self.weight[::step]
        return Logits(self.y[::step], mean, deviation, self.sizes, self.prior_rows, weight)

    def pooled(self) -> Logits:
        """Return the logits with the mean in place of every member."""
        sizes = self.sizes * [1.0, 0.0]
        deviation = np.zeros_like(self.mean)
        return Logits(self.y, self.mean, deviation, sizes, self.prior_rows, self.weight)

    def chunks(self) -> Iterator[Chunk]:
        n_classes, n_members, n = self.deviation.shape
        n_rows = max(1, CHUNK // (n_classes * n_members))
        counted, weight = self._labels()
        for start in range(0, n, n_rows):
            rows = slice(start, start + n_rows)
            yield Chunk(
                self.mean[:, :, rows],
                self.deviation[:, :, rows],
                counted[..., rows],
                weight[:, rows],
            )

    def _labels(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the classes that count in each row and their weights.

        With `prior_rows` every class counts, else only the row's own.
        """
        n, n_classes = len(self.y), len(self.mean)
        size = size_of(self.weight, n)
        each = np.broadcast_to(1.0 if self.weight is None else self.weight, n)
        each = each / (size + self.prior_rows)
        if self.prior_rows == 0:
            return self.y[None, None], each[None]
        weight = np.tile(self.prior_rows / size / n_classes * each, (n_classes, 1))
        weight[self.y, np.arange(n)] += each
        return np.broadcast_to(np.arange(n_classes)[:, None, None], (n_classes, 1, n)), weight

    def point(self, at: np.ndarray) -> Point:
        a, b = at.tolist()
        losses, gradients, hessians = zip(*(chunk.at(a, b) for chunk in self.chunks()), strict=True)
        return Point(at, sum(losses), np.sum(gradients, axis=0), np.sum(hessians, axis=0))

    def valleys(self) -> list[np.ndarray]:
        """Return the local minima of the grid, without those at its smallest b."""
        losses = self.scan()
        padded = np.pad(losses, 1, constant_values=np.inf)
        around = np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).min(axis=(2, 3))
        return list(SCANNED[np.argwhere((losses <= around) & (SCANNED > SCANNED[0]))])

    def scan(self) -> np.ndarray:
        """Return the loss at all points (a, b) of the grid, without `prior_rows`."""
        own = self.y[None, None]
        ahead = [part - np.take_along_axis(part, own, axis=0) for part in self.parts]
        by_mean, by_deviation = map(_powers, ahead)
        losses = np.empty((len(SCANNED), len(SCANNED)))
        for i, one in enumerate(by_mean):
            for j, other in enumerate(by_deviation):
                p = 1 / (one * other).sum(axis=0)
                losses[i, j] = -np.average(np.log(p.mean(axis=0)), weights=self.weight)
        return losses


def search_constants(
    y: np.ndarray,
    logits: np.ndarray,
    prior_rows: float = 0.0,
    weight: np.ndarray | None = None,
) -> Constants:
    """Return the constants of the lowest loss that Newton's method finds from several starts.

    `y` (n,) are whole numbers, `logits` have shape (n, m, classes). The loss includes `prior_rows`
    rows of a random class, spread over all rows. `weight` (n,) is how many rows each counts as.
    """
    problem = Logits.of(y, logits, prior_rows, weight)
    bare = _without_spread(problem)
    ends = [bare, *(_newton(problem, problem.point(start)) for start in _starts(problem, bare))]
    end = min(ends, key=lambda end: end.loss)
    plain = problem.point(_clip_to_bounds(problem, problem.sizes))
    if plain.loss < end.loss:  # the plain ensemble is better than every valley of the grid
        end = _newton(problem, plain)
    is_there = problem.sizes > 0  # nothing depends on a part of size 0
    a, b = np.divide(end.at, problem.sizes, out=np.ones(2), where=is_there).tolist()
    return Constants(
        c1=a,
        c2=b / a if is_there.all() else 1.0,
        loss=end.loss,
        gradient_norm=float(np.linalg.norm(end.gradient[_free_coordinates(problem, end)])),
        is_limited=end.loss > FLAWLESS and not np.any((end.at >= problem.highest) & is_there),
    )


def _without_spread(problem: Logits) -> Point:
    """Return the minimum at b = 0, where all members say the same and the loss is convex."""
    pooled = problem.pooled()
    end = _newton(pooled, pooled.point(_clip_to_bounds(pooled, pooled.sizes)))
    return problem.point(end.at)


def _starts(problem: Logits, bare: Point) -> list[np.ndarray]:
    """Return the minima of a sample of rows, and b = 0 if the loss falls from there."""
    if not problem.has_spread:
        return []
    samples = problem.samples()
    starts = (samples or [problem])[0].valleys()
    for sample in samples:
        starts = _distinct([_newton(sample, sample.point(start)).at for start in starts])
    return _distinct([*starts, bare.at] if bare.hessian[1, 1] < 0 else starts)


def _distinct(ends: list[np.ndarray]) -> list[np.ndarray]:
    """Return the distinct minima, each moved off b = 0, where the loss is flat in b."""
    chosen: list[np.ndarray] = []
    for end in ends:
        if not any(np.allclose(end, other, rtol=SAME, atol=SAME) for other in chosen):
            chosen.append(np.maximum(end, SCANNED[0]))
    return chosen


def _free_coordinates(problem: Logits, point: Point) -> np.ndarray:
    """Return which of a and b may still move (2,). At b = 0 the loss is flat in b, so b stays."""
    (a, b), highest = point.at, problem.highest
    falls_up, falls_down = point.gradient < 0, point.gradient > 0
    is_stuck = [
        (a <= LOWEST and falls_down[0]) or (a >= highest[0] and falls_up[0]),
        b == 0 or (b >= highest[1] and falls_up[1]),
    ]
    return ~np.array(is_stuck) & (problem.sizes > 0)


def _newton(problem: Logits, point: Point) -> Point:
    """Take Newton steps within the bounds to a minimum; stop where b comes close to 0.

    The minimum at b = 0 is searched by itself.
    """
    for _ in range(MAX_STEPS):
        free = _free_coordinates(problem, point)
        if np.linalg.norm(point.gradient[free]) <= TOLERANCE or 0 < point.at[1] < NO_SPREAD:
            break
        step = np.zeros(2)
        step[free] = -_solve(point.hessian[np.ix_(free, free)], point.gradient[free])
        lower = _line_search(problem, point, step)
        if lower is None:  # rounding hides any further fall
            break
        point = lower
    return point


def _clip_to_bounds(problem: Logits, at: np.ndarray) -> np.ndarray:
    return np.clip(at, [LOWEST, 0.0], problem.highest)


def _solve(hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Return the Newton step, with the curvature made positive where the loss is not convex."""
    values, vectors = np.linalg.eigh(hessian)
    values = np.maximum(np.abs(values), 1e-10)
    return vectors @ ((vectors.T @ gradient) / values)


def _line_search(problem: Logits, point: Point, step: np.ndarray) -> Point | None:
    length = 1.0
    while -length * float(point.gradient @ step) > DIGITS:
        at = _clip_to_bounds(problem, point.at + length * step)
        at[1] = max(at[1], point.at[1] / 4)  # from b = 0 no step leads away
        new = problem.point(at)
        if new.loss < point.loss + 1e-4 * min(0.0, float(point.gradient @ (at - point.at))):
            return new
        length /= 2
    return None
