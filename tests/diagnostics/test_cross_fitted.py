"""Checks that learn on one part of the rows where coverage is lost, and judge on another."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from clearbands import (
    diagnostics,
)
from clearbands.diagnostics.cross_fitted import least_covered_range
from tests.diagnostics.known_coverage import TREE, covered_with, rows_covered


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=14),
    st.integers(1, 5),
)
def test_the_least_covered_range_is_that_of_trying_all(rows, least):
    values, hit = np.array([v for v, _ in rows], float), np.array([h for _, h in rows])
    least = min(least, len(values))
    tried = {
        (low, high): hit[(low <= values) & (values <= high)].mean()
        for low in values
        for high in values
        if np.count_nonzero((low <= values) & (values <= high)) >= least
    }
    found, ends = least_covered_range(values, hit, least)
    assert found == pytest.approx(min(tried.values()))
    assert tried[ends] == pytest.approx(found)


def test_worst_slab_finds_the_slab_and_is_unbiased_without_one():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(2000, 2))
    in_slab = np.abs(X.sum(axis=1)) < 0.3
    slab = diagnostics.worst_slab(*covered_with(np.where(in_slab, 0.5, 0.95)), X, n_directions=100)
    assert slab.cell.low < 0.6
    assert np.mean(in_slab[slab.rows]) > 0.8
    judged, searched = [], []
    for seed in range(40):
        X = np.random.default_rng(seed).normal(size=(300, 2))
        slab = diagnostics.worst_slab(
            *covered_with(np.full(300, 0.8), seed), X, n_directions=20, random_state=seed
        )
        judged.append((slab.cell.n_covered, slab.cell.n))
        searched.append(slab.searched)
    hits, n = np.sum(judged, axis=0)
    assert stats.binomtest(int(hits), int(n), 0.8).pvalue > 0.001
    assert np.mean(searched) < 0.7  # the same rows would judge too severely


def test_excess_risk_is_the_mean_distance_from_the_level():
    X = np.random.default_rng(0).uniform(-1, 1, size=(3000, 2))
    p = np.where(X[:, 0] > 0, 0.7, 1.0)
    risk = diagnostics.excess_risk(*covered_with(p), X, 0.9, classifier=TREE)
    # half of the rows are covered 0.2 too rarely, half 0.1 too often
    assert risk.low < 0.15 < risk.high
    assert risk.total == pytest.approx(risk.over + risk.under)
    assert risk.under == pytest.approx(0.1, abs=0.03)
    assert risk.over == pytest.approx(0.05, abs=0.02)
    below, above = risk.cells
    assert below.coverage < 0.75
    assert above.coverage > 0.95


def test_excess_risk_finds_what_no_column_shows_and_claims_no_more_than_is_there():
    X = np.random.default_rng(0).uniform(-1, 1, size=(1500, 2))
    p = np.where(X[:, 0] * X[:, 1] > 0, 0.7, 1.0)
    risk = diagnostics.excess_risk(*covered_with(p), X, 0.9)
    assert 0.05 < risk.low < 0.15


def test_excess_risk_is_zero_on_average_where_coverage_holds():
    totals, alarms = [], []
    for seed in range(60):
        X = np.random.default_rng(seed).normal(size=(200, 2))
        risk = diagnostics.excess_risk(
            *covered_with(np.full(200, 0.9), seed), X, 0.9, classifier=TREE, random_state=seed
        )
        totals.append(risk.total)
        alarms.append(risk.low > 0)
    assert abs(np.mean(totals)) < 4 * np.std(totals) / np.sqrt(60)
    assert np.mean(alarms) <= 0.1  # 2.5 % by the normal law; 4.5 % of 400 runs were seen


def test_excess_risk_with_the_default_classifier_and_with_all_rows_covered():
    X = np.linspace(-1, 1, 400)[:, None]
    risk = diagnostics.excess_risk(*covered_with(np.where(X[:, 0] > 0, 1, 0.6)), X, 0.9)
    assert risk.low > 0.1
    risk = diagnostics.excess_risk(*rows_covered([True] * 400), X, 0.9)
    assert (risk.over, risk.under) == (pytest.approx(0.1), 0.0)


def test_exchangeability_tells_a_shift_from_none():
    rng = np.random.default_rng(0)
    X, shifted = rng.normal(size=(300, 2)), rng.normal([1, 0], size=(200, 2))
    test = diagnostics.exchangeability(X, shifted)
    assert test.p_value < 1e-6
    # the best classifier has the AUC P(N(1, 2) > 0)
    assert test.low < stats.norm.cdf(1 / math.sqrt(2)) < test.high + 0.05
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        test = diagnostics.exchangeability(
            rng.normal(size=(150, 2)), rng.normal(size=(150, 2)), classifier=TREE, random_state=seed
        )
        alarms += test.p_value < 0.05
    assert alarms <= 9  # 5.3 % of 400 runs were seen


def test_exchangeability_sees_categories():
    old = pl.DataFrame({"town": ["north", "south"] * 100})
    new = pl.DataFrame({"town": ["north", "west"] * 100})
    # A new and an old row are both of the north in one case of four, and alike in no other.
    assert diagnostics.exchangeability(old, new, classifier=TREE).auc == pytest.approx(
        7 / 8, abs=0.02
    )
