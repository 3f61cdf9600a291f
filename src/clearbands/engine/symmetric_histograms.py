"""The search for the question that explains most, by pairs of gradient and weight per bin and leaf.

A cell holds the sum of the pairs of all rows of its leaf up to and including its bin. Of two
sibling leaves the lighter is counted; the other is what remains of the parent. Cells of leaves
without rows are undefined and never read: deep trees on few columns have many such leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clearbands.engine.compiled import ONE, ZERO, Real, Whole, called, inlined
from clearbands.engine.symmetric_columns import Columns

if TYPE_CHECKING:
    from clearbands.engine.symmetric_logistic import ClassRows
    from clearbands.engine.symmetric_tree import TreeRows

MOST_CELLS = 2**23  # 64 MB
NEVER_ZERO = np.float32(
    1e-15
)  # added to a weight of at least 1 it changes nothing; its square is not 0
PLACE = np.uint64(16)  # bits of a key that hold the place of a row in the histogram
PLACE_MASK = np.uint64(2**16 - 1)


class Histograms(NamedTuple):
    """Cells of all columns where memory allows, else of the two columns that are looked at."""

    are_kept: bool
    cells: np.ndarray  # int64: for each column a row of bins for every leaf that is to be split
    starts: np.ndarray  # (d + 1,) int64: where the cells of a column start, if they are kept
    score: np.ndarray  # (max_bins,) float32
    total: np.ndarray  # (2^depth,) int64: the pair of a leaf
    left: np.ndarray  # (2^depth,) int64: what the best question of a level leaves on the left
    is_lighter: np.ndarray  # (2^depth,) uint8: whether a leaf is lighter than its sibling

    @classmethod
    def allocate(cls, columns: Columns, max_depth: int) -> Histograms:
        n_leaves = 2**max_depth
        sizes = columns.n_bins * (n_leaves // 2)
        ends = np.cumsum(sizes)
        are_kept = bool(ends[-1] <= MOST_CELLS)
        return cls(
            are_kept,
            np.empty(ends[-1] if are_kept else 2 * sizes.max(), np.int64),
            ends - sizes,
            np.empty(columns.last_fine.shape[1], np.float32),
            np.empty(n_leaves, np.int64),
            np.empty(n_leaves, np.int64),
            np.empty(n_leaves, np.uint8),
        )


@inlined
def best_question(
    columns: Columns,
    rows: TreeRows | ClassRows,
    histograms: Histograms,
    level: Whole,
    bits: Whole,
    l2: Real,
) -> tuple[Whole, Whole]:
    """Return the best column and its last bin that answers 0, and note what goes to the left."""
    n_open = np.int64(1) << level
    from_parents = histograms.are_kept and level > 0
    n_known, n_listed = ZERO, ZERO
    if from_parents:
        n_known = n_open >> 1
        n_listed = _list_rows(rows.leaf, histograms.is_lighter, n_known, rows.keys)
    best_score, best_column, best_cut = np.float32(-1), ZERO, ZERO
    for k in range(0, columns.per_tree, 2):
        first, second = columns.used[k], columns.used[k + 1]
        one = histograms.cells[_start_of(first, ZERO, histograms) :]
        other = histograms.cells[_start_of(second, ONE, histograms) :]
        sizes = columns.n_bins[first], columns.n_bins[second]
        bins = columns.binned[first], columns.binned[second]
        _clear(one, sizes[0] * n_known, sizes[0] * n_open)
        _clear(other, sizes[1] * n_known, sizes[1] * n_open)
        if from_parents:
            _count_listed(bins, sizes, rows.keys, n_listed, rows.pairs, one, other)
        elif level == 0:
            _count_root(bins, rows.pairs, one, other)
        else:
            _count_rows(bins, sizes, rows.leaf, rows.pairs, one, other)
        for column, cells in ((first, one), (second, other)):
            n_bins = columns.n_bins[column]
            if n_bins == 1:
                continue
            total = histograms.total
            _add_up(cells, n_bins, n_known, n_open, total)
            _subtract(cells, n_bins, histograms.is_lighter, n_known, total)
            score_cuts(
                cells, n_bins, n_open, bits, l2, total, columns.direction, column, histograms.score
            )
            cut = _largest(histograms.score, n_bins - 1)
            if histograms.score[cut] > best_score:
                best_score, best_column, best_cut = histograms.score[cut], column, cut
                for leaf in range(n_open):
                    histograms.left[leaf] = cells[leaf * n_bins + cut] if total[leaf] != 0 else 0
    return best_column, best_cut


@inlined
def _start_of(column: Whole, side: Whole, histograms: Histograms) -> Whole:
    """Return where the cells of a column start, or of the first or second one if none are kept."""
    if histograms.are_kept:
        return histograms.starts[column]
    return side * (len(histograms.cells) // 2)


@called
def _list_rows(leaf: np.ndarray, is_lighter: np.ndarray, n_known: Whole, keys: np.ndarray) -> Whole:
    """List the rows in the lighter child of each parent, and return their number.

    Nothing branches, because whether a row belongs to the list cannot be predicted.
    """
    n_listed = 0
    for i in range(len(leaf)):
        place = np.uint64(n_known + (np.int64(leaf[i]) & (n_known - 1)))
        keys[n_listed] = (np.uint64(i) << PLACE) | place
        n_listed += is_lighter[leaf[i]]
    return n_listed


@called
def _clear(cells: np.ndarray, start: Whole, stop: Whole) -> None:
    for place in range(start, stop):
        cells[place] = 0


# These count two columns at a time, which share what is read of a row.


@called
def _count_root(
    bins: tuple[np.ndarray, np.ndarray], pairs: np.ndarray, one: np.ndarray, other: np.ndarray
) -> None:
    first, second = bins
    for i in range(len(pairs)):
        one[first[i]] += pairs[i]
        other[second[i]] += pairs[i]


@called
def _count_rows(
    bins: tuple[np.ndarray, np.ndarray],
    sizes: tuple[Whole, Whole],
    leaf: np.ndarray,
    pairs: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
) -> None:
    first, second = bins
    n_first, n_second = np.uint64(sizes[0]), np.uint64(sizes[1])
    for i in range(len(pairs)):
        place = np.uint64(leaf[i])
        one[place * n_first + np.uint64(first[i])] += pairs[i]
        other[place * n_second + np.uint64(second[i])] += pairs[i]


@called
def _count_listed(
    bins: tuple[np.ndarray, np.ndarray],
    sizes: tuple[Whole, Whole],
    keys: np.ndarray,
    n_listed: Whole,
    pairs: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
) -> None:
    first, second = bins
    n_first, n_second = np.uint64(sizes[0]), np.uint64(sizes[1])
    for k in range(n_listed):
        row, place = keys[k] >> PLACE, keys[k] & PLACE_MASK
        one[place * n_first + np.uint64(first[row])] += pairs[row]
        other[place * n_second + np.uint64(second[row])] += pairs[row]


@called
def _add_up(
    cells: np.ndarray, n_bins: Whole, n_known: Whole, n_open: Whole, total: np.ndarray
) -> None:
    """Sum up the bins of two leaves at a time, as each addition waits for the one before."""
    waiting = np.int64(-1)
    for leaf in range(n_known, n_open):
        # Of two siblings the lighter was counted, whichever it is.
        if total[leaf] == 0 or (n_known > 0 and total[leaf - n_known] == 0):
            continue
        if waiting < 0:
            waiting = np.int64(leaf)
            continue
        first = cells[waiting * n_bins : (waiting + 1) * n_bins]
        second = cells[leaf * n_bins : (leaf + 1) * n_bins]
        so_far, other_so_far = np.int64(0), np.int64(0)
        for k in range(n_bins):
            so_far += first[k]
            other_so_far += second[k]
            first[k], second[k] = so_far, other_so_far
        waiting = np.int64(-1)
    if waiting >= 0:
        so_far = np.int64(0)
        for place in range(waiting * n_bins, (waiting + 1) * n_bins):
            so_far += cells[place]
            cells[place] = so_far


@called
def _subtract(
    cells: np.ndarray, n_bins: Whole, is_lighter: np.ndarray, n_known: Whole, total: np.ndarray
) -> None:
    """Turn parents (first half) and lighter children (second half) into left and right children."""
    for old in range(n_known):
        first = cells[old * n_bins : (old + 1) * n_bins]
        second = cells[(old + n_known) * n_bins : (old + n_known + 1) * n_bins]
        if total[old + n_known] == 0:
            continue  # the left child is as its parent was
        if total[old] == 0:
            for k in range(n_bins):
                second[k] = first[k]
        elif is_lighter[old]:
            for k in range(n_bins):
                counted = second[k]
                second[k] = first[k] - counted
                first[k] = counted
        else:
            for k in range(n_bins):
                first[k] -= second[k]


@inlined
def score_cuts(
    cells: np.ndarray,
    n_bins: Whole,
    n_open: Whole,
    bits: Whole,
    l2: Real,
    total: np.ndarray,
    direction: np.ndarray | None,
    column: Whole,
    score: np.ndarray,
) -> None:
    if direction is None:  # noqa: SIM114  (numba then leaves out the other branches)
        _sum_scores(cells, n_bins, n_open, bits, l2, total, score)
    elif direction[column] == 0:
        _sum_scores(cells, n_bins, n_open, bits, l2, total, score)
    else:
        _sum_directed_scores(cells, n_bins, n_open, bits, l2, total, direction[column], score)


@called
def _sum_scores(
    cells: np.ndarray,
    n_bins: Whole,
    n_open: Whole,
    bits: Whole,
    l2: Real,
    total: np.ndarray,
    score: np.ndarray,
) -> None:
    """Fill `score` with how much of the gradients each cut explains, summed over the leaves.

    Only the pairs on the left are converted to floats; the right side is what remains. As rounding
    keeps order, an empty side has neither weight nor gradient, and no weight is negative. A leaf
    without rows explains nothing.
    """
    for k in range(n_bins):
        score[k] = 0
    l2 = max(np.float32(l2), NEVER_ZERO)
    for leaf in range(n_open):
        if total[leaf] == 0:
            continue
        halves = cells[leaf * n_bins : (leaf + 1) * n_bins].view(np.int32)
        gradient, weight = _parts(total[leaf : leaf + 1].view(np.int32), 0, bits)
        for k in range(n_bins):
            g, left_weight = _parts(halves, k, bits)
            h = gradient - g
            v, w = left_weight + l2, (weight - left_weight) + l2
            score[k] += (g * g * w + h * h * v) / (v * w)


@called
def _sum_directed_scores(
    cells: np.ndarray,
    n_bins: Whole,
    n_open: Whole,
    bits: Whole,
    l2: Real,
    total: np.ndarray,
    direction: Whole,
    score: np.ndarray,
) -> None:
    """Fill `score` for a column that predictions must rise or fall with.

    A leaf whose two sides differ the wrong way explains as much as without the split.
    """
    for k in range(n_bins):
        score[k] = 0
    l2 = max(np.float32(l2), NEVER_ZERO)
    for leaf in range(n_open):
        if total[leaf] == 0:
            continue
        halves = cells[leaf * n_bins : (leaf + 1) * n_bins].view(np.int32)
        gradient, weight = _parts(total[leaf : leaf + 1].view(np.int32), 0, bits)
        for k in range(n_bins):
            g, left_weight = _parts(halves, k, bits)
            h = gradient - g
            v, w = left_weight + l2, (weight - left_weight) + l2
            if (h * v - g * w) * direction < 0:
                score[k] += gradient * gradient / (weight + l2)
            else:
                score[k] += (g * g * w + h * h * v) / (v * w)


@inlined
def _parts(halves: np.ndarray, k: Whole, bits: Whole) -> tuple[Real, Real]:
    """Return the gradient, without its last digits, and the weight of the k-th pair.

    Pairs come as their halves, the lower one first: on 32 bits a processor converts twice as many
    numbers at once as on 64.
    """
    low_bits = np.int32((np.int64(1) << bits) - 1)
    low = np.uint64(2) * np.uint64(k)
    weight = np.int32(halves[low] & low_bits)
    return np.float32(halves[low + np.uint64(1)]), np.float32(weight)


@called
def _largest(score: np.ndarray, n_cuts: Whole) -> Whole:
    """Return the first place of the largest score."""
    best = ZERO
    for k in range(1, n_cuts):
        if score[k] > score[best]:
            best = k
    return best
