import numpy as np
import pytest

from clearbands.rows.shares import Shares, all_targets, share_out
from clearbands.rows.split import Rows


def rows(n, first=0):
    y = np.arange(first, first + n, dtype=float)
    return Rows(y[:, None], y)


def shared(calibration, given=None, gap=None):
    rng = np.random.RandomState(0)
    return share_out(rows(40), given, calibration, size=0.25, gap=gap, rng=rng)


@pytest.mark.parametrize(
    ("calibration", "sizes"), [("cross", []), ("joint", [10]), ("conformal", [5, 5])]
)
def test_every_row_has_one_task(calibration, sizes):
    shares = shared(calibration)
    assert [len(share) for share in shares.held_out] == sizes
    assert len(shares.train) == 40 - sum(sizes)
    assert sorted(all_targets(shares)) == list(range(40))


def test_with_a_calibration_set_all_rows_train():
    shares = shared("conformal", given=rows(8, first=100))
    assert len(shares.train) == 40
    assert sorted(np.concatenate([share.y for share in shares.held_out])) == list(range(100, 108))


def test_in_the_order_of_time_the_last_rows_calibrate_and_those_before_them_choose():
    shares = shared("conformal", gap=2)
    choosing, calibrating = shares.held_out
    assert calibrating.y.tolist() == [35, 36, 37, 38, 39]
    assert choosing.y.tolist() == [30, 31, 32, 33, 34]
    assert shares.train.y.tolist() == list(range(28))  # two moments are not known yet


def test_each_share_is_changed_alike():
    assert Shares(1, (2, 3)).each(lambda n: n * 10.0) == Shares(10.0, (20.0, 30.0))
