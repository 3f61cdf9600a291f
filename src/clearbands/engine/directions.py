"""Branch and bound over the directions (g1, g2) in which calibration factors may grow.

A row at distance r from the center, with widths a and e on its side, is covered by the factors
(g1, g2) when g1 * a + g2 * e >= r. The smallest factors that cover a given number of rows form a
curve on which g1 falls while g2 rises. Between two crossings of the rows' lines the same rows
stay uncovered, so the loss is linear there, and its minimum over the curve lies on a crossing or
at an end.

Directions are numbered from both ends, so that none is lost to rounding however much the widths
differ: t in [0, 1/2] stands for (g1, g2) = (1 - t, t) / v when lambda is at most 1, and for
(t, 1 - t) / v when it is more. The two sides are the same search with the parts in other order,
first and second below. A row is covered as long as v is at most its reach, (1 - t) * first / r +
t * second / r, which is linear in t; the curve is the v that `rank` rows reach. In a cell of
directions most rows lie above the curve throughout or below it throughout; those are settled once
and only the undecided rows go down into the two halves. Above and below are judged in units of the
chord of the curve, so that rows settle however much alike they are and whatever their scale. A
cell whose lower bound exceeds the best loss seen is dropped, and a cell with few undecided rows is
finished by trying their crossings.
"""

from __future__ import annotations

import numpy as np

from clearbands.engine.compiled import ZERO, Real, Whole, called, inlined, kernel
from clearbands.engine.selection import select

FEW_ROWS = 12  # undecided rows at which trying all crossings beats splitting further
ROUNDING = 1e-12  # relative slack within which rows stay undecided and losses are equal
MAX_CELLS = 256  # one more per halving, depth first: 100 down to LEAST_DIRECTION, 50 inside
ROOM_PER_ROW = 4  # for undecided rows; where it is too little, the search starts again with more
LEAST_DISTANCE = 1e-200  # in units of the largest distance, so that no reach is infinite
LEAST_DIRECTION = 1e-30  # a direction nearer to an end counts as the end
LEAST_CHORD = 1e-60  # in units of its other end: no chord starts at 0, though a reach may

# Columns of a cell in the stack: the chord at both ends, sums over the rows below the curve.
START, END, V_START, V_END, LOST_R, LOST_1, LOST_2, BOUND = range(8)
# Its undecided rows and their rank, where its halves may put theirs, and whether lambda is above 1.
FIRST, LAST, RANK, FREE, SIDE = range(5)
LOSS, DIRECTION, BEST_SIDE = range(3)  # of the best direction so far


def best_direction(
    r: np.ndarray,
    a: np.ndarray,
    e: np.ndarray,
    price1: float,
    price2: float,
    rank: int,
    lost: float,
    weight: np.ndarray,
    counts: np.ndarray,
) -> tuple[float, float]:
    """Return the weights (w1, w2) whose smallest multiple that covers `rank` rows has least loss.

    The loss of (g1, g2) is price1 * g1 + price2 * g2 + lost + sum of max(0, r - g1 * a - g2 * e),
    where `lost` belongs to rows that no factor can cover. Every row has r > 0 and a + e > 0. In
    the sum a row counts `weight` times, in the rank `counts` times, which are whole numbers.
    """
    n = len(r)
    unit = r.max()
    r = np.maximum(r / unit, LEAST_DISTANCE)
    widths = np.stack([a / r, e / r])
    r = r * weight  # the loss needs r in this form alone
    prices = np.array([price1, price2])
    # Arrays are made here: making one in a kernel takes numba as long as compiling another kernel.
    scores, beside = np.empty(n), np.empty(n, np.int64)
    cells, spans = np.empty((MAX_CELLS, 8)), np.empty((MAX_CELLS, 5), np.int64)
    best = np.array([np.inf, 0.0, 0.0])
    room = ROOM_PER_ROW * n
    while True:
        rows = np.empty(room, np.int32)
        rows[:n] = np.arange(n)
        for side in range(2):
            cells[side] = (0.0, 0.5, 0.0, 0.0, lost / unit, 0.0, 0.0, -np.inf)
            spans[side] = (0, n, rank, n, side)
        if _search(r, widths, prices, rows, counts, scores, beside, cells, spans, best):
            t, side = float(best[DIRECTION]), best[BEST_SIDE]
            return (t, 1 - t) if side else (1 - t, t)
        room *= 2


@kernel
def _search(
    r: np.ndarray,
    widths: np.ndarray,
    prices: np.ndarray,
    rows: np.ndarray,
    counts: np.ndarray,
    scores: np.ndarray,
    beside: np.ndarray,
    cells: np.ndarray,
    spans: np.ndarray,
    best: np.ndarray,
) -> bool:
    """Fill `best` from the two cells at the bottom of the stack; return False if `rows` is full.

    Here and below, widths are in units of r.
    """
    height = 2
    for end in range(2):
        for side in range(2):
            span = spans[side]
            cell, all_rows = cells[side], rows[: span[LAST]]
            cell[V_START + end] = _visit(
                0.5 * end, r, widths, prices, all_rows, span, cell, counts, scores, beside, best
            )
    while height > 0:
        height -= 1
        cell, span = cells[height], spans[height]
        first, last, free = span[FIRST], span[LAST], span[FREE]
        undecided = rows[first:last]
        if cell[BOUND] >= best[LOSS] * (1.0 - 1e-13):
            continue
        if len(undecided) <= FEW_ROWS:
            _try_crossings(r, widths, prices, undecided, span, cell, counts, scores, beside, best)
            continue
        if cell[END] < LEAST_DIRECTION or cell[END] - cell[START] < 1e-14 * cell[END]:
            continue
        if free + 2 * len(undecided) > len(rows):
            return False
        middle = 0.5 * (cell[START] + cell[END])
        v = _visit(middle, r, widths, prices, undecided, span, cell, counts, scores, beside, best)
        # The half on top of the stack is searched first: let it be the one around the best so far.
        upwards = best[BEST_SIDE] != span[SIDE] or best[DIRECTION] > middle
        lower, upper = (height, height + 1) if upwards else (height + 1, height)
        for column in range(cells.shape[1]):
            cells[height + 1, column] = cell[column]
        spans[height + 1, SIDE] = span[SIDE]
        k = span[RANK]
        cells[lower, END], cells[lower, V_END] = middle, v
        cells[upper, START], cells[upper, V_START] = middle, v
        for half in (height, height + 1):
            spans[half, FIRST], spans[half, RANK] = free, k
            free, covered = _settle(
                r,
                widths,
                prices,
                rows,
                first,
                last,
                free,
                spans[half],
                cells[half],
                counts,
                scores,
                beside,
            )
            spans[half, LAST], spans[half, RANK] = free, k - covered
        spans[height, FREE] = spans[height + 1, FREE] = free
        height += 2
    return True


@called
def _visit(
    t: Real,
    r: np.ndarray,
    widths: np.ndarray,
    prices: np.ndarray,
    undecided: np.ndarray,
    span: np.ndarray,
    cell: np.ndarray,
    counts: np.ndarray,
    scores: np.ndarray,
    beside: np.ndarray,
    best: np.ndarray,
) -> Real:
    """Return the curve's v in direction t, and note its loss if it is the least so far."""
    m, side = len(undecided), span[SIDE]
    first, second = widths[side], widths[1 - side]
    total = ZERO
    for i in range(m):
        scores[i] = _reach(t, first, second, undecided[i])
        beside[i] = counts[undecided[i]]
        total += beside[i]
    v = select(scores, beside, m, total, total - span[RANK])
    if v == 0.0:
        return 0.0
    g1, g2 = (1.0 - t) / v, t / v
    loss = cell[LOST_R]
    loss += g1 * (prices[side] - cell[LOST_1]) + g2 * (prices[1 - side] - cell[LOST_2])
    for i in range(m):
        row = undecided[i]
        loss += r[row] * max(1.0 - g1 * first[row] - g2 * second[row], 0.0)
    # Where the loss is flat, rounding must not choose: the direction seen first stays.
    if loss < best[LOSS] * (1.0 - ROUNDING):
        best[LOSS], best[DIRECTION], best[BEST_SIDE] = loss, t, side
    return v


@inlined
def _reach(t: Real, first: np.ndarray, second: np.ndarray, row: Whole) -> Real:
    return (1.0 - t) * first[row] + t * second[row]


@called
def _settle(
    r: np.ndarray,
    widths: np.ndarray,
    prices: np.ndarray,
    rows: np.ndarray,
    first_row: Whole,
    last_row: Whole,
    free: Whole,
    span: np.ndarray,
    cell: np.ndarray,
    counts: np.ndarray,
    scores: np.ndarray,
    beside: np.ndarray,
) -> tuple[Whole, Whole]:
    """Copy the cell's undecided rows to rows[free:], sum the rows below the curve, note the bound.

    Returns the place where the copies end and the counts of the rows above the curve.
    """
    m, k, side = last_row - first_row, span[RANK], span[SIDE]
    first, second = widths[side], widths[1 - side]
    cell[V_START] = max(cell[V_START], LEAST_CHORD * cell[V_END])
    cell[V_END] = max(cell[V_END], LEAST_CHORD * cell[V_START])
    units = (1.0 / cell[V_START], 1.0 / cell[V_END])
    total = ZERO
    for i in range(m):
        scores[i] = _above_chord(first, second, rows[first_row + i], cell, *units)[1]
        beside[i] = counts[rows[first_row + i]]
        total += beside[i]
    highest = select(scores, beside, m, total, total - k)  # no part of the curve lies higher
    for i in range(m):
        scores[i] = _above_chord(first, second, rows[first_row + i], cell, *units)[0]
        beside[i] = counts[rows[first_row + i]]
    lowest = select(scores, beside, m, total, total - k)
    covered = ZERO
    furthest = 0.0
    for i in range(first_row, last_row):
        row = rows[i]
        low, high = _above_chord(first, second, row, cell, *units)
        if low > highest + ROUNDING * (1.0 + highest):
            covered += counts[row]
        elif high < lowest - ROUNDING * (1.0 + lowest):
            cell[LOST_R] += r[row]
            cell[LOST_1] += r[row] * first[row]
            cell[LOST_2] += r[row] * second[row]
        else:
            furthest = max(furthest, max(high, -low))
            rows[free] = row
            free += 1
    if furthest <= 2.0 * ROUNDING:
        cell[BOUND] = np.inf  # the undecided rows are one line, which was tried at both ends
    else:
        slope1, slope2 = prices[side] - cell[LOST_1], prices[1 - side] - cell[LOST_2]
        cell[BOUND] = cell[LOST_R] + min(
            _least_loss(cell[START], cell[V_START], slope1, slope2, lowest, highest),
            _least_loss(cell[END], cell[V_END], slope1, slope2, lowest, highest),
        )
    return free, covered


@inlined
def _above_chord(
    first: np.ndarray,
    second: np.ndarray,
    row: Whole,
    cell: np.ndarray,
    per_start: Real,
    per_end: Real,
) -> tuple[Real, Real]:
    """Return how far the row's reach lies above the chord, the lower and the higher of both ends.

    The unit is the chord. Both lines are straight, so inside the cell it lies between the two.
    """
    at_start = _reach(cell[START], first, second, row) * per_start - 1.0
    at_end = _reach(cell[END], first, second, row) * per_end - 1.0
    return min(at_start, at_end), max(at_start, at_end)


@inlined
def _least_loss(t: Real, v: Real, slope1: Real, slope2: Real, lowest: Real, highest: Real) -> Real:
    """Return the least loss of settled rows at one end, for any v that the curve may have there.

    Between the ends it is a ratio of two linear functions, which has its minimum at an end. The
    part of the loss that does not depend on v is not in it.
    """
    slope = (1.0 - t) * slope1 + t * slope2
    if slope == 0.0:
        return 0.0
    return slope / (v * (1.0 + highest)) if slope > 0.0 else slope / (v * (1.0 + lowest))


@inlined
def _try_crossings(
    r: np.ndarray,
    widths: np.ndarray,
    prices: np.ndarray,
    undecided: np.ndarray,
    span: np.ndarray,
    cell: np.ndarray,
    counts: np.ndarray,
    scores: np.ndarray,
    beside: np.ndarray,
    best: np.ndarray,
) -> None:
    """Visit every direction inside the cell in which the lines of two rows cross."""
    first, second = widths[span[SIDE]], widths[1 - span[SIDE]]
    for i in range(1, len(undecided)):
        for j in range(i):
            at_zero = first[undecided[i]] - first[undecided[j]]
            at_one = second[undecided[i]] - second[undecided[j]]
            if at_zero == at_one:
                continue
            t = at_zero / (at_zero - at_one)
            if cell[START] < t < cell[END]:
                _visit(t, r, widths, prices, undecided, span, cell, counts, scores, beside, best)
