"""Quantile gradient boosting, refitted on every bootstrap of one training set.

All members share one matrix of binned columns; a bootstrap is a count per row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from clearbands.engine.binning import Bins
from clearbands.engine.boosting_columns import FineColumns
from clearbands.engine.boosting_tree import BoostingHistograms, BoostingRule, Sample, fit_member
from clearbands.engine.compiled import Whole, inlined, kernel
from clearbands.engine.grains import EVEN, Grains
from clearbands.engine.own_unit import OwnUnit
from clearbands.engine.screening import Screen
from clearbands.engine.stored import Stored, check_array, check_numbers
from clearbands.engine.threads import run_threads

FINE_BINS = 2**12
ROWS_PER_BLOCK = 256


@dataclass(frozen=True)
class BoostedBag(Stored):
    """Complete binary trees: node k has the children 2k + 1 and 2k + 2, leaves come last."""

    bins: Bins  # fine bins
    unit: np.ndarray  # (b,): the unit of init and value
    init: np.ndarray  # (q, b): what a member predicts before its first tree
    feature: np.ndarray  # (b, q, trees, inner nodes) uint16: the column that a node splits by
    threshold: np.ndarray  # (b, q, trees, inner nodes) uint16: the last bin that goes left
    value: np.ndarray  # (b, q, trees, leaves) float32: what a leaf adds to the prediction

    def check(self) -> None:
        check_array(self.value, "values", np.float32, (None, None, None, None))
        *trees, n_leaves = self.value.shape
        if n_leaves.bit_count() != 1:
            raise ValueError(f"Trees have {n_leaves} leaves, which is no power of two.")
        check_array(self.feature, "features", np.uint16, (*trees, n_leaves - 1))
        check_array(self.threshold, "thresholds", np.uint16, self.feature.shape)
        check_numbers(self.feature, "A split", self.bins.n_columns, "columns")
        check_array(self.init, "starts", np.float64, (trees[1], trees[0]))
        check_array(self.unit, "units", np.float64, (trees[0],))

    def predict_members(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions (n, q, b) of all members for every row and quantile."""
        members = np.empty((len(X), *self.init.shape))
        binned = self.bins.apply(X, np.uint16)
        depth = int(self.value.shape[-1]).bit_length() - 1
        trees = self.feature, self.threshold, self.value
        _predict_members(binned, self.init, *trees, depth, np.empty(ROWS_PER_BLOCK), members)
        members *= self.unit
        return members

    def member(self, number: int) -> BoostedBag:
        """Return one member alone, as views without copies."""
        own = slice(number, number + 1)
        names = ("unit", "feature", "threshold", "value")
        return replace(
            self,
            init=np.ascontiguousarray(self.init[:, own]),
            **{name: getattr(self, name)[own] for name in names},
        )


def fit_boosted_bag(
    X: np.ndarray,
    y: np.ndarray,
    counts: np.ndarray,
    quantiles: np.ndarray,
    grains: Grains = EVEN,
    *,
    max_bins: int,
    n_trees: int,
    max_depth: int,
    learning_rate: float,
    min_child_weight: float,
    reg_lambda: float,
    n_jobs: int | None,
    stage: str,
) -> BoostedBag:
    """Boost every quantile on every bootstrap, a row of `counts` (b, n) uint8.

    `grains` say what a row weighs each time it is drawn.
    """
    # Division by a power of two rounds nothing and keeps differences of very large y finite.
    magnitude = 2.0 ** (np.frexp(np.abs(y).max())[1] - 1.0)
    y = y / magnitude
    bins = Bins.from_data(X, FINE_BINS, grains.of_rows)
    fine = FineColumns.from_bins(bins, X)
    screen = Screen.from_bins(fine.binned, grains)
    n_members, n_quantiles = len(counts), len(quantiles)
    n_inner = 2**max_depth - 1
    shape = (n_members, n_quantiles, n_trees)
    unit = np.empty(n_members)
    init = np.empty((n_quantiles, n_members))
    feature = np.empty((*shape, n_inner), np.uint16)
    threshold = np.empty((*shape, n_inner), np.uint16)
    value = np.empty((*shape, n_inner + 1), np.float32)
    # Weights are integers, so rounding the limit up changes nothing. No child may be empty.
    min_weight = max(1, int(np.ceil(min_child_weight * grains.per_one)))

    def fit_one(task: int, stop: np.ndarray) -> None:
        member, level = divmod(task, n_quantiles)
        tau = float(quantiles[level])
        own_counts = grains.times(counts[member])
        seen = None if screen is None else screen.columns(y, own_counts)
        columns = (fine if seen is None else fine.take(seen)).coarsen(own_counts, max_bins)
        # A histogram is cleared and scanned as a whole, which pays off once rows outnumber bins.
        few_rows = max(32, int(columns.offsets[-1]) // columns.binned.shape[1])
        own = OwnUnit.of(y, own_counts)
        sample = Sample.draw(own.apply(y), own_counts)
        n_slots = max_depth if len(sample.drawn) > few_rows else 0
        fit_member(
            columns,
            BoostingRule(
                tau, float(learning_rate), min_weight, reg_lambda * grains.per_one, few_rows
            ),
            sample,
            BoostingHistograms.allocate(columns, n_slots, max_depth),
            int(max_depth),
            stop,
            init[level, member : member + 1],
            feature[member, level],
            threshold[member, level],
            value[member, level],
        )
        init[level, member] += own.origin / own.unit
        unit[member] = own.unit * magnitude
        if seen is not None and not stop[0]:
            feature[member, level] = seen[feature[member, level]]

    run_threads(fit_one, n_members * n_quantiles, n_jobs=n_jobs, stage=stage)
    return BoostedBag(bins, unit, init, feature, threshold, value)


@kernel
def _predict_members(
    binned: np.ndarray,
    init: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    value: np.ndarray,
    depth: Whole,
    prediction: np.ndarray,
    members: np.ndarray,
) -> None:
    """Fill `members` (n, q, b), block by block, so that rows and tree stay in the cache.

    Four walks go side by side: while one waits for memory, the others go on. They are four rows in
    one tree or, where there are too few rows, one row in four trees.
    """
    n_bootstraps, n_quantiles = value.shape[:2]
    for start in range(0, len(binned), ROWS_PER_BLOCK):
        block = binned[start : start + ROWS_PER_BLOCK]
        for member in range(n_bootstraps):
            for level in range(n_quantiles):
                prediction[:] = init[level, member]
                own = (feature[member, level], threshold[member, level], value[member, level])
                if len(block) < 4:
                    _add_trees_by_four(block, depth, own, prediction)
                else:
                    _add_rows_by_four(block, depth, own, prediction)
                for i in range(len(block)):
                    members[start + i, level, member] = prediction[i]


@inlined
def _add_rows_by_four(
    block: np.ndarray,
    depth: Whole,
    trees: tuple[np.ndarray, np.ndarray, np.ndarray],
    prediction: np.ndarray,
) -> None:
    feature, threshold, value = trees
    last, first_leaf = len(block) - 1, np.uint64(feature.shape[1])
    for tree in range(len(feature)):
        columns, bins = feature[tree], threshold[tree]
        # Past the end the last row walks again and fills places of `prediction` that nobody reads.
        for i in range(0, len(block), 4):
            a = b = c = d = np.uint64(0)
            for _ in range(depth):
                a = _child(block[i], columns, bins, a)
                b = _child(block[min(i + 1, last)], columns, bins, b)
                c = _child(block[min(i + 2, last)], columns, bins, c)
                d = _child(block[min(i + 3, last)], columns, bins, d)
            prediction[i] += value[tree, a - first_leaf]
            prediction[i + 1] += value[tree, b - first_leaf]
            prediction[i + 2] += value[tree, c - first_leaf]
            prediction[i + 3] += value[tree, d - first_leaf]


@inlined
def _add_trees_by_four(
    block: np.ndarray,
    depth: Whole,
    trees: tuple[np.ndarray, np.ndarray, np.ndarray],
    prediction: np.ndarray,
) -> None:
    feature, threshold, value = trees
    last, first_leaf = len(feature) - 1, np.uint64(feature.shape[1])
    for i in range(len(block)):
        row = block[i]
        for tree in range(0, len(feature), 4):
            second, third, fourth = min(tree + 1, last), min(tree + 2, last), min(tree + 3, last)
            a = b = c = d = np.uint64(0)
            for _ in range(depth):
                a = _child(row, feature[tree], threshold[tree], a)
                b = _child(row, feature[second], threshold[second], b)
                c = _child(row, feature[third], threshold[third], c)
                d = _child(row, feature[fourth], threshold[fourth], d)
            prediction[i] += value[tree, a - first_leaf]
            if tree + 1 <= last:
                prediction[i] += value[second, b - first_leaf]
            if tree + 2 <= last:
                prediction[i] += value[third, c - first_leaf]
            if tree + 3 <= last:
                prediction[i] += value[fourth, d - first_leaf]


@inlined
def _child(row: np.ndarray, columns: np.ndarray, bins: np.ndarray, node: Whole) -> np.uint64:
    goes_right = np.uint64(row[columns[node]] > bins[node])
    return np.uint64(2) * node + np.uint64(1) + goes_right
