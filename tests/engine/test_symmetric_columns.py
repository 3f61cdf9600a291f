"""Where the members of symmetric trees may cut a column."""

import numpy as np
import pytest

from clearbands.engine.binning import Bins
from clearbands.engine.symmetric_columns import ALWAYS_LEFT, FINE_BINS, Columns
from tests.engine.symmetric_bags import bootstraps, fit, predict, problem


@pytest.mark.parametrize("max_bins", [8, 256])
def test_rising_transformations_of_columns_change_nothing(max_bins):
    X, y, rng = problem(200, 3)
    counts = bootstraps(200, 2, rng)
    plain = fit(X, y, counts, max_bins=max_bins)
    bent = np.column_stack([np.exp(9 * X[:, 0]), X[:, 1] ** 3, np.log(X[:, 2])])
    np.testing.assert_array_equal(
        predict(fit(bent, y, counts, max_bins=max_bins), bent), predict(plain, X)
    )


def test_columns_beyond_the_first_byte_are_found():
    rng = np.random.RandomState(0)
    X = rng.randint(2, size=(300, 700)) * 1.0
    y = 4 * X[:, 650] + 0.1 * rng.normal(size=300)
    assert fit(X, y, n_trees=1).feature[0, 0, 0] == 650


class TestCuts:
    @pytest.mark.parametrize("max_bins", [2, 5, 40])
    @pytest.mark.parametrize("distinct", [3, 30, 500])
    def test_bins_share_out_the_draws(self, max_bins, distinct):
        X, _, rng = problem(400, 2, distinct=distinct)
        counts = bootstraps(400, 1, rng)[0]
        fine = Bins.from_data(X, FINE_BINS).columns(X)
        drawn = np.flatnonzero(counts)
        weight = counts[drawn].astype(np.int64)
        columns = Columns.draw(fine, drawn, weight, max_bins, 0)
        for j in range(2):
            own, coarse = fine[j, drawn], columns.binned[j]
            n_bins = columns.n_bins[j]
            np.testing.assert_array_equal(np.unique(coarse), np.arange(n_bins))
            np.testing.assert_array_equal(
                coarse, np.searchsorted(columns.last_fine[j, :n_bins], own)
            )
            if len(np.unique(own)) <= max_bins:
                assert n_bins == len(np.unique(own))
            else:
                heaviest_value = np.bincount(own, weight).max()
                assert np.bincount(coarse, weight).max() <= 2 * 400 / max_bins + heaviest_value

    def test_a_cut_lies_anywhere_between_the_values_that_were_drawn(self):
        fine = np.arange(8, dtype=np.int16)[None]
        drawn, weight = np.array([0, 1, 6, 7]), np.array([1, 2, 1, 1])
        cuts = np.array([Columns.draw(fine, drawn, weight, 256, s).last_fine[0] for s in range(99)])
        assert set(cuts[:, 0]) == {0}
        assert set(cuts[:, 1]) == {1, 2, 3, 4, 5}
        assert set(cuts[:, 2]) == {6}
        assert set(cuts[:, 3]) == {ALWAYS_LEFT}

    def test_members_cut_a_long_column_in_different_places(self):
        # With the same cuts in all members, the errors that bins cause would not average out.
        X, y, _ = problem(3000, 1)
        bag = fit(X, y, np.ones((20, 3000), np.uint8), max_bins=8, n_trees=8)
        assert len(np.unique(bag.threshold)) > 100
