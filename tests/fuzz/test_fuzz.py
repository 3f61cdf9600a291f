"""A few cases of every target run with the tests, and a broken promise is noticed."""

import pytest

from tests.fuzz.campaign import Target, run, table

pytest.importorskip("fastapi")
pytest.importorskip("pandas")

from tests.fuzz.__main__ import TARGETS


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_promises_hold(target):
    outcome = run(target, seconds=60, most=15)
    assert outcome.cases > 0
    assert outcome.broken == {}


def test_a_broken_promise_is_counted_with_its_seed():
    def attempt(rng):
        assert rng.random() < 0.5, "large"

    outcome = run(Target("toy", "always small", attempt), seconds=10, first=3, most=20)
    assert outcome.cases == 20
    assert 0 < len(outcome.broken) < 20
    assert set(outcome.broken) <= set(range(3, 23))
    assert "large" in next(iter(outcome.broken.values()))
    assert "all together" not in outcome.broken
    assert f"| toy | always small | 20 | {len(outcome.broken)} |" in table([outcome])


def test_measurements_are_judged_together():
    def judge(measured):
        assert sum(measured) < 5, f"{len(measured)} cases measured {sum(measured):.1f}"

    toy = Target("toy", "little in all", lambda rng: rng.random(), judge)
    assert run(toy, seconds=10, most=4).broken == {}
    assert set(run(toy, seconds=10, most=40).broken) == {"all together"}
