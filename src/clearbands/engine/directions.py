"""Branch and bound over the directions (g1, g2) in which calibration factors may grow.

A row at distance r from the center, with widths a and e on its side, is covered by the factors
(g1, g2) when g1 * a + g2 * e >= r. The smallest factors that cover a given number of rows form a
curve on which g1 falls while g2 rises. Between two crossings of the rows' lines the same rows
stay uncovered, so the loss is linear there, and its minimum over the curve lies on a crossing or
at an end.

Directions are numbered t in [0, 1], for (g1, g2) proportional to (1 - t, t). In a cell of
directions most rows are covered throughout or uncovered throughout; those are settled once and
only the undecided rows go down into the two halves. A cell whose lower bound exceeds the best
loss seen is dropped, and a cell with few undecided rows is finished by trying their crossings.
"""

from __future__ import annotations

import numpy as np

from clearbands.engine.compiled import helper, kernel, loop
from clearbands.engine.selection import kth_smallest

FEW_ROWS = 12  # undecided rows at which trying all crossings beats splitting further
ROUNDING = 1e-12  # relative slack: rows stay undecided, lines coincide, losses are equal
MAX_CELLS = 256  # depth first: two cells per halving, and [0, 1] halves about 52 times

# Columns of a cell in the stack.
START, END, G1_START, G2_START, G1_END, G2_END, LOST_R, LOST_A, LOST_E = range(9)
FIRST, LAST, RANK, FREE = range(4)  # its undecided rows, and where its halves may put theirs


@kernel
def best_direction(r, a, e, price1, price2, rank, lost):
    """The t whose smallest factors covering `rank` of the rows have the least loss.

    The loss of (g1, g2) is price1 * g1 + price2 * g2 + lost + sum of max(0, r - g1 * a - g2 * e),
    where `lost` belongs to rows that no factor can cover. Every row has r > 0 and a + e > 0.
    """
    n = len(r)
    rows = np.empty(4 * n + 64, np.int32)
    for i in range(n):
        rows[i] = i
    scores = np.empty(n)
    cells = np.zeros((MAX_CELLS, 9))
    spans = np.empty((MAX_CELLS, 4), np.int64)
    best = np.zeros(2)  # loss, direction
    best[0] = np.inf

    cells[0, END] = 1.0
    cells[0, LOST_R] = lost
    spans[0, FIRST], spans[0, LAST], spans[0, RANK], spans[0, FREE] = 0, n, rank, n
    for side, t in ((START, 0.0), (END, 1.0)):
        g1, g2 = _visit(t, r, a, e, rows[:n], rank, price1, price2, cells[0], scores, best)
        cells[0, G1_START + 2 * side], cells[0, G2_START + 2 * side] = g1, g2

    height = 1
    while height > 0:
        height -= 1
        first, last, k, free = spans[height]
        undecided = rows[first:last]
        if _lower_bound(cells[height], price1, price2) >= best[0] * (1.0 - 1e-13):
            continue
        if len(undecided) <= FEW_ROWS:
            _try_crossings(r, a, e, undecided, k, price1, price2, cells[height], scores, best)
            continue
        middle = 0.5 * (cells[height, START] + cells[height, END])
        is_narrow = cells[height, END] - cells[height, START] < 1e-14
        if is_narrow or _all_coincide(r, a, e, undecided):
            continue
        g1, g2 = _visit(middle, r, a, e, undecided, k, price1, price2, cells[height], scores, best)
        if free + 2 * len(undecided) > len(rows):
            grown = np.empty(2 * (free + 2 * len(undecided)), np.int32)
            _copy(rows, grown, free)
            rows = grown
        _copy(cells[height], cells[height + 1], cells.shape[1])
        cells[height, END], cells[height, G1_END], cells[height, G2_END] = middle, g1, g2
        cells[height + 1, START] = middle
        cells[height + 1, G1_START], cells[height + 1, G2_START] = g1, g2
        for half in (height, height + 1):
            spans[half, FIRST] = free
            free, covered = _settle(r, a, e, rows, first, last, free, cells[half])
            spans[half, LAST], spans[half, RANK] = free, k - covered
        spans[height, FREE] = spans[height + 1, FREE] = free
        # The half on top of the stack is searched first: let it be the more promising one.
        if _lower_bound(cells[height], price1, price2) < _lower_bound(
            cells[height + 1], price1, price2
        ):
            _swap(cells, spans, height)
        height += 2
    return best[1]


@loop
def _visit(t, r, a, e, undecided, k, price1, price2, cell, scores, best):
    """The curve's point in direction t; its loss is remembered if it is the best so far."""
    m = len(undecided)
    for i in range(m):
        row = undecided[i]
        scores[i] = r[row] / ((1.0 - t) * a[row] + t * e[row])
    size = kth_smallest(scores, m, k - 1)
    if size == np.inf:
        return (np.inf, 0.0) if t == 0.0 else (0.0, np.inf)
    g1, g2 = (1.0 - t) * size, t * size
    loss = cell[LOST_R] + g1 * (price1 - cell[LOST_A]) + g2 * (price2 - cell[LOST_E])
    for i in range(m):
        row = undecided[i]
        loss += max(r[row] - g1 * a[row] - g2 * e[row], 0.0)
    # Where the loss is flat, rounding must not choose: the direction seen first stays.
    if loss < best[0] * (1.0 - ROUNDING):
        best[0], best[1] = loss, t
    return g1, g2


@helper
def _lower_bound(cell, price1, price2):
    """No factors in the box that holds the cell's piece of the curve have a smaller loss."""
    slope1, slope2 = price1 - cell[LOST_A], price2 - cell[LOST_E]
    bound = cell[LOST_R]
    if slope1 != 0.0:
        bound += slope1 * (cell[G1_END] if slope1 > 0.0 else cell[G1_START])
    if slope2 != 0.0:
        bound += slope2 * (cell[G2_START] if slope2 > 0.0 else cell[G2_END])
    return bound


@helper
def _settle(r, a, e, rows, first, last, free, cell):
    """Copy the rows that stay undecided in the cell to rows[free:]; sum up those it never covers.

    Returns where the copies end and how many rows the whole cell covers.
    """
    covered = 0
    for i in range(first, last):
        row = rows[i]
        least = cell[G1_END] * a[row] + cell[G2_START] * e[row]
        if least > r[row] * (1.0 + ROUNDING):
            covered += 1
            continue
        # inf * 0 is NaN, which is not below anything: such a row just stays undecided.
        most = cell[G1_START] * a[row] + cell[G2_END] * e[row]
        if most < r[row] * (1.0 - ROUNDING):
            cell[LOST_R] += r[row]
            cell[LOST_A] += a[row]
            cell[LOST_E] += e[row]
        else:
            rows[free] = row
            free += 1
    return free, covered


@helper
def _all_coincide(r, a, e, undecided):
    """Whether all rows have one and the same line; then there is no crossing to look for."""
    one = undecided[0]
    for i in range(1, len(undecided)):
        row = undecided[i]
        ra, re = r[row] * a[one], r[row] * e[one]
        if abs(ra - r[one] * a[row]) > ROUNDING * ra or abs(re - r[one] * e[row]) > ROUNDING * re:
            return False
    return True


@helper
def _try_crossings(r, a, e, undecided, k, price1, price2, cell, scores, best):
    """Visit every direction inside the cell in which the lines of two rows cross."""
    for i in range(1, len(undecided)):
        for j in range(i):
            p, q = undecided[i], undecided[j]
            at_zero = r[p] * a[q] - r[q] * a[p]
            at_one = r[p] * e[q] - r[q] * e[p]
            if at_zero == at_one:
                continue
            t = at_zero / (at_zero - at_one)
            if cell[START] < t < cell[END]:
                _visit(t, r, a, e, undecided, k, price1, price2, cell, scores, best)


@helper
def _copy(source, target, size):
    # Assigning to a slice does the same, and takes numba a second to compile.
    for i in range(size):
        target[i] = source[i]


@helper
def _swap(cells, spans, height):
    for column in range(cells.shape[1]):
        kept = cells[height, column]
        cells[height, column] = cells[height + 1, column]
        cells[height + 1, column] = kept
    for column in range(spans.shape[1]):
        moved = spans[height, column]
        spans[height, column] = spans[height + 1, column]
        spans[height + 1, column] = moved
