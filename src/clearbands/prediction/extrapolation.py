"""Rows beyond those that trained: how far off the center may be where nothing tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clearbands.calibration.conformal import capped_rank, order_statistic
from clearbands.engine.quantiles import weighted_median, weighted_quantiles
from clearbands.rows.bands import Components
from clearbands.rows.checks import LARGEST
from clearbands.rows.chunks import chunks, joined
from clearbands.rows.coded import plain_columns
from clearbands.rows.levels import normal_distances

END = 1 / 8  # of the rows are at an end of a column
MOST_ROWS = 2_000  # that tell what all categories or numbers are worth, each some of them
FEW_COLUMNS = 32  # of text: more are looked at several at a time
AT_ONCE = 64
FEWEST_CATEGORIES = 3  # so many are taken for having told, at least
FEWEST_ROWS = 100  # that tell what a category or a number is worth
MOST_COUNTS = 3  # of gaps in a row are looked at
MOST_NUMBERS = 4_000_000  # that are predicted at once
NOTHING = 1e-9  # of the largest center: a smaller move is a matter of rounding
FARTHEST = 1e9  # ranges: so far out, one place is like another


@dataclass(frozen=True)
class Extrapolation:
    """What is added to the epistemic distances of rows outside the ranges of the training rows.

    Beyond its data a tree says what it said at their end, and so do its like: that they agree there
    means nothing. Therefore the center is given a deviation that grows with the distance from a
    column's range, as steeply as the center changes towards an end of that column, but by no more
    per range than it changes among all rows; of several columns the largest counts. Training rows
    lie outside the others, too: as far out as the farthest of them nothing is added, so that hardly
    an ordinary row is touched.

    A target that rises with a column is not smaller beyond its largest values than at them: there
    only the upper bound moves, and below the smallest values only the lower one.

    A category that nobody has seen is beyond the data, too: there the center is off by as much as
    rows whose category is known need once it is forgotten. So is a gap in a
    column that had none: there it is off by as much as rows that calibrate need without the number.
    Of several gaps together the squares add up, times what rows that calibrate need without so many
    numbers: less than all of them where a number hardly tells once another is gone, and more where
    one stands in for another as long as that is there.
    """

    low: np.ndarray  # (columns,) of the encoded training rows, but for those that are codes
    high: np.ndarray
    steepness: np.ndarray  # (columns,): by how much the center changes per range of the column
    margin: float  # in ranges
    direction: np.ndarray | None = None
    """(columns,): 1 where targets rise with it, -1 where they fall, 0 for neither."""
    forgetting: np.ndarray | None = None
    """(text columns,): how far the center is off without the category, as deviations."""
    gaps: np.ndarray | None = None
    """(numeric columns,): how far it is off without the number, as deviations; 0 for columns that
    had gaps in the fit."""
    together: np.ndarray | None = None
    """(counts, 2): numbers of gaps in a row, and what the deviation of so many is multiplied by."""

    @classmethod
    def of(
        cls,
        train: np.ndarray,
        train_weight: np.ndarray | None,
        judged: np.ndarray,
        center: np.ndarray,
        weight: np.ndarray | None,
        direction: np.ndarray | None = None,
    ) -> Extrapolation:
        """From training rows, and from rows with the center that those said who saw them not."""
        train, judged = plain_columns(train), plain_columns(judged)
        low, high = train.min(axis=0), train.max(axis=0)
        slopes = np.array([_steepness(half, center, weight) for half in judged.T / 2])
        margin = max((_margin(half, train_weight) for half in train.T / 2), default=0.0)
        with np.errstate(over="ignore"):
            # Of a few values far from all others the range is wide, and no slope holds across it.
            whole = 2 * float(center.max() / 2 - center.min() / 2)
            steepness = np.minimum(slopes * _half_span(low, high), min(whole, LARGEST))
        direction = None if direction is None else direction[: len(low)]
        return cls(low, high, steepness, margin, direction)

    def widened(self, low: np.ndarray, high: np.ndarray) -> Extrapolation:
        """The same for more rows than it was made of, with their ranges."""
        span, wider = _half_span(self.low, self.high), _half_span(low, high)
        per_range = np.where(span > 0, wider / np.where(span > 0, span, 1.0), 1.0)
        with np.errstate(over="ignore"):
            steepness = np.minimum(self.steepness * per_range, LARGEST)
        return replace(self, low=low, high=high, steepness=steepness)

    def deviations(self, X: np.ndarray) -> np.ndarray:
        """(n, 2): standard deviations of what the center may be off for being out there.

        The center may be too high, which the lower bound must allow for, or too low.
        """
        return joined([self._deviations(rows) for rows in chunks(X, X.shape[1])])

    def _deviations(self, X: np.ndarray) -> np.ndarray:
        X = X[:, : len(self.low)]
        span = _half_span(self.low, self.high)
        outside = np.maximum(_half_span(X, self.low), _half_span(self.high, X)).clip(0.0)
        with np.errstate(over="ignore"):
            ranges = np.minimum(outside / np.where(span > 0, span, np.inf), FARTHEST)
        reach = np.maximum(ranges - self.margin, 0.0) * self.steepness
        if self.direction is None:
            return np.repeat(reach.max(axis=1, initial=0.0)[:, None], 2, axis=1)
        above = np.where(X > self.high, self.direction, -self.direction)  # where targets are larger
        sides = [np.where(above != way, reach, 0.0) for way in (1, -1)]
        return np.stack([side.max(axis=1, initial=0.0) for side in sides], axis=1)

    def widen(
        self,
        calibrated: Components,
        X: np.ndarray,
        levels: Sequence[float],
        unknown: np.ndarray | None = None,
        new_gaps: np.ndarray | None = None,
    ) -> Components:
        """The calibrated distances, farther where X is outside.

        `unknown` (n, text columns) says which categories nobody has seen, `new_gaps` (n, numeric
        columns) which numbers are missing though none was in the fit. What the center is off for
        these has nothing to do with the rest, so that they add up as deviations do. The larger
        counts of that and of being outside.
        """
        squares = np.zeros(len(X))
        if unknown is not None and self.forgetting is not None:
            squares += unknown @ self.forgetting**2
        if new_gaps is not None and self.gaps is not None:
            squares += (new_gaps @ self.gaps**2) * self._together(new_gaps.sum(axis=1)) ** 2
        deviations, steps = self.deviations(X), normal_distances(levels)
        if not (deviations.any() or squares.any()):
            return calibrated
        added = deviations[:, :, None] * steps
        if squares.any():
            whole = calibrated.aleatoric + calibrated.epistemic
            unknowns = np.sqrt(squares)[:, None, None] * steps
            added = np.maximum(added, np.hypot(whole, unknowns) - whole)
        return calibrated._replace(epistemic=calibrated.epistemic + added)

    def _together(self, n_gaps: np.ndarray) -> np.ndarray | float:
        """(n,): what the deviations of so many gaps of a row are multiplied by."""
        together = getattr(self, "together", None)
        return 1.0 if together is None else np.interp(n_gaps, *together.T)


def forgetting(
    look: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    forget: Callable[[np.ndarray, np.ndarray, Sequence[int]], np.ndarray],
    X: np.ndarray,
    texts: np.ndarray,
    n_categories: Sequence[int],
    error: np.ndarray,
    level: float,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """(text columns,): the deviations with which intervals of rows without their category cover.

    `look` gives the centers (n,) of rows and how far their bounds are, (n, 2); `error` (n,) is how
    far the targets are from the centers. A deviation is what must be added to the distances that
    the model itself gives to a row without its category, but no more than the center of rows moves
    without theirs, as a root mean square; and it is more where few categories tell.

    Columns that move nothing together move nothing alone: of very many, few are looked at alone.
    """
    n_columns = texts.shape[1]
    deviations, center = np.array([_of_few(n) for n in n_categories]), look(X)[0]
    step = AT_ONCE if n_columns > FEW_COLUMNS else 1
    waiting = [range(n_columns)[first : first + step] for first in range(0, n_columns, step)]
    while waiting:
        n_now = _at_once(X)
        now, waiting = waiting[:n_now], waiting[n_now:]
        without, distances = look(np.vstack([forget(X, texts, columns) for columns in now]))
        moves = center - without.reshape(len(now), len(X))
        reached = distances.reshape(len(now), len(X), 2)
        for columns, move, own in zip(now, moves, reached, strict=True):
            if len(columns) > 1 and np.abs(move).max() > NOTHING * np.abs(center).max():
                middle = len(columns) // 2
                waiting += columns[:middle], columns[middle:]
            else:
                moved = float(np.sqrt(np.average(move**2, weights=weight)))
                needed = _covering(_lacking(move, error, own, level), level, weight)
                deviations[columns] *= min(moved, needed)
    return deviations


def _of_few(n_categories: int) -> float:
    """What a deviation that so many categories tell must be multiplied with for the next one.

    At 90 %, as of the normal distribution: Student's t has wider tails where few have told.
    """
    from scipy.special import stdtrit

    free = max(n_categories, FEWEST_CATEGORIES) - 1
    tail = float(stdtrit(free, 0.95) / normal_distances([0.9])[0])
    return tail * float(np.sqrt(1 + 2 / free))


def moves_without_numbers(
    predict: Callable[[np.ndarray], np.ndarray],
    drop: Callable[[np.ndarray, int], np.ndarray],
    X: np.ndarray,
    columns: np.ndarray,
) -> np.ndarray:
    """(columns, n): by how much the center of rows (n, features) is higher with a number than
    without it, of each of these numeric columns."""
    at_once = _at_once(X)
    center, moves = predict(X), np.zeros((len(columns), len(X)))
    for first in range(0, len(columns), at_once):
        some = columns[first : first + at_once]
        without = predict(np.vstack([drop(X, int(j)) for j in some]))
        moves[first : first + at_once] = center - without.reshape(len(some), len(X))
    return moves


def _at_once(X: np.ndarray) -> int:
    """How many tables like X are predicted at once."""
    return max(1, MOST_NUMBERS // max(X.size, 1))


def numbers_gone(n: int, n_columns: int) -> dict[int, np.ndarray]:
    """For two, a half and all of the columns (n, columns) booleans: so many are gone of each row,
    drawn anew; nothing where there is but one column."""
    order = np.random.RandomState(0).rand(n, n_columns).argsort(axis=1)
    counts = {2, n_columns // 2, n_columns} - {0, 1} if n_columns > 1 else set()
    return {count: order < count for count in sorted(counts)}


def without_numbers(
    drop: Callable[[np.ndarray, int], np.ndarray],
    X: np.ndarray,
    columns: np.ndarray,
    gone: np.ndarray,
) -> np.ndarray:
    """X (n, features) without those numbers that are `gone` (n, columns) of each row."""
    left = X.copy()
    for j, own in zip(columns, gone.T, strict=True):
        left[own] = drop(left[own], int(j))
    return left


def rows_that_tell(n: int, n_columns: int) -> np.ndarray:
    """The numbers of rows, of n, that tell what so many columns are worth: fewer of many."""
    return np.linspace(0, n - 1, min(n, max(FEWEST_ROWS, MOST_ROWS // n_columns))).astype(int)


def gap_deviations(
    moves: np.ndarray,
    error: np.ndarray,
    distances: np.ndarray,
    level: float,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """(columns,): the deviations with which intervals around centers without a number cover.

    Of n rows `moves` (columns, n) say how far the center moves without the number, `error` (n,)
    how far the target is from the center, and `distances` (n, 2) how far the bounds are. What is
    added to these must reach the target of as many rows as the level says.
    """
    return np.array(
        [_covering(own, level, weight) for own in _lacking(moves, error, distances, level)]
    )


def gaps_together(
    moves: Mapping[int, np.ndarray],
    deviations: Mapping[int, np.ndarray],
    error: np.ndarray,
    distances: np.ndarray,
    level: float,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """(counts, 2): numbers of gaps, and the factors with which intervals of such rows cover.

    `moves` (n,) say how far the center moves without so many numbers, for each row others, and
    `deviations` (n,) what those numbers add up to. That of one gap is 1.
    """
    factors = [[1.0, 1.0]]
    for count, own in moves.items():
        lacking, one_by_one = _lacking(own, error, distances, level), deviations[count]
        times = np.divide(lacking, one_by_one, out=np.zeros_like(own), where=one_by_one > 0)
        factors.append([count, _covering(times, level, weight)])
    return np.array(factors)


def _lacking(
    moves: np.ndarray, error: np.ndarray, distances: np.ndarray, level: float
) -> np.ndarray:
    """The deviations that must be added to the distances (n, 2) to reach the targets."""
    (step,) = normal_distances([level])
    off = error + moves
    reached = np.where(off < 0, distances[:, 0], distances[:, 1])
    with np.errstate(over="ignore"):
        return np.sqrt(np.maximum(off**2 - reached**2, 0.0)) / step


def _covering(lacking: np.ndarray, level: float, weight: np.ndarray | None) -> float:
    """What is enough for as many rows as the level says."""
    if weight is not None:
        return float(weighted_quantiles(lacking, (level,), weight)[0])
    return order_statistic(lacking, capped_rank(len(lacking), level))


def _half_span(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Half of the way from low to high: the whole of it may be larger than any number."""
    return high / 2 - low / 2


def _steepness(column: np.ndarray, center: np.ndarray, weight: np.ndarray | None) -> float:
    """How fast the center changes from the others to the rows at an end of the column."""
    first, last = weighted_quantiles(column, (END, 1 - END), weight)
    ends = (
        column < first if (column < first).any() else column == column.min(),
        column > last if (column > last).any() else column == column.max(),
    )
    return max(_slope(column, center, weight, end) for end in ends)


def _slope(
    column: np.ndarray, center: np.ndarray, weight: np.ndarray | None, end: np.ndarray
) -> float:
    """Between the medians of the rows at an end and of the others."""
    if end.all():
        return 0.0

    def step(values: np.ndarray) -> float:
        at, others = (
            weighted_median(values[rows], None if weight is None else weight[rows])
            for rows in (end, ~end)
        )
        return abs(at - others)

    return step(center) / step(column)


def _margin(column: np.ndarray, weight: np.ndarray | None) -> float:
    """How far, in ranges, a row lies outside the others; 0 where there are two values at most."""
    low, high = column.min(), column.max()
    if not np.any((column > low) & (column < high)):
        return 0.0
    gaps = []
    for end, towards in ((low, column - low), (high, high - column)):
        at_end = column == end
        alone = at_end.sum() == 1 if weight is None else weight[at_end].sum() < 2
        gaps.append(towards[~at_end].min() / (high - low) if alone else 0.0)
    return float(max(gaps))
