import pickle

import numpy as np
import pytest

from clearbands.rows.draws import BlockBootstraps, Bootstraps, draw_bootstraps


def test_bootstraps_draw_as_many_rows_as_there_are():
    bootstraps = Bootstraps.draw(1000, 20, np.random.RandomState(0))
    assert len(bootstraps) == 20
    assert (bootstraps.counts.sum(axis=1) == 1000).all()
    left_out = (bootstraps.counts == 0).mean()
    assert left_out == pytest.approx(np.exp(-1), abs=0.01)


def test_rows_are_counted_once_and_what_was_counted_is_not_saved():
    bootstraps = Bootstraps.draw(1000, 20, np.random.RandomState(0))
    expected = (bootstraps.counts == 0).sum(axis=0).mean()
    assert bootstraps.unseen_per_row == expected
    bootstraps.counts[:] = 1
    assert bootstraps.unseen_per_row == expected
    assert vars(pickle.loads(pickle.dumps(bootstraps))).keys() == {"counts"}


def test_blocks_are_stretches_of_neighbours():
    rng = np.random.RandomState(0)
    draws = BlockBootstraps.draw(60, 200, rng, length=12)
    assert (draws.counts.sum(axis=1) == 60).all()
    jumps = np.abs(np.diff(draws.counts.astype(int), axis=1)).sum(axis=1)
    assert jumps.max() <= 10  # five stretches have at most ten ends
    # Rows far from both ends are in twelve of the 49 stretches, so each is drawn 5 * 12 / 49 times.
    assert draws.counts[:, 20:40].mean() == pytest.approx(5 * 12 / 49, rel=0.05)


def test_blocks_have_a_length_of_their_own():
    draws = BlockBootstraps.draw(1000, 1, np.random.RandomState(0))
    inside = draws.counts[0] > 0
    ends = np.count_nonzero(np.diff(inside.astype(int))) / 2
    assert 30 < ends <= 101  # a hundred stretches of ten rows, and some of them touch


@pytest.mark.parametrize(
    ("kind", "asked", "words"),
    [
        ("weeks", {}, 'bootstrap must be "rows" or "blocks"'),
        ("blocks", {"block_length": 0}, "block_length must be a whole number of at least 1"),
        ("blocks", {"block_length": 5}, "5, and 9 rows train: .* Choose at most 4"),
        ("blocks", {"groups": np.zeros(9)}, "leave out groups"),
    ],
)
def test_bootstraps_that_cannot_be_drawn(kind, asked, words):
    with pytest.raises(ValueError, match=words):
        draw_bootstraps(kind, 9, 2, np.random.RandomState(0), **asked)
