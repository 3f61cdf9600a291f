import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearbands.calibration.conformal import order_statistic, rank
from clearbands.calibration.rolling import Pace, Rolling
from tests.calibration.windows import PACES, POSITIONS, ROWS, begin

LEVELS = st.sampled_from([(0.9,), (0.5, 0.9), (0.95, 0.6, 0.8)])


@given(ROWS, PACES | st.builds(Pace, lead=st.integers(1, 30)), LEVELS)
@settings(deadline=None)
def test_the_long_run_bound_holds_for_any_rows(rows, pace, levels):
    rolling = begin(pace, levels).updated_by(rows)
    tails = (1 - np.array(levels)) / 2
    assert np.all(rolling.outside - tails[:, None] <= rolling.side_bound + 1e-9)
    assert np.all(levels - rolling.coverage <= rolling.bound + 1e-9)


@pytest.mark.parametrize("rate", [0.005, 0.1])
@pytest.mark.parametrize(
    ("rows", "missed"),
    [
        (2.0 ** np.arange(2, 1002), [0, 1]),  # each row lies beyond all before it
        (-(2.0 ** np.arange(2, 1002)), [1, 0]),
        (2.0 ** np.arange(2, 1002) * np.resize([1, -1], 1000), [0.5, 0.5]),
        (np.zeros(1000), [0, 0]),  # all rows lie in the center
    ],
)
def test_no_adversary_moves_a_side_further_than_the_bound(rows, missed, rate):
    rolling = begin(Pace(window=100, rate=rate)).updated_by(rows)
    assert rolling.side_bound[0] == pytest.approx((0.05 + rate) / (1000 * rate))
    assert rolling.bound == pytest.approx((0.1 + 2 * rate) / (1000 * rate))
    assert np.all(rolling.outside - 0.05 <= rolling.side_bound)
    assert 0.9 - rolling.coverage[0] <= rolling.bound[0]
    # Nor does a side stay too wide: the two-sided bound of Gibbs and Candès holds.
    assert np.all(np.abs(rolling.outside - 0.05) <= (0.95 + rate) / (1000 * rate))
    # Where no level adapts, all rows of the adversary are missed.
    stuck = begin(Pace(window=100, rate=0)).updated_by(rows)
    np.testing.assert_allclose(stuck.outside[0], missed, atol=0.01)


def test_whatever_happens_a_side_misses_few_rows_more_than_its_share():
    rows = 2.0 ** np.arange(2, 902)
    rolling = Rolling.begin([0.5, 0.9, 0.99], np.linspace(-2, 2, 300), Pace()).updated_by(rows)
    tails = np.array([0.25, 0.05, 0.005])
    extra = rolling.n_outside[:, 1] - 900 * tails
    assert np.all(extra <= 21)
    np.testing.assert_allclose(900 * rolling.side_bound[:, 1], 21)
    late = Rolling.begin([0.9], np.linspace(-2, 2, 300), Pace(lead=24)).updated_by(rows)
    np.testing.assert_allclose(900 * late.side_bound[:, 1], 3 * 24)


@given(ROWS, PACES, st.data())
@settings(deadline=None)
def test_one_call_with_all_rows_is_one_call_for_each(rows, pace, data):
    cut = data.draw(st.integers(0, len(rows)))
    levels = (0.5, 0.9)
    at_once = begin(pace, levels).updated_by(rows)
    twice = begin(pace, levels).updated_by(rows[:cut]).updated_by(rows[cut:])
    one_by_one = begin(pace, levels)
    for row in rows:
        one_by_one = one_by_one.updated_by(np.array([row]))
    for other in (twice, one_by_one):
        assert np.array_equal(other.n_missed, at_once.n_missed)
        assert np.array_equal(other.alphas, at_once.alphas)
        assert np.array_equal(other.positions, at_once.positions)
        assert np.array_equal(other.n_outside, at_once.n_outside)
        assert np.array_equal(other.last_outside, at_once.last_outside)


@given(ROWS, PACES)
@settings(deadline=None)
def test_a_plain_loop_finds_the_same(rows, pace):
    """The loop is adaptive conformal inference as in its paper, with targets known `lead` later."""
    found = begin(pace).updated_by(rows).n_outside[0].tolist()
    assert found == [missed_above(-rows, -POSITIONS, pace), missed_above(rows, POSITIONS, pace)]


def missed_above(rows, before, pace):
    alpha, window, misses = 0.05, list(before[-(pace.window + pace.lead - 1) :]), []
    for t in range(len(rows)):
        if t >= pace.lead:  # the target of this row has become known
            alpha += pace.rate * (0.05 - misses[t - pace.lead])
            window.append(rows[t - pace.lead])
        last = np.array(window[-pace.window :])
        level = round(1 - alpha, 12)
        if level <= 0:
            misses.append(1)
        elif level >= 1:
            misses.append(0)
        else:
            reach = order_statistic(last, rank(len(last), level))
            if np.isinf(reach):  # too few rows for one side: count both
                reach = order_statistic(np.abs(last), rank(len(last), 1 - 2 * alpha))
            misses.append(int(rows[t] > reach))
    return sum(misses)


def test_another_pace_goes_on_from_where_it_is():
    rolling = begin(Pace(window=50, rate=0.05)).updated_by(np.full(9, 5.0))
    slower = rolling.at_pace(Pace(window=30, rate=0.001))
    np.testing.assert_allclose(slower.alphas, rolling.alphas)
    assert np.array_equal(slower.n_missed, rolling.n_missed)
    moved = slower.updated_by(np.full(1, 2.0)).alphas - slower.alphas
    np.testing.assert_allclose(moved, 0.001 * 0.05)
    assert slower.at_pace(slower.pace) is slower


@pytest.mark.parametrize(
    ("pace", "words"),
    [
        (Pace(window=8), "window must be a whole number of at least 9"),  # as 0.9 needs
        (Pace(rate=-1), "rate must be a number from 0 to below 1"),
        (Pace(rate="fast"), "rate must be a number"),
        (Pace(lead=0), "lead must be a whole number of at least 1"),
    ],
)
def test_paces_that_cannot_be(pace, words):
    with pytest.raises(ValueError, match=words):
        begin(pace)


def test_advice_comes_with_lost_coverage_or_strange_rows_and_not_by_chance():
    rng = np.random.default_rng(0)
    usual = begin(Pace()).updated_by(rng.normal(size=900), rng.uniform(size=900) < 0.05)
    assert usual.advice() is None
    assert "would have covered" in usual.updated_by(3 * rng.normal(size=900)).advice()
    leaning = usual.updated_by(rng.normal(size=900) * 0.8 - 0.8)
    assert "lie below the median of the fit" in leaning.advice()
    strange = usual.updated_by(rng.normal(size=900), rng.uniform(size=900) < 0.3)
    assert "are unlike those of the fit" in strange.advice()
    assert begin(Pace()).updated_by(np.full(99, 9.0)).advice() is None  # too few rows for advice
