"""A diagnosis of a model is quiet where coverage holds, and names where it does not."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

from clearbands import (
    NaiveConformal,
    PCSEnsemble,
    diagnose,
    diagnostics,
)
from clearbands.rows.display import percent
from tests.diagnostics.known_coverage import TREE, Scaled, covered_with
from tests.toys import linear_clear, noisy_line


@pytest.mark.slow
def test_findings_stay_quiet_where_coverage_holds():
    # With small calibration sets, coverage varies from 0.83 to 0.96 by chance, which is no fault.
    noisy = 0
    for seed in range(30):
        model = Scaled(100, seed)
        X, y = model.draw(300, seed)
        groups = np.random.default_rng([seed, 1]).integers(4, size=300)
        found = diagnose(model, X, y, by=groups, classifier=TREE, random_state=seed)
        noisy += bool(found.findings)
    assert noisy <= 4  # at a rate of 5 % more have a probability of 2 %; 0 of 240 were seen


def test_findings_name_where_coverage_is_broken():
    model = Scaled(1000, spread=lambda X: np.ones(len(X)))  # ignores that spread grows with x0
    X, y = model.draw(1500, 1)
    frame = pd.DataFrame(X, columns=["age", "size", "weight"])
    found = diagnose(model, frame, y, classifier=TREE)
    in_age = [s for s in found.findings if "third of `age`" in s]
    assert any(s.startswith("under-covers") and "highest third" in s for s in in_age)
    assert any(s.startswith("over-covers") and "lowest third" in s for s in in_age)
    assert not [s for s in found.findings if "`size`" in s or "`weight`" in s]
    cell = found.by_feature[2]
    points = round(90 - 100 * cell.coverage)
    assert f"under-covers by {points} points in the highest third of `age`, 500 rows" in in_age


def test_a_model_that_is_wrong_everywhere_is_called_so_once():
    model = Scaled(1000)
    model.q *= 0.5
    X, y = model.draw(1000, 1)
    (sentence,) = diagnose(model, X, y, classifier=TREE).findings
    assert sentence.startswith("under-covers by 3")
    assert sentence.endswith("points over 1000 rows")


def test_new_rows_of_another_kind_are_found():
    model = Scaled(300)
    X, y = model.draw(300, 1)
    found = diagnose(model, X, y, X_calibration=X + 1, classifier=TREE)
    assert [s for s in found.findings if s.startswith("New rows differ")]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_with_text_and_gaps(frame):
    rng = np.random.default_rng(0)
    town = rng.choice(["north", "south", "west"], size=300)
    size = rng.uniform(50, 150, size=300)
    y = size + (town == "north") * 5 * rng.normal(size=300) + rng.normal(size=300)
    size[::10] = np.nan
    town[:5] = [f"hamlet {i}" for i in range(5)]
    X = frame({"size": size, "town": town})
    model = linear_clear().fit(X[:150], y[:150])
    found = diagnose(model, X[150:], y[150:], by=town[150:] == "north", classifier=TREE)
    where = [cell.where for cell in found.by_feature]
    assert "the lowest third of `size`" in where
    assert "`size` = missing" in where
    assert "`town` = north" in where
    assert len(found.by_group) == 2
    assert found.coverage_gap == diagnostics.coverage_gap(found.by_group, 0.9)
    assert found.lambda_ == model.lambda_[0]
    assert found.n_calibration == model.n_calibration_


@pytest.mark.parametrize("frame", [np.array, pd.DataFrame, pl.DataFrame])
def test_a_column_without_values_is_no_obstacle(frame):
    X, y = Scaled.draw(120, 0)
    X[:, 2] = np.nan
    found = diagnose(Scaled(), frame(X), y, classifier=TREE)
    assert found.worst_slab is not None
    assert found.by_feature[-1].where.endswith("= missing")
    assert found.by_feature[-1].n == 120


def test_rare_categories_are_taken_together():
    X, y = Scaled.draw(100, 0)
    X = pl.DataFrame({"a": X[:, 0], "id": ["x"] * 60 + [str(i) for i in range(40)]})

    class Model(Scaled):
        def predict_interval(self, X):
            return super().predict_interval(X.select("a").to_numpy())

    found = diagnose(Model(), X, y, classifier=TREE)
    assert [(c.where, c.n) for c in found.by_feature[3:]] == [
        ("`id` = any rare value", 40),
        ("`id` = x", 60),
    ]


def test_one_level_of_several_and_models_without_parts():
    X, y = noisy_line(300)
    model = linear_clear(confidence_level=[0.9, 0.5]).fit(X, y)
    X_new, y_new = noisy_line(300, seed=1)
    found = diagnose(model, X_new, y_new, confidence_level=0.5, classifier=TREE)
    assert found.confidence_level == 0.5
    assert found.coverage.coverage < 0.7
    assert found.by_ratio
    with pytest.raises(ValueError, match=r"not fitted at level 0.8; it has 0.9, 0.5"):
        diagnose(model, X_new, y_new, confidence_level=0.8)
    naive = NaiveConformal(PCSEnsemble([LinearRegression()], n_bootstraps=5)).fit(X, y)
    found = diagnose(naive, X_new, y_new, classifier=TREE)
    assert found.by_ratio == ()
    assert found.lambda_ is None


def test_affine_maps_of_y_and_intervals_change_nothing():
    X, y = Scaled.draw(200, 0)
    model = Scaled(200)
    center, intervals = model.predict_interval(X)

    class Mapped(Scaled):
        def predict_interval(self, X):
            return 5 - 4 * center, 5 - 4 * intervals[:, ::-1]

    one = diagnose(model, X, y, classifier=TREE).to_frame()
    other = diagnose(Mapped(200), X, 5 - 4 * y, classifier=TREE).to_frame()
    pd.testing.assert_frame_equal(one, other, rtol=1e-9)


def test_lower_bounds_below_zero_are_named_where_no_true_value_is():
    X, y = Scaled.draw(60, 0)
    n_below = int(np.sum(Scaled().predict_interval(X)[1][:, 0, 0] < 0))
    found = diagnose(Scaled(), X, np.abs(y))
    assert found.n_below_zero == n_below == 60
    assert "60 lower bounds are" in found.findings[-1]
    one = diagnose(Scaled(), X, np.where(np.arange(60) < 1, 0.0, 9.0))
    assert (
        replace(one, n_below_zero=1)
        .findings[-1]
        .startswith("None of the 60 true values is negative, but one lower bound is: ")
    )
    assert diagnose(Scaled(), X, y).n_below_zero == 0


def test_notes_say_what_is_no_fault():
    model = Scaled(60)
    model.lambda_ = np.array([0.0])
    found = diagnose(model, *Scaled.draw(30, 0))
    assert found.worst_slab is None
    beta, edge, few = found.notes
    low, high, shown = (percent(share, 1) for share in (*found.chance, found.coverage.coverage))
    assert beta == (  # the range that report and picture name, too
        f"With 60 calibration rows and 30 new ones, coverage between {low} and {high} is to be "
        f"expected in 19 of 20 cases; these rows show {shown}."
    )
    assert edge.startswith("lambda is 0: the intervals are noise alone")
    assert "do not widen where rows are rare" in edge
    assert few == (
        "Two of the checks, worst_slab and excess_risk, need at least 100 rows; there are 30."
    )
    model.lambda_ = np.array([math.inf])
    edge = diagnose(model, *Scaled.draw(30, 0)).notes[1]
    assert edge.startswith("lambda is infinite: the intervals are ignorance alone")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda y, i: diagnostics.coverage([], np.empty((0, 2))), "y is empty"),
        (lambda y, i: diagnostics.coverage(y * np.nan, i), "y contains NaN"),
        (lambda y, i: diagnostics.coverage(y, i[1:]), "intervals must have shape"),
        (
            lambda y, i: diagnostics.coverage_by_group(y, i, ["a"]),
            "by must have shape",
        ),
        (lambda y, i: diagnostics.coverage_by_feature(y, i, y[1:], name="age"), "age must have"),
        (lambda y, i: diagnostics.coverage_by_width(y, i, n_bins=0), "n_bins"),
        (lambda y, i: diagnostics.coverage_gap([], 0.9), "at least one"),
        (lambda y, i: diagnostics.hsic(y[:1], i[:1]), "hsic needs at least 2 rows, got 1"),
        (lambda y, i: diagnostics.width_error_correlation(y[:1], y[:1], i[:1]), "at least 4 rows"),
        (lambda y, i: diagnostics.worst_slab(y, i, y[:, None]), "at least 100 rows, got 50"),
        (lambda y, i: diagnostics.excess_risk(y, i, y[:, None], 0.9), "at least 100 rows, got 50"),
        (lambda y, i: diagnostics.exchangeability(i, i), "100 rows in X_calibration, got 50"),
        (lambda y, i: diagnostics.coverage_range(0, 0.9), "n must be a whole number"),
        (lambda y, i: diagnostics.coverage_range(9, 90), "Did you mean 0.9"),
        (lambda y, i: diagnose(Scaled(), np.ones((1, 3)), [1.0]), "at least 4 rows, got 1"),
        (lambda y, i: diagnose(Scaled(), np.ones((9, 3)), y), "X has 9 rows where y has 50"),
        (
            lambda y, i: diagnose(Scaled(), np.ones((50, 3)), y, by=["a"]),
            "by must have shape",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(*covered_with(np.full(50, 0.9)))


def test_rows_of_X_are_as_many_as_those_of_y():
    y, intervals = covered_with(np.full(120, 0.9))
    with pytest.raises(ValueError, match="X has 7 rows where 120 are needed"):
        diagnostics.worst_slab(y, intervals, np.arange(7.0)[:, None])


def test_models_without_intervals_are_turned_away():
    with pytest.raises(TypeError, match="predict_interval and levels_, got LinearRegression"):
        diagnose(LinearRegression(), np.ones((9, 1)), np.ones(9))
