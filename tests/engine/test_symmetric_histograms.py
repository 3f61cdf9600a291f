"""Histograms of symmetric trees: the share of columns that a tree uses, and a bound on memory."""

import numpy as np
import pytest

from clearbands.engine import symmetric_histograms
from clearbands.engine.symmetric_columns import Columns
from clearbands.engine.symmetric_histograms import MOST_CELLS, Histograms
from tests.engine.symmetric_bags import ARRAYS, fit, problem


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "not kept"])
def test_a_tree_asks_about_its_share_of_the_columns(kept, monkeypatch):
    if not kept:
        monkeypatch.setattr(symmetric_histograms, "MOST_CELLS", 0)
    X, _, rng = problem(300, 9)
    y = X @ np.arange(1, 10) + 0.1 * rng.normal(size=300)
    asked = fit(X, y, n_trees=60, max_depth=4, column_share=0.4).feature[0]
    per_tree = [len(set(tree)) for tree in asked]
    assert max(per_tree) <= 4  # 40 % of nine columns and an empty one
    assert set(asked.ravel()) == set(range(9))
    assert len({tuple(sorted(set(tree))) for tree in asked}) > 20


def test_a_tiny_share_of_the_columns_leaves_two_to_ask_about():
    X, y, _ = problem(100, 8)
    asked = fit(X, y, n_trees=20, column_share=0.01).feature[0]
    assert max(len(set(tree)) for tree in asked) == 2
    assert len(set(asked.ravel())) == 8


def test_whether_histograms_are_kept_changes_no_share(monkeypatch):
    X, y, _ = problem(200, 7)
    bags = [fit(X, y, max_depth=4, column_share=0.5)]
    monkeypatch.setattr(symmetric_histograms, "MOST_CELLS", 0)
    bags.append(fit(X, y, max_depth=4, column_share=0.5))
    for name in ARRAYS:
        np.testing.assert_array_equal(*(getattr(bag, name) for bag in bags))


def test_the_memory_of_histograms_is_bounded():
    n_columns, max_depth = 2000, 8
    columns = Columns(
        binned=np.zeros((n_columns + 1, 1), np.uint8),
        n_bins=np.append(np.full(n_columns, 256), 1),
        used=np.arange(n_columns),
        last_fine=np.zeros((n_columns, 256), np.int16),
        per_tree=n_columns,
        state=np.zeros(1, np.uint64),
    )
    histograms = Histograms.allocate(columns, max_depth)
    assert not histograms.are_kept
    assert len(histograms.cells) == 2 * 256 * 2 ** (max_depth - 1) <= MOST_CELLS
