import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from sklearn.metrics import mean_pinball_loss

from clearbands import metrics

finite = st.floats(-1e6, 1e6)
rows = st.lists(st.tuples(finite, finite, finite), min_size=1, max_size=50)


def unpack(values):
    y, one, other = np.array(values).T
    return y, np.stack([np.minimum(one, other), np.maximum(one, other)], axis=1)


def test_by_hand():
    y = np.array([0.0, 1.0, 2.0, 4.0])
    intervals = np.array([[0, 1], [0, 2], [0, 1], [3, 4]], float)
    assert metrics.picp(y, intervals) == 0.75
    assert metrics.niw(y, intervals) == 1.25 / 4
    assert metrics.niw(y, intervals, y_range=10) == 0.125
    # widths, plus 2 / 0.5 times the distance 1 by which the third row is missed
    assert metrics.interval_score(y, intervals, 0.5) == (1 + 2 + 1 + 1 + 4) / 4
    assert metrics.quantile_loss(y, intervals, 0.5) == 9 / 4 * 0.5 / 4


def test_nciw_stretches_about_the_center_until_the_level_is_reached():
    y, center = np.array([1.0, -2.0, 3.0, -4.0]), np.zeros(4)
    intervals = np.array([[-1.0, 1.0]] * 4)
    assert metrics.nciw(y, center, intervals, 0.75, y_range=1) == 6.0  # factor 3, width 2
    # half of the level needs half of the rows: factor 2
    assert metrics.nciw(y, center, intervals, 0.5, y_range=1) == 4.0


def test_nll_min_is_the_least_over_all_factors():
    """Against scipy's normal density and a search, with weights as copies."""
    rng = np.random.default_rng(0)
    y, center, length = rng.normal(size=50), rng.normal(size=50), rng.uniform(1, 3, 50)
    intervals = np.column_stack([center - length / 3, center + length * 2 / 3])
    weight = rng.integers(1, 4, 50)

    def loss(logarithm):
        normal = stats.norm(center, np.exp(logarithm) * length)
        return -np.average(normal.logpdf(y), weights=weight)

    best = optimize.minimize_scalar(loss, bounds=(-5, 5), method="bounded").fun
    found = metrics.nll_min(y, center, intervals, sample_weight=weight)
    assert found == pytest.approx(best)
    copies = np.repeat(np.arange(50), weight)
    assert metrics.nll_min(y[copies], center[copies], intervals[copies]) == pytest.approx(found)
    assert metrics.nll_min(y, center, 7 * intervals, sample_weight=weight) == pytest.approx(found)
    moved = metrics.nll_min(3 * y, 3 * center, 3 * intervals, sample_weight=weight)
    assert moved == pytest.approx(found + math.log(3))


def test_nll_min_is_least_where_lengths_are_as_the_noise():
    rng = np.random.default_rng(0)
    noise = rng.uniform(0.5, 2, 5_000)
    y, zero = noise * rng.normal(size=5_000), np.zeros(5_000)
    values = [
        metrics.nll_min(y, zero, np.column_stack([-(noise**power), noise**power]))
        for power in (0, 0.7, 1, 1.3, 2)
    ]
    assert int(np.argmin(values)) == 2


def test_nll_min_without_length_or_without_error():
    zero, ones = np.zeros(2), np.array([[-1.0, 1.0]] * 2)
    assert metrics.nll_min(zero, zero, ones) == -math.inf
    assert metrics.nll_min(zero, zero, 0 * ones) == math.inf
    assert metrics.nll_min(zero, zero, np.inf * ones) == math.inf


def test_nciw_does_not_cover_a_row_off_a_side_without_width():
    y, center = np.array([1.0, -2.0]), np.zeros(2)
    one_sided = np.array([[0.0, 1.0], [0.0, 1.0]])
    assert metrics.nciw(y, center, one_sided, 0.5, y_range=1) == 1.0
    assert metrics.nciw(y, center, one_sided, 0.9, y_range=1) == math.inf
    assert metrics.nciw(center, center, np.zeros((2, 2)), 0.9, y_range=1) == 0.0


@given(rows, st.sampled_from([0.5, 0.8, 0.9, 0.95]))
def test_quantile_loss_is_the_mean_pinball_loss_of_the_bounds(values, level):
    y, intervals = unpack(values)
    tail = (1 - level) / 2
    expected = (
        mean_pinball_loss(y, intervals[:, 0], alpha=tail)
        + mean_pinball_loss(y, intervals[:, 1], alpha=1 - tail)
    ) / 2
    assert metrics.quantile_loss(y, intervals, level) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(rows, st.sampled_from([0.5, 0.9, 0.95]))
def test_interval_score_is_four_over_alpha_times_quantile_loss(values, level):
    y, intervals = unpack(values)
    assert metrics.interval_score(y, intervals, level) == pytest.approx(
        4 / (1 - level) * metrics.quantile_loss(y, intervals, level)
    )


def test_infinite_intervals_cover_and_cost_everything():
    y, intervals = np.array([0.0, 1.0]), np.array([[-np.inf, np.inf]] * 2)
    scores = metrics.evaluate(y, y, intervals, 0.9)
    assert scores["picp"] == 1
    assert scores["niw"] == scores["quantile_loss"] == math.inf


def test_evaluate_returns_all_by_name():
    y = np.array([0.0, 1.0, 2.0])
    scores = metrics.evaluate(y, y, np.stack([y - 1, y + 1], axis=1), 0.9)
    assert list(scores) == ["picp", "niw", "nciw", "quantile_loss", "interval_score"]
    assert scores["nciw"] == 0  # every row lies on its center


@pytest.mark.parametrize(
    ("y", "intervals", "message"),
    [
        ([1.0, 2.0], [[0.0, 1.0]], "shape"),
        ([1.0], [[2.0, 1.0]], "lower bound exceeds the upper bound in row 0"),
        ([1.0], [[np.nan, 1.0]], "NaN"),
        ([np.nan], [[0.0, 1.0]], "y contains NaN"),
        ([], np.empty((0, 2)), "y is empty"),
    ],
)
def test_bad_input(y, intervals, message):
    with pytest.raises(ValueError, match=message):
        metrics.picp(y, intervals)


def test_constant_y_has_no_range():
    with pytest.raises(ValueError, match="give y_range"):
        metrics.niw([1.0, 1.0], [[0.0, 1.0]] * 2)


def test_one_level_of_several_is_taken_as_it_is():
    y, intervals = np.zeros(2), np.array([[-1.0, 1.0]] * 2)
    assert metrics.picp(y, intervals[:, :, None]) == 1
    with pytest.raises(ValueError, match="score one at a time"):
        metrics.picp(y, np.repeat(intervals[:, :, None], 2, axis=2))


def test_infinite_bounds_have_infinite_width_and_loss():
    y, intervals = np.array([0.0, 1.0]), np.array([[-np.inf, np.inf], [0.0, 2.0]])
    scores = metrics.evaluate(y, y, intervals, 0.9)
    assert scores.pop("picp") == 1
    assert all(value == np.inf for value in scores.values())


def test_whole_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    y, center = rng.normal(size=(2, 40))
    intervals = center[:, None] + [-1, 1] * rng.gamma(1, size=(40, 2))
    weight = rng.integers(0, 4, 40)
    rows = np.repeat(np.arange(40), weight)
    one = metrics.evaluate(y, center, intervals, 0.8, 5.0, sample_weight=weight)
    other = metrics.evaluate(y[rows], center[rows], intervals[rows], 0.8, 5.0)
    assert one == pytest.approx(other, rel=1e-12)
    with pytest.raises(ValueError, match="sample_weight has 39 rows"):
        metrics.picp(y, intervals, sample_weight=weight[1:])
