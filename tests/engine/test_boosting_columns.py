"""Coarse bins of a bootstrap, made from the fine ones of all rows."""

import numpy as np
import pytest

from clearbands.engine.binning import Bins
from clearbands.engine.boosting_columns import FineColumns
from clearbands.engine.boosting_tree import ALWAYS_LEFT
from tests.engine.boosted_bags import fit, problem


def test_columns_beyond_the_first_byte_are_found():
    rng = np.random.RandomState(0)
    X = rng.randint(2, size=(300, 700)) * 1.0
    y = 4 * X[:, 650] + 0.1 * rng.normal(size=300)
    bag = fit(X, y, n_trees=1)
    assert bag.feature[0, 0, 0, 0] == 650


@pytest.mark.parametrize("max_bins", [2, 5, 40])
@pytest.mark.parametrize("distinct", [3, 30, 500])
def test_coarse_bins_share_out_the_draws(max_bins, distinct):
    X, _, rng = problem(400, 2, distinct=distinct)
    counts = np.bincount(rng.randint(400, size=400), minlength=400)
    fine = FineColumns.from_bins(Bins.from_data(X), X)
    binned, offsets, last_fine = fine.coarsen(counts, max_bins)
    for j in range(2):
        drawn, coarse = fine.binned[counts > 0, j], binned[counts > 0, j]
        n_bins = int(offsets[j + 1] - offsets[j])
        np.testing.assert_array_equal(np.unique(coarse), np.arange(n_bins))
        np.testing.assert_array_equal(coarse, np.searchsorted(last_fine[j, :n_bins], drawn))
        weights = np.bincount(coarse, counts[counts > 0])
        heaviest_value = np.bincount(drawn, counts[counts > 0]).max()
        if len(np.unique(drawn)) <= max_bins:
            assert n_bins == len(np.unique(drawn))
        else:
            assert weights.max() <= 400 / max_bins + heaviest_value


def test_a_cut_lies_halfway_into_the_values_that_were_not_drawn():
    X = np.arange(8.0)[:, None]
    fine = FineColumns.from_bins(Bins.from_data(X), X)
    drawn = np.array([1, 2, 0, 0, 0, 0, 1, 1], np.uint8)
    binned, offsets, last_fine = fine.coarsen(drawn, 256)
    np.testing.assert_array_equal(offsets, [0, 4])
    np.testing.assert_array_equal(last_fine[0, :4], [0, 3, 6, 7])
    np.testing.assert_array_equal(binned[drawn > 0, 0], [0, 1, 2, 3])


def test_members_cut_a_long_column_in_different_places():
    # With the same cuts in all members, the errors that bins cause would not average out.
    X, y, rng = problem(3000, 1)
    counts = [np.bincount(rng.randint(3000, size=3000), minlength=3000) for _ in range(20)]
    bag = fit(X, y, counts, max_bins=8, n_trees=30)
    assert len(np.unique(bag.threshold[bag.threshold != ALWAYS_LEFT])) > 20


def test_more_than_256_distinct_values_are_split_between_bins():
    X, y, _ = problem(3000, 2)
    bag = fit(X, y, n_trees=30)
    loss = np.abs(y - bag.predict_members(X)[:, 0, 0]).mean()
    assert loss < 0.95 * np.abs(y - np.median(y)).mean()
