"""Numbers of rows by hash: the same for every caller, and as random as drawn numbers."""

import numpy as np
import pytest
from scipy import stats

from clearbands.rows.draws import HashedFolds
from clearbands.rows.hashing import hashed_folds, row_hashes, smallest_hashes

ROWS = np.arange(50_000)
KNOWN = [2558736989570252433, 17913671590881668180]


def test_a_row_has_its_number_in_any_company_and_order():
    everyone = row_hashes(3, 1, ROWS)
    order = np.random.RandomState(0).permutation(ROWS)
    np.testing.assert_array_equal(row_hashes(3, 1, order), everyone[order])
    np.testing.assert_array_equal(row_hashes(3, 1, ROWS[1000:1001]), everyone[1000:1001])


def test_known_values_so_that_other_versions_and_machines_draw_the_same():
    assert row_hashes(0, 0, np.array([0, 1])).tolist() == KNOWN


def test_seeds_and_streams_have_nothing_to_do_with_each_other():
    one = row_hashes(0, 0, ROWS)
    for other in (row_hashes(1, 0, ROWS), row_hashes(0, 1, ROWS), row_hashes(1, 1, ROWS)):
        assert abs(np.corrcoef(one.astype(float), other.astype(float))[0, 1]) < 0.02
        assert not np.isin(one, other).any()


@pytest.mark.parametrize("n_folds", [2, 5, 10, 7])
def test_folds_are_of_equal_size_but_for_chance(n_folds):
    sizes = np.bincount(hashed_folds(11, 0, ROWS, n_folds), minlength=n_folds)
    assert len(sizes) == n_folds
    assert stats.chisquare(sizes).pvalue > 1e-3


def test_smallest_hashes_are_a_sample_whose_beginning_is_one():
    sample = smallest_hashes(9, 0, 2_500_000, 1_000)
    assert len(set(sample.tolist())) == 1_000
    np.testing.assert_array_equal(sample[:10], smallest_hashes(9, 0, 2_500_000, 10))
    assert stats.kstest(sample / 2_500_000, "uniform").pvalue > 1e-3
    assert sorted(smallest_hashes(9, 0, 20, 50)) == list(range(20))


def test_every_row_is_left_out_once_per_repeat_and_never_seen_by_who_left_it_out():
    draws = HashedFolds(seed=1, n_rows=500, n_folds=4, n_repeats=3)
    assert (draws.unseen.sum(axis=0) == 3).all()
    np.testing.assert_array_equal(draws.counts == 0, draws.unseen)
    some = np.array([77, 3, 400])
    np.testing.assert_array_equal(draws.seen(5, some), draws.counts[5, some].astype(bool))
    np.testing.assert_array_equal(draws.left_out(some), draws.unseen[:, some])


def test_a_share_is_taken_of_the_rows_outside_the_fold():
    draws = HashedFolds(seed=1, n_rows=20_000, n_folds=5, n_repeats=1, share=0.25)
    seen = draws.counts.astype(bool)
    assert not (seen & draws.unseen).any()
    np.testing.assert_allclose(seen.mean(axis=1), 0.8 * 0.25, atol=0.015)
    assert abs(np.corrcoef(seen[0], seen[1])[0, 1]) < 0.1  # every member has draws of its own
