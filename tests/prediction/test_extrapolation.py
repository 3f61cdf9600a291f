"""Intervals grow beyond the training rows, and ordinary rows do not change."""

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearbands import ClearRegressor, ModelSearch, fast, load, metrics, save
from clearbands.prediction import extrapolation
from clearbands.prediction.extrapolation import (
    Extrapolation,
    _factor_for_few,
    category_deviations,
    center_moves_without,
    deviations_of_new,
    draw_gaps,
    drop_numbers,
    factors_by_gap_count,
    gap_deviations,
)
from clearbands.rows.bands import Components
from clearbands.rows.levels import normal_distances
from tests.toys import linear_clear, noisy_line


def of(X, center, weight=None):
    return Extrapolation.of(X, weight, X, center, weight)


def test_a_line_goes_on_as_steeply():
    X = np.linspace(0, 1, 101)[:, None]
    found = of(X, 3 * X[:, 0])
    assert found.margin == pytest.approx(0.01)
    assert found.steepness == pytest.approx([3.0])
    new = np.array([[0.5], [1.0], [1.009], [2.01], [-9.01]])
    np.testing.assert_allclose(found.deviations(new), np.repeat([[0], [0], [0], [3], [27]], 2, 1))


def test_where_targets_rise_with_a_column_only_one_bound_moves():
    X = np.linspace(0, 1, 101)[:, None]
    new = np.array([[2.01], [-9.01]])
    rising = Extrapolation.of(X, None, X, 3 * X[:, 0], None, np.array([1]))
    np.testing.assert_allclose(rising.deviations(new), [[0, 3], [27, 0]])
    falling = Extrapolation.of(X, None, X, -3 * X[:, 0], None, np.array([-1]))
    np.testing.assert_allclose(falling.deviations(new), [[3, 0], [0, 27]])


def test_a_column_that_the_center_does_not_follow_hardly_counts():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(4000, 2))
    found = of(X, 3 * X[:, 0])
    assert found.steepness[0] == pytest.approx(3, rel=0.05)
    assert found.steepness[1] < 0.3


def test_a_slope_among_most_rows_does_not_hold_across_a_long_tail():
    X = np.append(np.linspace(0, 1, 100), [500.0, 1000.0])[:, None]
    found = of(X, np.minimum(X[:, 0], 1))  # 1 per unit among most rows, and 1 per range of all rows
    assert found.steepness == pytest.approx([1.0])
    np.testing.assert_allclose(found.deviations(np.array([[2500.0]])), [[1.0, 1.0]])


def test_columns_of_one_or_two_values():
    X = np.column_stack([np.ones(60), np.arange(60) == 7, np.linspace(0, 1, 60)])
    found = of(X, 5.0 * X[:, 1])
    assert found.margin == pytest.approx(1 / 59)  # of the third column: its last value is alone
    np.testing.assert_allclose(found.steepness, [0, 5, 0])
    assert not found.deviations(np.array([[9.0, 0.0, 0.5]])).any()  # a distance without a scale


ROWS = st.integers(0, 2**32 - 1)


@given(seed=ROWS, scale=st.sampled_from([1e-12, 0.3, 7.0, 1e12]), shift=st.floats(-100, 100))
@settings(max_examples=20)
def test_units_change_nothing(seed, scale, shift):
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(40, 2)), 5 * rng.normal(size=(10, 2))
    center = X[:, 0] ** 2 + rng.normal(size=40)
    expected = of(X, center).deviations(new)
    again = of(scale * (X + shift), 10 * center).deviations(scale * (new + shift))
    np.testing.assert_allclose(again, 10 * expected, rtol=1e-6, atol=1e-6)


@given(seed=ROWS)
@settings(max_examples=20)
def test_whole_weights_are_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.integers(0, 9, (30, 2)).astype(float), rng.integers(1, 4, 30)
    center = rng.normal(size=30)
    rows = np.repeat(np.arange(30), weight)
    one, other = of(X, center, weight.astype(float)), of(X[rows], center[rows])
    assert one.margin == other.margin
    np.testing.assert_array_equal(one.steepness, other.steepness)


def test_of_ordinary_rows_one_in_as_many_as_trained_is_touched():
    rng = np.random.default_rng(0)
    touched = [
        of(X[:-50], X[:-50, 0]).deviations(X[-50:]).astype(bool).mean()
        for X in rng.normal(size=(100, 100, 4))
    ]
    assert np.mean(touched) == pytest.approx(1 / 51, abs=0.012)


# In a model


@pytest.fixture(scope="module")
def trees():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 2))
    model = ClearRegressor(
        search=OnlyTrees(folds=3, repeats=1, n_centers=1),
        confidence_level=[0.5, 0.9],
        random_state=0,
    )
    return model.fit(X, 4 * X[:, 0] + rng.normal(size=200)), X


class OnlyTrees(ModelSearch):
    """A search for trees alone, whose predictions are constant far out."""

    def centers(self, n_rows, n_columns):
        pool = super().centers(n_rows, n_columns)
        return {name: model for name, model in pool.items() if name.startswith("trees")}


def test_far_out_intervals_grow_and_the_reason_is_ignorance(trees):
    model, _ = trees
    X = np.array([[1.0, 0.0], [3.0, 0.0], [10.0, 0.0], [1e6, 0.0]])
    point, intervals = model.predict_interval(X)
    assert np.ptp(point[1:]) == 0  # trees
    widths = intervals[:, 1] - intervals[:, 0]
    assert np.all(np.diff(widths, axis=0) > 0)
    assert np.all(widths[3] > 1e5)
    assert np.all(widths[:, 0] < widths[:, 1])  # nested
    parts = model.predict_uncertainty(X)
    assert np.all(np.diff(parts.epistemic, axis=0) > 0)
    assert np.ptp(parts.aleatoric[1:], axis=0).max() < 1e-12
    quantiles = model.predict_quantiles(X, [0.25, 0.75])
    np.testing.assert_allclose(quantiles, intervals[:, :, 0])


def test_rows_like_those_that_trained_are_as_they_were(trees, tmp_path):
    model, X = trees
    trusted = ["tests.prediction.test_extrapolation.OnlyTrees"]
    save(model, tmp_path / "model.clear", trusted=trusted)
    old = load(tmp_path / "model.clear", trusted=trusted)
    far = X + 7
    np.testing.assert_array_equal(old.predict_interval(far)[1], model.predict_interval(far)[1])
    old.predictor_ = replace(old.predictor_, beyond=None)
    np.testing.assert_array_equal(old.predict_interval(X)[1], model.predict_interval(X)[1])
    assert np.all(
        np.ptp(old.predict_interval(far)[1], axis=1)
        < np.ptp(model.predict_interval(far)[1], axis=1)
    )


def test_the_papers_intervals_are_the_papers():
    X, y = noisy_line()
    assert linear_clear(calibration="joint").fit(X, y).beyond_ is None
    assert fast(random_state=0).fit(X, y).beyond_ is not None


def test_the_farthest_numbers_are_no_trouble(trees):
    model, _ = trees
    _, intervals = model.predict_interval([[1e308, -1e308]])
    assert np.all(np.isfinite(intervals))


# Categories that no training row has


def towns(n, n_towns=30, seed=0):
    """Return towns whose targets differ by far more than the noise."""
    rng = np.random.default_rng(seed)
    effect, town = rng.normal(0, 3, n_towns), rng.integers(0, n_towns, n)
    size = rng.uniform(0, 1, n)
    table = pd.DataFrame({"size": size, "town": np.char.add(f"{seed}-", town.astype(str))})
    return table, 4 * size + effect[town] + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("calibration", ["cross", "joint"])
def test_unknown_categories_make_intervals_wide_enough(calibration):
    X, y = towns(600)
    search = ModelSearch(folds=3, repeats=1, n_centers=1, surfaces=False)
    model = ClearRegressor(calibration=calibration, search=search, random_state=0).fit(X, y)
    known, elsewhere = (np.ptp(model.predict_interval(t)[1], axis=1) for t in (X, towns(600)[0]))
    new, y_new = towns(600, seed=1)
    assert model.unfamiliar(new).all()
    bounds = model.predict_interval(new)[1][:, :, 0]
    assert np.ptp(bounds, axis=1).mean() > 3 * known.mean()
    assert metrics.picp(y_new, bounds) > 0.75  # 0.2 without the additions
    parts = model.predict_uncertainty(new)
    assert parts.epistemic_share.min() > 0.5
    np.testing.assert_array_equal(known, elsewhere)
    plain = copy(model)
    beyond = replace(model.beyond_, category_deviations=None)
    plain.predictor_ = replace(model.predictor_, beyond=beyond)
    np.testing.assert_array_equal(
        plain.predict_interval(X)[1], model.predict_interval(X)[1]
    )  # rows with known categories do not change
    assert metrics.picp(y_new, plain.predict_interval(new)[1][:, :, 0]) < 0.5


def _looks(slopes, reached=0.0):
    """Return a function of rows that gives centers on a line and bounds at one distance."""
    return lambda rows: (rows @ slopes, np.full((len(rows), 2), reached))


def _without(rows, texts, columns):
    return np.where(np.isin(np.arange(rows.shape[1]), columns), 0.0, rows)


def test_what_a_category_is_worth_counts_rows_as_weights_say():
    X, texts = np.array([[1.0, 5.0], [0.0, 5.0]]), np.array([["a"], ["b"]])
    how = _looks(np.array([3.0, 0.0])), _without, X, texts, [2], np.full(2, 99.0), 0.9
    few = _factor_for_few(2)  # two categories show too little about the next one
    assert few > 2 > _factor_for_few(10) > _factor_for_few(1000) > 1
    np.testing.assert_allclose(category_deviations(*how), [few * 3 / np.sqrt(2)])
    weighted = category_deviations(*how, np.array([3.0, 1.0]))
    np.testing.assert_allclose(weighted, [few * 3 * np.sqrt(3 / 4)])


def test_intervals_of_rows_whose_category_is_forgotten_are_widened_by_what_they_lack():
    """What is added is less than the moves if few rows move far, or the model is less sure."""
    rng, n, level = np.random.RandomState(0), 400, 0.9
    X = np.where(rng.rand(n) < 0.08, 20.0, 1.0)[:, None] * rng.randn(n, 1)
    texts, error = np.array([["a"]] * n, object), 0.1 * rng.randn(n)
    (step,) = normal_distances([level])
    found = []
    for reached in (0.2, 1.0, 99.0):
        look = _looks(np.ones(1), reached)
        (worth,) = category_deviations(look, _without, X, texts, [1000], error, level)
        found.append(worth)
        bound = np.hypot(reached, step * worth / _factor_for_few(1000))
        assert np.mean(np.abs(error + X[:, 0]) <= bound) >= level
    assert found[0] > found[1] > found[2] == 0
    assert found[0] < np.sqrt(np.mean(X**2))


def test_rows_with_a_category_of_their_own_tell_what_such_rows_lack():
    """They must be enough for the level, of which a tenth may lack more."""
    is_new = np.arange(100)[:, None] < [40, 5, 0]
    error, distances = np.where(is_new[:, 0], 3.0, 0.1), np.ones((100, 2))
    error[:3], error[3:30] = 99.0, -error[3:30]
    (step,) = normal_distances([0.9])
    expected = [np.sqrt(3.0**2 - 1) / step, np.inf, np.inf]
    np.testing.assert_allclose(deviations_of_new(error, distances, is_new, 0.9), expected)
    weight = np.where(np.arange(100) < 3, 5.0, 1.0)  # the first three rows now count most
    assert deviations_of_new(error, distances, is_new, 0.9, weight)[0] > 50


@pytest.mark.parametrize("n_columns", [5, 200])
def test_of_many_columns_those_that_move_nothing_are_looked_at_together(n_columns):
    X = np.random.RandomState(0).randn(30, n_columns)
    texts = np.array([["a"] * n_columns, ["b"] * n_columns] * 15, object)
    slopes, calls = np.zeros(n_columns), []
    slopes[3] = 2.0

    def forget(rows, texts, columns):
        calls.append(columns)
        return _without(rows, texts, columns)

    error = np.full(30, 99.0)
    found = category_deviations(_looks(slopes), forget, X, texts, [2] * n_columns, error, 0.9)
    expected = _factor_for_few(2) * np.abs(slopes) * np.sqrt(np.mean(X**2, axis=0))
    np.testing.assert_allclose(found, expected)
    assert len(calls) < 25


def test_ranges_larger_than_any_number():
    X = np.where(np.random.default_rng(0).random((40, 2)) > 0.5, 1e308, -1e308)
    found = Extrapolation.of(X, None, X, X[:, 0] / 1e308, None)
    np.testing.assert_array_equal(found.deviations(X), 0)
    assert np.isfinite(found.deviations(np.full((1, 2), 1.7e308))).all()


def test_intervals_around_centers_without_a_number_cover_as_the_level_says():
    """This holds for any moves: here most rows move a little, and one in four far down."""
    rng = np.random.RandomState(0)
    moves = np.where(rng.rand(2, 2000) < 0.25, -6.0, 1.0) * [[1.0], [0.0]]
    error = rng.uniform(-1, 1, 2000)
    distances = np.full((2000, 2), 0.92)
    found = gap_deviations(moves, error, distances, 0.9)
    reach = np.hypot(0.92, found[:, None] * normal_distances([0.9]))
    covered = np.abs(error + moves) <= reach
    assert covered[0].mean() == pytest.approx(0.9, abs=2e-3)
    assert found[1] == 0.0  # nothing moves, and more rows are covered than the level asks for
    twice = gap_deviations(moves, error, distances, 0.9, np.full(2000, 2.0))
    np.testing.assert_allclose(twice, found, rtol=1e-2)


def test_numbers_are_dropped_in_parts_where_rows_are_wide(monkeypatch):
    X = np.arange(12.0).reshape(4, 3)

    def drop(rows, column):
        return np.where(np.arange(3) == column, 0.0, rows)

    whole = center_moves_without(lambda rows: rows.sum(axis=1), drop, X, np.array([0, 2]))
    np.testing.assert_array_equal(whole, X[:, [0, 2]].T)
    monkeypatch.setattr(extrapolation, "MOST_NUMBERS", 1)
    parts = center_moves_without(lambda rows: rows.sum(axis=1), drop, X, np.array([0, 2]))
    np.testing.assert_array_equal(parts, whole)


def test_several_gaps_cover_as_the_level_says_whether_numbers_repeat_each_other_or_not():
    """One of two columns stands in for the other: alone they move nothing, together a lot."""
    rng = np.random.RandomState(0)
    error, distances = rng.uniform(-1, 1, 2000), np.full((2000, 2), 0.9)
    moves, one_by_one = 5 * rng.randn(2000), np.full(2000, 0.5)
    together = factors_by_gap_count({2: moves}, {2: one_by_one}, error, distances, 0.9)
    assert together[0].tolist() == [1.0, 1.0]
    assert together[1, 0] == 2
    reach = np.hypot(0.9, together[1, 1] * 0.5 * normal_distances([0.9]))
    assert (np.abs(error + moves) <= reach).mean() == pytest.approx(0.9, abs=2e-3)
    nothing = factors_by_gap_count({2: moves}, {2: np.zeros(2000)}, error, distances, 0.9)
    assert nothing[1].tolist() == [2.0, 0.0]  # a sum of nothing needs no factor


def test_so_many_numbers_are_gone_of_every_row_and_others_of_each():
    gone = draw_gaps(400, 6)
    assert list(gone) == [2, 3, 6]
    for count, rows in gone.items():
        assert (rows.sum(axis=1) == count).all()
    np.testing.assert_allclose(gone[2].mean(axis=0), 1 / 3, atol=0.1)
    assert (list(draw_gaps(3, 2)), list(draw_gaps(3, 1))) == ([2], [])

    def drop(rows, column):
        return np.where(np.arange(3) == column, -1.0, rows)

    left = drop_numbers(drop, np.zeros((2, 3)), np.array([0, 2]), np.eye(2, dtype=bool))
    np.testing.assert_array_equal(left, [[-1, 0, 0], [0, 0, -1]])


def test_gaps_count_as_what_they_are_together():
    beyond = replace(
        of(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), np.zeros(3)),
        gaps=np.array([3.0, 4.0]),
        gap_factors=np.array([[1.0, 1.0], [2.0, 2.0]]),
    )
    nothing = Components(np.zeros(3), np.zeros((3, 2, 1)), np.zeros((3, 2, 1)))
    gaps = np.array([[False, False], [True, False], [True, True]])
    widened = beyond.widen(nothing, np.ones((3, 2)), [0.9], None, gaps)
    (step,) = normal_distances([0.9])
    np.testing.assert_allclose(widened.epistemic[:, 0, 0], step * np.array([0.0, 3.0, 10.0]))
    alone = replace(beyond, gap_factors=None).widen(nothing, np.ones((3, 2)), [0.9], None, gaps)
    np.testing.assert_allclose(alone.epistemic[:, 0, 0], step * np.array([0.0, 3.0, 5.0]))
