"""The line that `verbose=1` draws."""

import io

import numpy as np
import pytest

from clearbands import ClearRegressor, fast
from clearbands.engine.progress_bar import ProgressBar
from tests.toys import noisy_line


class Clock:
    """A clock that advances by one second whenever it is read."""

    def __init__(self):
        self.now = -1.0

    def __call__(self):
        self.now += 1.0
        return self.now


def test_the_share_never_falls_and_ends_at_one():
    bar, shares = ProgressBar(io.StringIO(), Clock()), []
    for stage in ("choosing a center", "pairs"):
        for done in range(5):
            bar(stage, done, 4)
            bar("a step inside", done, 4)
            shares.append(bar.share)
    assert np.all(np.diff(shares) >= 0)
    assert shares[0] == 0
    assert shares[4] == pytest.approx(0.25)
    assert shares[-1] == pytest.approx(1)


def test_the_time_left_is_what_the_work_so_far_says():
    lines = io.StringIO()
    with ProgressBar(lines, Clock()) as bar:
        bar("epistemic", 1, 3)
        bar("epistemic", 2, 3)
        bar("aleatoric", 7, 7)
    drawn = [line.rstrip() for line in lines.getvalue().split("\r")]
    assert drawn[1].endswith("20 %, 4 s left")
    assert drawn[2].endswith("40 %, 3 s left")
    assert drawn[3].endswith("100 %")
    assert drawn[-1] == ""  # the line is cleared at the end


@pytest.mark.parametrize("verbose", [0, 1])
def test_a_fit_draws_it_when_asked_to_and_is_silent_else(verbose, capsys):
    X, y = noisy_line()
    fast(random_state=0, verbose=verbose).fit(X, y)
    said = capsys.readouterr()
    assert said.out == ""
    assert ("100 %" in said.err) == bool(verbose)


def test_a_wrong_verbosity_is_one_sentence():
    with pytest.raises(ValueError, match=r"verbose must be 0 or 1, got 'loud'"):
        fast(verbose="loud").fit([[1.0]], [1.0])


def test_what_the_fit_expects_replaces_what_its_stages_say():
    lines, clock = io.StringIO(), Clock()
    with ProgressBar(lines, clock) as bar:  # second 0
        bar("choosing a center", 1, 2)  # second 1
        bar.expect(6.0)  # second 2, so the end is expected at second 8
        bar("a step inside", 1, 9)  # second 3
        bar("pairs", 1, 1)  # second 4
    drawn = [line.rstrip() for line in lines.getvalue().split("\r")]
    assert drawn[2].endswith("38 %, 5 s left")
    assert drawn[3].endswith("50 %, 4 s left")


def test_a_fit_tells_how_long_it_will_take_once_the_race_is_over():
    X, y = noisy_line(300)
    expected = []

    class Listener(ProgressBar):
        def expect(self, seconds):
            expected.append(seconds)

    ClearRegressor(random_state=0).fit(X, y, progress=Listener(io.StringIO()))
    assert len(expected) >= 3  # after the race, the center and the noise
    assert min(expected) > 0
