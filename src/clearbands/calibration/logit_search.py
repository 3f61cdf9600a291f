"""The two constants of member logits that make held-out classes most likely.

With a = c1 and b = c1 c2 the logits a * mean + b * deviation are linear in (a, b), and gradient and
Hessian of the negative log-likelihood are means and covariances over the classes. Where members
agree, or there is one, the loss is convex in a. With spread it is not: a grid on some rows
shows the valleys, and Newton's method goes to the end of each, on few rows first, then on all. Far
out, where members no longer weigh but vote, few rows have spurious minima: the search ends where
the logits, or their deviations, are 8 on average (or larger, as they were given).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from clearbands.rows.weighting import size_of

# Of a and b, as the root mean square of what they scale:
LOWEST, HIGHEST = 1e-6, 8.0  # b may be 0
NO_SPREAD = 1e-3  # a b that is as good as 0
FLAWLESS = 1e-6  # a loss that only rows without an error reach
# Where valleys are looked for: each twice the last but one, so that powers are squares.
SCANNED = HIGHEST / 2.0 ** (np.arange(12, -1, -1) / 2)
FARTHEST = 300 / HIGHEST  # a logit on the grid: the product of two powers is finite
SCANNED_LOGITS = 8_000  # of the rows that decide which starts are worth a search
FEWEST_SCANNED = 100  # rows
GROWTH = 10  # of the rows, from those of the grid to all
CHUNK = 16_384  # logits that are worked on at once: what the nearest memory holds
SAME = 0.01  # distance of ends, as a share, that the rows of the grid do not tell apart
TOLERANCE = 1e-9  # of the projected gradient
DIGITS = 1e-14  # by which a loss does not fall any more
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
class Point:
    """The loss at (a, b), and how it bends there."""

    at: np.ndarray  # (2,)
    loss: float
    gradient: np.ndarray  # (2,)
    hessian: np.ndarray  # (2, 2)


@dataclass(frozen=True)
class Chunk:
    """Some rows, last of all axes, so that sums over classes and members run along them."""

    mean: np.ndarray  # (classes, 1, n)
    deviation: np.ndarray  # (classes, members, n)
    counted: np.ndarray  # (labels, 1, n): the classes whose probability counts
    weight: np.ndarray  # (labels, n): how much

    def at(self, a: float, b: float) -> tuple[float, np.ndarray, np.ndarray]:
        """Loss, gradient (2,) and Hessian (2, 2), summed over the rows."""
        u, v = self.mean, self.deviation
        p, log_p = self.log_probabilities(a, b)
        share, pooled = shares(log_p)
        weighted = p * u
        mean_u, uu, uv = (part.sum(axis=0) for part in (weighted, weighted * u, weighted * v))
        np.multiply(p, v, out=weighted)
        mean_v, vv = weighted.sum(axis=0), (weighted * v).sum(axis=0)
        # The gradient of each member's log-probability, and its curvature: a covariance.
        du, dv = self.of_counted(u) - mean_u, self.of_counted(v) - mean_v
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
        """Probabilities (classes, members, n), and logarithms of those that count."""
        z = b * self.deviation
        z += a * self.mean
        z -= z.max(axis=0)
        p = np.exp(z)
        total = p.sum(axis=0)
        p /= total
        return p, self.of_counted(z) - np.log(total)

    def of_counted(self, values: np.ndarray) -> np.ndarray:
        """(labels, members, n) of (classes, members, n)."""
        if len(self.counted) == len(values):  # all classes, in their order
            return values
        return np.take_along_axis(values, self.counted, axis=0)


def shares(log_p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each member in the pooled probability (labels, m, n), and its logarithm (labels, n)."""
    top = log_p.max(axis=1, keepdims=True)
    share = np.exp(log_p - top)
    total = share.sum(axis=1, keepdims=True)
    share /= total
    return share, (np.log(total / log_p.shape[1]) + top)[:, 0]


def _powers(logits: np.ndarray) -> list[np.ndarray]:
    """The exponentials of the logits times each scanned factor, none of them infinite or 0."""
    clipped = np.clip(logits, -FARTHEST, FARTHEST)
    powers = [np.exp(factor * clipped) for factor in SCANNED[:2]]
    for _ in SCANNED[2:]:
        powers.append(powers[-2] * powers[-2])
    return powers


@dataclass(frozen=True)
class Logits:
    """Member logits of rows whose class is known, taken apart, each part in units of its size."""

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
        """logits: (n, members, classes)."""
        z = np.ascontiguousarray(logits.T)
        z -= z.mean(axis=0)  # the softmax does not see the mean over the classes
        mean = z.mean(axis=1, keepdims=True)
        z -= mean
        squares = [(part**2).mean(axis=(0, 1)) for part in (mean, z)]
        sizes = np.sqrt([np.average(square, weights=weight) for square in squares])
        sizes[sizes <= 1e-12 * sizes.sum()] = 0.0  # nothing but the last digits
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
        """Few rows, evenly taken, then ever more, but not all."""
        n_classes, n_members, n = self.deviation.shape
        step = n // max(FEWEST_SCANNED, SCANNED_LOGITS // (n_classes * n_members))
        samples = []
        while step > 1:
            samples.append(self._every(step))
            step //= GROWTH
        return samples

    def _every(self, step: int) -> Logits:
        mean, deviation = (np.ascontiguousarray(part[:, :, ::step]) for part in self.parts)
        weight = None if self.weight is None else self.weight[::step]
        return Logits(self.y[::step], mean, deviation, self.sizes, self.prior_rows, weight)

    def pooled(self) -> Logits:
        """As if all members said their mean."""
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
        """The classes that count in each row, and how much: its own, and any for chance."""
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
        """The points of the grid that no neighbour is lower than, but for those next to b = 0."""
        losses = self.scan()
        padded = np.pad(losses, 1, constant_values=np.inf)
        around = np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).min(axis=(2, 3))
        return list(SCANNED[np.argwhere((losses <= around) & (SCANNED > SCANNED[0]))])

    def scan(self) -> np.ndarray:
        """(a, b): the loss at all points of the grid, without the rows of chance."""
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
    """The c1 and c2 of the lowest loss that Newton's method finds from several starts.

    y (n,) are whole numbers, logits (n, m, classes). `prior_rows` rows of a class drawn by chance
    are added to the loss, spread over all rows. `weight` (n,) is how many rows each counts as.
    """
    problem = Logits.of(y, logits, prior_rows, weight)
    bare = _without_spread(problem)
    ends = [bare, *(_newton(problem, problem.point(start)) for start in _starts(problem, bare))]
    end = min(ends, key=lambda end: end.loss)
    plain = problem.point(_within(problem, problem.sizes))
    if plain.loss < end.loss:  # in no valley that the grid shows
        end = _newton(problem, plain)
    is_there = problem.sizes > 0  # on a part that is not, nothing depends
    a, b = np.divide(end.at, problem.sizes, out=np.ones(2), where=is_there).tolist()
    return Constants(
        c1=a,
        c2=b / a if is_there.all() else 1.0,
        loss=end.loss,
        gradient_norm=float(np.linalg.norm(end.gradient[_free(problem, end)])),
        is_limited=end.loss > FLAWLESS and not np.any((end.at >= problem.highest) & is_there),
    )


def _without_spread(problem: Logits) -> Point:
    """The minimum at b = 0, where all members say the same and the loss is convex."""
    pooled = problem.pooled()
    end = _newton(pooled, pooled.point(_within(pooled, pooled.sizes)))
    return problem.point(end.at)


def _starts(problem: Logits, bare: Point) -> list[np.ndarray]:
    """The ends of all valleys of some rows; b = 0 is one of its own unless the loss falls there."""
    if not problem.has_spread:
        return []
    samples = problem.samples()
    starts = (samples or [problem])[0].valleys()
    for sample in samples:
        starts = _apart([_newton(sample, sample.point(start)).at for start in starts])
    return _apart([*starts, bare.at] if bare.hessian[1, 1] < 0 else starts)


def _apart(ends: list[np.ndarray]) -> list[np.ndarray]:
    """Those that lie apart, each with some spread: without any, the loss is flat in b."""
    chosen: list[np.ndarray] = []
    for end in ends:
        if not any(np.allclose(end, other, rtol=SAME, atol=SAME) for other in chosen):
            chosen.append(np.maximum(end, SCANNED[0]))
    return chosen


def _free(problem: Logits, point: Point) -> np.ndarray:
    """(2,): what may still move. At b = 0 the loss is flat in b, which therefore stays."""
    (a, b), highest = point.at, problem.highest
    falls_up, falls_down = point.gradient < 0, point.gradient > 0
    is_stuck = [
        (a <= LOWEST and falls_down[0]) or (a >= highest[0] and falls_up[0]),
        b == 0 or (b >= highest[1] and falls_up[1]),
    ]
    return ~np.array(is_stuck) & (problem.sizes > 0)


def _newton(problem: Logits, point: Point) -> Point:
    """Newton steps between the bounds, halved until the loss falls; to b = 0 go others."""
    for _ in range(MAX_STEPS):
        free = _free(problem, point)
        if np.linalg.norm(point.gradient[free]) <= TOLERANCE or 0 < point.at[1] < NO_SPREAD:
            break
        step = np.zeros(2)
        step[free] = -_solve(point.hessian[np.ix_(free, free)], point.gradient[free])
        lower = _line_search(problem, point, step)
        if lower is None:  # as low as the digits go
            break
        point = lower
    return point


def _within(problem: Logits, at: np.ndarray) -> np.ndarray:
    return np.clip(at, [LOWEST, 0.0], problem.highest)


def _solve(hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The Newton step, with the curvature made positive where the loss is not convex."""
    values, vectors = np.linalg.eigh(hessian)
    values = np.maximum(np.abs(values), 1e-10)
    return vectors @ ((vectors.T @ gradient) / values)


def _line_search(problem: Logits, point: Point, step: np.ndarray) -> Point | None:
    length = 1.0
    while -length * float(point.gradient @ step) > DIGITS:
        at = _within(problem, point.at + length * step)
        at[1] = max(at[1], point.at[1] / 4)  # what jumps to b = 0 never leaves it
        new = problem.point(at)
        if new.loss < point.loss + 1e-4 * min(0.0, float(point.gradient @ (at - point.at))):
            return new
        length /= 2
    return None
