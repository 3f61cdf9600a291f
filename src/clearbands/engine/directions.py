"""Branch and bound over the directions (g1, g2) in which calibration factors may grow.

A row at distance r from the center, with widths a and e on its side, is covered by the factors
(g1, g2) when g1 * a + g2 * e >= r. The smallest factors that cover a given number of rows form a
curve on which g1 falls while g2 rises. Between two crossings of the rows' lines the same rows
stay uncovered, so the loss is linear there, and its minimum over the curve lies on a crossing or
at an end.

Directions are numbered t in [0, 1], for (g1, g2) = (1 - t, t) / v. A row is covered as long as v
is at most its reach, (1 - t) * a / r + t * e / r, which is linear in t; the curve is the v that
rank many rows reach. In a cell of directions most rows lie above the curve throughout or below it
throughout; those are settled once and only the undecided rows go down into the two halves. Above
and below are judged from the chord of the curve, so that rows settle however much alike they are.
A cell whose lower bound exceeds the best loss seen is dropped, and a cell with few undecided rows
is finished by trying their crossings.
"""

from __future__ import annotations

import numpy as np

from clearbands.engine.compiled import helper, kernel, loop
from clearbands.engine.selection import select

FEW_ROWS = 12  # undecided rows at which trying all crossings beats splitting further
ROUNDING = 1e-12  # relative slack: rows stay undecided, lines coincide, losses are equal
MAX_CELLS = 256  # depth first: two cells per halving, and [0, 1] halves about 52 times
ROOM_PER_ROW = 4  # to note undecided rows; if it does not do, the search starts again with more
LEAST_DISTANCE = 1e-200  # in units of the largest: no reach is infinite

# Columns of a cell in the stack: the curve's v at both ends, sums over the rows below the curve.
START, END, V_START, V_END, LOST_R, LOST_A, LOST_E, BOUND = range(8)
FIRST, LAST, RANK, FREE = range(4)  # its undecided rows, and where its halves may put theirs


def best_direction(
    r: np.ndarray,
    a: np.ndarray,
    e: np.ndarray,
    price1: float,
    price2: float,
    rank: int,
    lost: float,
) -> float:
    """The t whose smallest factors covering `rank` of the rows have the least loss.

    The loss of (g1, g2) is price1 * g1 + price2 * g2 + lost + sum of max(0, r - g1 * a - g2 * e),
    where `lost` belongs to rows that no factor can cover. Every row has r > 0 and a + e > 0.
    """
    n = len(r)
    unit = r.max()
    r = np.maximum(r / unit, LEAST_DISTANCE)
    a, e = a / r, e / r
    # Memory is taken here: every way to make an array costs numba as much as a kernel to compile.
    scores, once = np.empty(n), np.ones(n, np.uint8)
    cells, spans = np.empty((MAX_CELLS, 8)), np.empty((MAX_CELLS, 4), np.int64)
    best = np.array([np.inf, 0.0])  # loss, direction
    room = ROOM_PER_ROW * n
    while True:
        rows = np.empty(room, np.int32)
        rows[:n] = np.arange(n)
        cells[0] = (0.0, 1.0, 0.0, 0.0, lost / unit, 0.0, 0.0, -np.inf)
        spans[0] = (0, n, rank, n)
        if _search(r, a, e, price1, price2, rows, scores, once, cells, spans, best):
            return float(best[1])
        room *= 2


@kernel
def _search(r, a, e, price1, price2, rows, scores, once, cells, spans, best):
    """Fill `best`, from the whole cell at the bottom of the stack; False if `rows` is too short.

    Here and below, a and e are in units of r.
    """
    first, last, k = spans[0, FIRST], spans[0, LAST], spans[0, RANK]
    for end in range(2):
        cells[0, V_START + end] = _visit(
            float(end), r, a, e, rows[first:last], k, price1, price2, cells[0], scores, once, best
        )
    height = 1
    while height > 0:
        height -= 1
        cell, span = cells[height], spans[height]
        first, last, k, free = span[FIRST], span[LAST], span[RANK], span[FREE]
        undecided = rows[first:last]
        if cell[BOUND] >= best[0] * (1.0 - 1e-13):
            continue
        if len(undecided) <= FEW_ROWS:
            _try_crossings(r, a, e, undecided, k, price1, price2, cell, scores, once, best)
            continue
        if cell[END] - cell[START] < 1e-14:
            continue
        if free + 2 * len(undecided) > len(rows):
            return False
        middle = 0.5 * (cell[START] + cell[END])
        v = _visit(middle, r, a, e, undecided, k, price1, price2, cell, scores, once, best)
        # The half on top of the stack is searched first: let it be the one around the best so far.
        lower, upper = (height, height + 1) if best[1] > middle else (height + 1, height)
        for column in range(cells.shape[1]):
            cells[height + 1, column] = cell[column]
        cells[lower, END], cells[lower, V_END] = middle, v
        cells[upper, START], cells[upper, V_START] = middle, v
        for half in (height, height + 1):
            spans[half, FIRST] = free
            free, covered = _settle(
                r, a, e, rows, first, last, k, free, price1, price2, cells[half], scores, once
            )
            spans[half, LAST], spans[half, RANK] = free, k - covered
        spans[height, FREE] = spans[height + 1, FREE] = free
        height += 2
    return True


@loop
def _visit(t, r, a, e, undecided, k, price1, price2, cell, scores, once, best):
    """The curve's v in direction t; its loss is remembered if it is the best so far."""
    m = len(undecided)
    for i in range(m):
        scores[i] = _reach(t, a, e, undecided[i])
    v = select(scores, once, m, m, m - k)
    if v == 0.0:
        return 0.0
    g1, g2 = (1.0 - t) / v, t / v
    loss = cell[LOST_R] + g1 * (price1 - cell[LOST_A]) + g2 * (price2 - cell[LOST_E])
    for i in range(m):
        row = undecided[i]
        loss += r[row] * max(1.0 - g1 * a[row] - g2 * e[row], 0.0)
    # Where the loss is flat, rounding must not choose: the direction seen first stays.
    if loss < best[0] * (1.0 - ROUNDING):
        best[0], best[1] = loss, t
    return v


@helper
def _reach(t, a, e, row):
    return (1.0 - t) * a[row] + t * e[row]


@loop
def _settle(r, a, e, rows, first, last, k, free, price1, price2, cell, scores, once):
    """Copy the rows that stay undecided in the cell to rows[free:]; sum up those below the curve.

    Returns where the copies end and how many rows lie above the curve. Notes the cell's bound.
    """
    m = last - first
    for i in range(m):
        scores[i] = _above_chord(a, e, rows[first + i], cell)[1]
    highest = select(scores, once, m, m, m - k)  # that the curve may rise above its chord
    for i in range(m):
        scores[i] = _above_chord(a, e, rows[first + i], cell)[0]
    lowest = select(scores, once, m, m, m - k)
    slack = ROUNDING * max(cell[V_START], cell[V_END])
    covered = 0
    furthest = 0.0
    for i in range(first, last):
        row = rows[i]
        low, high = _above_chord(a, e, row, cell)
        if low > highest + slack:
            covered += 1
        elif high < lowest - slack:
            cell[LOST_R] += r[row]
            cell[LOST_A] += r[row] * a[row]
            cell[LOST_E] += r[row] * e[row]
        else:
            furthest = max(furthest, max(high, -low))
            rows[free] = row
            free += 1
    if furthest <= 2.0 * slack:
        cell[BOUND] = np.inf  # the undecided rows are one line, which was tried at both ends
    else:
        cell[BOUND] = cell[LOST_R] + min(
            _least_loss(cell[START], cell[V_START], price1, price2, cell, lowest, highest),
            _least_loss(cell[END], cell[V_END], price1, price2, cell, lowest, highest),
        )
    return free, covered


@helper
def _above_chord(a, e, row, cell):
    """How far the row's reach lies above the chord of the curve, at the lower and higher end."""
    at_start = _reach(cell[START], a, e, row) - cell[V_START]
    at_end = _reach(cell[END], a, e, row) - cell[V_END]
    return min(at_start, at_end), max(at_start, at_end)


@helper
def _least_loss(t, v, price1, price2, cell, lowest, highest):
    """Of the settled rows, at one end, for any v that the curve might have there.

    Between the ends it is a ratio of two linear functions, which has its minimum at an end.
    """
    slope = (1.0 - t) * (price1 - cell[LOST_A]) + t * (price2 - cell[LOST_E])
    if slope == 0.0:
        return 0.0
    return slope / (v + highest) if slope > 0.0 else slope / max(v + lowest, 0.0)


@helper
def _try_crossings(r, a, e, undecided, k, price1, price2, cell, scores, once, best):
    """Visit every direction inside the cell in which the lines of two rows cross."""
    for i in range(1, len(undecided)):
        for j in range(i):
            at_zero = a[undecided[i]] - a[undecided[j]]
            at_one = e[undecided[i]] - e[undecided[j]]
            if at_zero == at_one:
                continue
            t = at_zero / (at_zero - at_one)
            if cell[START] < t < cell[END]:
                _visit(t, r, a, e, undecided, k, price1, price2, cell, scores, once, best)
