"""Rows outside the ranges of the training rows: how wrong the center may be there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clearbands.calibration.conformal import capped_rank, order_statistic, rows_needed
from clearbands.engine.quantiles import weighted_median, weighted_quantiles
from clearbands.rows.bands import Components
from clearbands.rows.checks import LARGEST
from clearbands.rows.chunks import chunks, concatenate
from clearbands.rows.coded import plain_columns
from clearbands.rows.levels import normal_distances

END = 1 / 8  # the share of the rows at an end of a column
MOST_ROWS = 2_000  # rows that show moves of the center without a value, shared by all columns
FEW_COLUMNS = 32  # with more columns of text than this, several are examined at a time
AT_ONCE = 64
FEWEST_CATEGORIES = 3  # fewer categories than this count as this many
FEWEST_ROWS = 100  # the fewest rows that show this for one column
MOST_COUNTS = 3  # the number of different counts of gaps in a row that are examined
MOST_NUMBERS = 4_000_000  # the most numbers that are predicted at a time
NOTHING = 1e-9  # a smaller move, relative to the largest center, is rounding
FARTHEST = 1e9  # in ranges: beyond this, all distances count the same


@dataclass(frozen=True)
class Extrapolation:
    """What is added to the epistemic distances of rows outside the ranges of the training rows.

    Beyond its data a tree predicts the same as at their end, and so do other models of its kind;
    their agreement there means nothing. Therefore the center gets a deviation there, which grows
    with the distance from a column's range, as steeply as the center changes towards an end of that
    column. Per range it grows by at most the change of the center among all rows, and of several
    columns the largest counts. Training rows, too, lie outside the range of the others; nothing is
    added up to the distance of the farthest of them, so that hardly any ordinary row changes.

    A target that rises with a column is not smaller beyond the largest values than at them. There
    only the upper bound moves, and below the smallest values only the lower bound.

    A category that no training row has is beyond the data, too. The center is as wrong there as it
    is for rows with known categories when these are hidden. The same holds for a gap in a column
    that had no gaps: the center is as wrong as it is for rows that calibrate when the number is
    hidden. For several gaps the squares add up, times a factor that is measured on rows with as
    many hidden numbers. It is below 1 if a number says little once another is gone, and above 1 if
    one stands in for another as long as that is there.
    """

    low: np.ndarray  # (columns,) of the encoded training rows, without columns of codes
    high: np.ndarray
    steepness: np.ndarray  # (columns,): the change of the center per range of the column
    margin: float  # in ranges: nothing is added up to here
    direction: np.ndarray | None = None
    """Directions of columns (columns,): 1 if targets rise with one, -1 if they fall, else 0."""
    category_deviations: np.ndarray | None = None
    """Deviations of the center without the category (text columns,)."""
    gaps: np.ndarray | None = None
    """Deviations of the center without the number (numeric columns,); 0 for columns with gaps."""
    gap_factors: np.ndarray | None = None
    """Numbers of gaps in a row, and the factors of their deviation (counts, 2)."""

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
        """Learn from training rows, and from rows with centers by members that did not see them."""
        train, judged = plain_columns(train), plain_columns(judged)
        low, high = train.min(axis=0), train.max(axis=0)
        slopes = np.array([_steepness(half, center, weight) for half in judged.T / 2])
        margin = max((_margin(half, train_weight) for half in train.T / 2), default=0.0)
        with np.errstate(over="ignore"):
            # If a few values lie far from all others, the range is wide, and no slope holds across
            # it.
            whole = 2 * float(center.max() / 2 - center.min() / 2)
            steepness = np.minimum(slopes * _half_span(low, high), min(whole, LARGEST))
        direction = None if direction is None else direction[: len(low)]
        return cls(low, high, steepness, margin, direction)

    def widened(self, low: np.ndarray, high: np.ndarray) -> Extrapolation:
        """Return the same for a table of more rows, which has these ranges."""
        span, wider = _half_span(self.low, self.high), _half_span(low, high)
        per_range = np.where(span > 0, wider / np.where(span > 0, span, 1.0), 1.0)
        with np.errstate(over="ignore"):
            steepness = np.minimum(self.steepness * per_range, LARGEST)
        return replace(self, low=low, high=high, steepness=steepness)

    def deviations(self, X: np.ndarray) -> np.ndarray:
        """Return standard deviations (n, 2) of the error of the center outside the ranges.

        The lower bound must allow for a center that is too high, the upper bound for one that is
        too low.
        """
        return concatenate([self._deviations(rows) for rows in chunks(X, X.shape[1])])

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
        """Return the calibrated distances, which are larger where X is outside the ranges.

        `unknown` (n, text columns) marks categories that no training row has, `new_gaps` (n,
        numeric columns) missing numbers of columns that had no gaps in the fit. The errors for
        these are independent of each other and of the rest, so that their squares add up. Of this
        and of being outside, the larger addition counts.
        """
        squares = np.zeros(len(X))
        if unknown is not None and self.category_deviations is not None:
            squares += unknown @ self.category_deviations**2
        if new_gaps is not None and self.gaps is not None:
            squares += (new_gaps @ self.gaps**2) * self._factor_of_gaps(new_gaps.sum(axis=1)) ** 2
        deviations, steps = self.deviations(X), normal_distances(levels)
        if not (deviations.any() or squares.any()):
            return calibrated
        added = deviations[:, :, None] * steps
        if squares.any():
            whole = calibrated.aleatoric + calibrated.epistemic
            unknowns = np.sqrt(squares)[:, None, None] * steps
            added = np.maximum(added, np.hypot(whole, unknowns) - whole)
        return calibrated._replace(epistemic=calibrated.epistemic + added)

    def _factor_of_gaps(self, n_gaps: np.ndarray) -> np.ndarray | float:
        """Return the factors (n,) for the deviations of rows with so many gaps."""
        together = getattr(self, "gap_factors", None)
        return 1.0 if together is None else np.interp(n_gaps, *together.T)


def category_deviations(
    look: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    forget: Callable[[np.ndarray, np.ndarray, Sequence[int]], np.ndarray],
    X: np.ndarray,
    texts: np.ndarray,
    n_categories: Sequence[int],
    error: np.ndarray,
    level: float,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """Return deviations (text columns,) with which intervals of rows without the category cover.

    `look` gives the centers (n,) of rows and the distances (n, 2) of their bounds; `error` (n,) is
    target minus center. A deviation is added to the distances that the model itself gives to a row
    without its category. It is at most the root mean square of the moves that centers make without
    it, and larger if there are few categories to learn it from.

    Columns that together move nothing move nothing alone, so that few of very many columns are
    examined alone.
    """
    n_columns = texts.shape[1]
    deviations, center = np.array([_factor_for_few(n) for n in n_categories]), look(X)[0]
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
                needed = _covering_quantile(_shortfall(move, error, own, level), level, weight)
                deviations[columns] *= min(moved, needed)
    return deviations


def deviations_of_new(
    error: np.ndarray,
    distances: np.ndarray,
    is_new: np.ndarray,
    level: float,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """Return the deviations with which intervals of rows with a new category cover.

    There is one for each column of text. `error` (n,) and `distances` (n, 2) are those of rows that
    calibrate; `is_new` (n, text columns) marks categories that the members which judged the row had
    not seen. If these rows are too few for the level, the deviation is infinite.
    """
    deviations = np.full(is_new.shape[1], np.inf)
    for j in np.flatnonzero(is_new.sum(axis=0) >= rows_needed(level)):
        rows = is_new[:, j]
        lacking = _shortfall(np.zeros(rows.sum()), error[rows], distances[rows], level)
        deviations[j] = _covering_quantile(lacking, level, None if weight is None else weight[rows])
    return deviations


def _factor_for_few(n_categories: int) -> float:
    """Return the factor from a deviation that so many categories show to that of the next one.

    It is the one of the 90 % level: Student's t has wider tails than the normal distribution if few
    categories have shown it.
    """
    from scipy.special import stdtrit

    free = max(n_categories, FEWEST_CATEGORIES) - 1
    tail = float(stdtrit(free, 0.95) / normal_distances([0.9])[0])
    return tail * float(np.sqrt(1 + 2 / free))


def center_moves_without(
    predict: Callable[[np.ndarray], np.ndarray],
    drop: Callable[[np.ndarray, int], np.ndarray],
    X: np.ndarray,
    columns: np.ndarray,
) -> np.ndarray:
    """Return how much each number raises the center of rows (n, features): moves (columns, n).

    Only numeric columns have such moves: from the center without the number to that with it.
    """
    at_once = _at_once(X)
    center, moves = predict(X), np.zeros((len(columns), len(X)))
    for first in range(0, len(columns), at_once):
        some = columns[first : first + at_once]
        without = predict(np.vstack([drop(X, int(j)) for j in some]))
        moves[first : first + at_once] = center - without.reshape(len(some), len(X))
    return moves


def _at_once(X: np.ndarray) -> int:
    """Return how many tables like X are predicted at a time."""
    return max(1, MOST_NUMBERS // max(X.size, 1))


def draw_gaps(n: int, n_columns: int) -> dict[int, np.ndarray]:
    """Draw which numbers (n, columns) each row loses: two, half and all of the columns.

    The answer holds booleans by the number of columns that are lost; it is empty for a single
    column.
    """
    order = np.random.RandomState(0).rand(n, n_columns).argsort(axis=1)
    counts = {2, n_columns // 2, n_columns} - {0, 1} if n_columns > 1 else set()
    return {count: order < count for count in sorted(counts)}


def drop_numbers(
    drop: Callable[[np.ndarray, int], np.ndarray],
    X: np.ndarray,
    columns: np.ndarray,
    gone: np.ndarray,
) -> np.ndarray:
    """Return X (n, features) without those numbers of each row that are `gone` (n, columns)."""
    left = X.copy()
    for j, own in zip(columns, gone.T, strict=True):
        left[own] = drop(left[own], int(j))
    return left


def rows_for_gaps(n: int, n_columns: int) -> np.ndarray:
    """Return the numbers of some of n rows that show moves; with many columns they are fewer."""
    return np.linspace(0, n - 1, min(n, max(FEWEST_ROWS, MOST_ROWS // n_columns))).astype(int)


def gap_deviations(
    moves: np.ndarray,
    error: np.ndarray,
    distances: np.ndarray,
    level: float,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """Return deviations (columns,) with which intervals around centers without a number cover.

    For n rows, `moves` (columns, n) are the moves of the center without the number, `error` (n,) is
    target minus center, and `distances` (n, 2) are those of the bounds. Together with what is added
    to them, they must reach the target of as many rows as the level says.
    """
    return np.array(
        [
            _covering_quantile(own, level, weight)
            for own in _shortfall(moves, error, distances, level)
        ]
    )


def factors_by_gap_count(
    moves: Mapping[int, np.ndarray],
    deviations: Mapping[int, np.ndarray],
    error: np.ndarray,
    distances: np.ndarray,
    level: float,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """Return numbers of gaps, and the factors with which intervals of such rows cover, (counts, 2).

    For each number of gaps, `moves` (n,) are the moves of the center without so many numbers, which
    differ from row to row, and `deviations` (n,) the sums of these numbers' deviations. The factor
    of one gap is 1.
    """
    factors = [[1.0, 1.0]]
    for count, own in moves.items():
        lacking, one_by_one = _shortfall(own, error, distances, level), deviations[count]
        times = np.divide(lacking, one_by_one, out=np.zeros_like(own), where=one_by_one > 0)
        factors.append([count, _covering_quantile(times, level, weight)])
    return np.array(factors)


def _shortfall(
    moves: np.ndarray, error: np.ndarray, distances: np.ndarray, level: float
) -> np.ndarray:
    """Return the deviations that must be added to the distances (n, 2) to reach the targets."""
    (step,) = normal_distances([level])
    off = error + moves
    reached = np.where(off < 0, distances[:, 0], distances[:, 1])
    with np.errstate(over="ignore"):
        return np.sqrt(np.maximum(off**2 - reached**2, 0.0)) / step


def _covering_quantile(lacking: np.ndarray, level: float, weight: np.ndarray | None) -> float:
    """Return the value that is enough for as many rows as the level says."""
    if weight is not None:
        return float(weighted_quantiles(lacking, (level,), weight)[0])
    return order_statistic(lacking, capped_rank(len(lacking), level))


def _half_span(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return half of the way from low to high, as the whole may be larger than any number."""
    return high / 2 - low / 2


def _steepness(column: np.ndarray, center: np.ndarray, weight: np.ndarray | None) -> float:
    """Return how steeply the center changes from other rows to those at an end of the column."""
    first, last = weighted_quantiles(column, (END, 1 - END), weight)
    ends = (
        column < first if (column < first).any() else column == column.min(),
        column > last if (column > last).any() else column == column.max(),
    )
    return max(_slope(column, center, weight, end) for end in ends)


def _slope(
    column: np.ndarray, center: np.ndarray, weight: np.ndarray | None, end: np.ndarray
) -> float:
    """Return the slope between the medians of the rows at an end and of the others."""
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
    """Return how far, in ranges, a row lies outside the others; 0 for at most two values."""
    low, high = column.min(), column.max()
    if not np.any((column > low) & (column < high)):
        return 0.0
    gaps = []
    for end, towards in ((low, column - low), (high, high - column)):
        at_end = column == end
        alone = at_end.sum() == 1 if weight is None else weight[at_end].sum() < 2
        gaps.append(towards[~at_end].min() / (high - low) if alone else 0.0)
    return float(max(gaps))
