import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearbands.calibration.conformal import CalibrationWarning, order_statistic, rank
from clearbands.calibration.distribution import AnyLevel
from clearbands.calibration.rolling import Pace, Rolling

POSITIONS = np.linspace(-2, 2, 60)
# Small numbers with ties; and 2, 4, 8, ...: each beyond all that came before it.
ROWS = st.lists(st.integers(-3, 3).map(float) | st.just(None), min_size=1, max_size=120).map(
    lambda rows: np.array([2.0**n if row is None else row for n, row in enumerate(rows)])
)
PACES = st.builds(
    Pace,
    window=st.integers(20, 80),
    rate=st.sampled_from([0.005, 0.05, 0.5]),
    lead=st.integers(1, 6),
)


def begin(pace, levels=(0.9,)):
    return Rolling.begin(levels, POSITIONS, pace)


@given(ROWS, PACES, st.sampled_from([(0.9,), (0.5, 0.9), (0.95, 0.6, 0.8)]))
@settings(deadline=None)
def test_the_long_run_bound_holds_for_any_rows(rows, pace, levels):
    rolling = begin(pace, levels).after(rows)
    away = np.abs(rolling.coverage - levels)
    assert np.all(away <= rolling.bound + 1e-9)


@pytest.mark.parametrize("rate", [0.005, 0.1])
@pytest.mark.parametrize(
    ("rows", "what"),
    [(2.0 ** np.arange(2, 1002), "each beyond all before"), (np.zeros(1000), "all in the center")],
)
def test_no_adversary_moves_the_coverage_further_than_the_bound(rows, what, rate):
    # Gibbs and Candes: (max(alpha, 1 - alpha) + rate) / (n * rate).
    rolling = begin(Pace(window=100, rate=rate)).after(rows)
    bound = (0.9 + rate) / (1000 * rate)
    assert rolling.bound == pytest.approx(bound)
    assert abs(rolling.coverage[0] - 0.9) <= bound
    # Without the level that adapts the adversary has his way.
    stuck = begin(Pace(window=100, rate=0)).after(rows)
    assert stuck.coverage[0] == (0 if rows[-1] else 1)


@given(ROWS, PACES, st.data())
@settings(deadline=None)
def test_one_call_with_all_rows_is_one_call_for_each(rows, pace, data):
    cut = data.draw(st.integers(0, len(rows)))
    levels = (0.5, 0.9)
    at_once = begin(pace, levels).after(rows)
    twice = begin(pace, levels).after(rows[:cut]).after(rows[cut:])
    one_by_one = begin(pace, levels)
    for row in rows:
        one_by_one = one_by_one.after(np.array([row]))
    for other in (twice, one_by_one):
        assert np.array_equal(other.n_missed, at_once.n_missed)
        assert np.array_equal(other.alphas, at_once.alphas)
        assert np.array_equal(other.positions, at_once.positions)
        assert np.array_equal(other.last_missed, at_once.last_missed)


@given(ROWS, PACES)
@settings(deadline=None)
def test_a_plain_loop_finds_the_same(rows, pace):
    """Adaptive conformal inference, written as in its paper, with targets known `lead` later."""
    alpha, window, misses = 0.1, list(np.abs(POSITIONS[-(pace.window + pace.lead - 1) :])), []
    for t in range(len(rows)):
        if t >= pace.lead:  # the target of this row has become known
            alpha += pace.rate * (0.1 - misses[t - pace.lead])
            window.append(abs(rows[t - pace.lead]))
        last = np.array(window[-pace.window :])
        level = round(1 - alpha, 12)
        if level <= 0:
            misses.append(1)
        elif level >= 1:
            misses.append(0)
        else:
            misses.append(int(abs(rows[t]) > order_statistic(last, rank(len(last), level))))
    assert begin(pace).after(rows).n_missed.tolist() == [sum(misses)]


def test_the_window_alone_is_split_conformal_on_the_last_rows():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=300)
    rolling = begin(Pace(window=99, rate=0)).after(rows)
    fitted = AnyLevel(np.array([0.9]), np.array([0]), POSITIONS)
    ones = np.ones((1, 2, 1))
    reach = np.sort(np.abs(rows[-99:]))[89] / 1.6448536  # in units of the band at 0.9
    bounds = rolling.bands(fitted).intervals(np.zeros(1), ones, 0.9)
    np.testing.assert_allclose(bounds[0, :, 0], [-reach, reach])


@given(ROWS, PACES)
@settings(deadline=None)
@pytest.mark.filterwarnings("ignore::clearbands.CalibrationWarning")
def test_intervals_of_all_levels_stay_nested(rows, pace):
    rolling = begin(pace, (0.8, 0.5, 0.9)).after(rows)
    fitted = AnyLevel(np.array([0.5, 0.8, 0.9]), np.arange(3), POSITIONS)
    distances = np.tile([0.7, 1.3, 1.6], (1, 2, 1))
    asked = [0.05, 0.3, 0.5, 0.6, 0.8, 0.85, 0.9, 0.97]
    lower, upper = rolling.bands(fitted).intervals(np.zeros(1), distances, asked)[0]
    assert np.all(upper[1:] >= upper[:-1])
    assert np.all(lower[1:] <= lower[:-1])
    assert lower[0] <= 0 <= upper[0]


def test_bounds_that_no_window_supports_are_infinite_and_said():
    rolling = begin(Pace(window=100, rate=0.2)).after(np.array([5.0, 9.0]))
    assert rolling.levels_now[0] > 1
    fitted = AnyLevel(np.array([0.9]), np.array([0]), POSITIONS)
    with pytest.warns(CalibrationWarning, match="the bounds are infinite"):
        bounds = rolling.bands(fitted).intervals(np.zeros(1), np.ones((1, 2, 1)), 0.9)
    assert np.isinf(bounds).all()


def test_intervals_shrink_to_their_center_where_all_rows_are_inside():
    rolling = begin(Pace(window=100, rate=0.55)).after(np.zeros(17))
    assert rolling.levels_now[0] <= 0
    fitted = AnyLevel(np.array([0.9]), np.array([0]), POSITIONS)
    bounds = rolling.bands(fitted).intervals(np.ones(1), np.ones((1, 2, 1)), 0.9)
    np.testing.assert_allclose(bounds[0, :, 0], 1)


def test_the_distribution_has_the_adapted_intervals_as_quantiles():
    rng = np.random.default_rng(0)
    rolling = begin(Pace(window=2000, rate=0.01)).after(3 * rng.normal(size=3000))
    bands = rolling.bands(AnyLevel(np.array([0.9]), np.array([0]), POSITIONS))
    ones = np.ones((1, 2, 1))
    inside = bands.intervals(np.zeros(1), ones, [0.5, 0.9])[0]
    ends = bands.distribution(np.zeros(1), ones).ppf([0.25, 0.75, 0.05, 0.95])[0]
    np.testing.assert_allclose(ends, inside.T.ravel(), rtol=0.01)


def test_another_pace_goes_on_from_where_it_is():
    rolling = begin(Pace(window=50, rate=0.05)).after(np.full(9, 5.0))
    slower = rolling.at_pace(Pace(window=30, rate=0.001))
    np.testing.assert_allclose(slower.alphas, rolling.alphas)
    assert np.array_equal(slower.n_missed, rolling.n_missed)
    moved = slower.after(np.zeros(1)).alphas - slower.alphas
    assert moved == pytest.approx(0.001 * 0.1)
    assert slower.at_pace(slower.pace) is slower


@pytest.mark.parametrize(
    ("pace", "words"),
    [
        (Pace(window=8), "window must be a whole number of at least 9"),  # for the level of 0.9
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
    usual = begin(Pace()).after(rng.normal(size=900), rng.uniform(size=900) < 0.05)
    assert usual.advice() is None
    assert "would have covered" in usual.after(3 * rng.normal(size=900)).advice()
    strange = usual.after(rng.normal(size=900), rng.uniform(size=900) < 0.3)
    assert "are unlike those of the fit" in strange.advice()
    assert begin(Pace()).after(np.full(99, 9.0)).advice() is None  # too few to say
