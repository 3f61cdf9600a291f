"""Progress goes to whoever listens, and to nobody else."""

import pytest

from clearbands.engine.progress import expect, ignore, listening, report


class Clock:
    """A listener that records steps, and how long the rest is expected to take."""

    def __init__(self):
        self.steps, self.seconds = [], []

    def __call__(self, *step):
        self.steps.append(step)

    def expect(self, seconds):
        self.seconds.append(seconds)


def test_the_innermost_listener_hears_it():
    outer, inner = Clock(), Clock()
    with listening(outer):
        report("trees", 1, 3)
        with listening(inner):
            report("trees", 2, 3)
        with listening(None):  # changes nothing
            report("trees", 3, 3)
    report("trees", 4, 3)
    assert outer.steps == [("trees", 1, 3), ("trees", 3, 3)]
    assert inner.steps == [("trees", 2, 3)]


def test_an_error_ends_the_listening():
    clock = Clock()
    with pytest.raises(KeyError), listening(clock):
        raise KeyError
    report("trees", 1, 1)
    assert clock.steps == []


def test_only_those_that_want_to_know_hear_how_long_it_takes():
    clock, steps = Clock(), []
    with listening(clock):
        expect(12.5)
        with listening(lambda *step: steps.append(step)):
            expect(3.0)
        with listening(ignore):
            expect(3.0)
            report("trees", 1, 1)
    assert (clock.seconds, clock.steps, steps) == ([12.5], [], [])
