"""Coverage by group, feature, width and ratio, with exact intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from clearbands import (
    diagnostics,
)
from clearbands.calibration.conformal import rank
from clearbands.diagnostics.coverage import equal_count_bins
from tests.diagnostics.known_coverage import covered_with, rows_covered


def test_coverage_by_hand():
    cell = diagnostics.coverage(*rows_covered([True] * 9 + [False]))
    assert (cell.n, cell.n_covered, cell.coverage) == (10, 9, 0.9)
    # Clopper and Pearson: at the lower end 9 or more of 10 have a probability of 2.5 %, at the
    # upper end 9 or fewer.
    assert stats.binom.sf(8, 10, cell.low) == pytest.approx(0.025)
    assert stats.binom.cdf(9, 10, cell.high) == pytest.approx(0.025)


def test_the_exact_interval_at_its_ends():
    assert diagnostics.binomial_interval(0, 20) == (0, pytest.approx(1 - 0.025 ** (1 / 20)))
    assert diagnostics.binomial_interval(20, 20) == (pytest.approx(0.025 ** (1 / 20)), 1)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_exact_interval_holds_the_truth_as_often_as_it_says(p):
    ends = [diagnostics.binomial_interval(k, 30) for k in range(31)]
    held = [low <= p <= high for low, high in ends]
    assert stats.binom.pmf(np.arange(31), 30, p)[held].sum() >= 0.95


def test_groups_of_any_label():
    y, intervals = rows_covered([True, False, True, True, False])
    cells = diagnostics.coverage_by_group(y, intervals, ["b", "b", "a", None, math.nan], name="t")
    assert [(c.where, c.n, c.coverage) for c in cells] == [
        ("`t` = a", 1, 1.0),
        ("`t` = b", 2, 0.5),
        ("`t` = missing", 2, 0.5),
    ]
    assert diagnostics.coverage_gap(cells, 0.9) == pytest.approx((0.1 + 0.4 + 0.4) / 3)
    assert diagnostics.lowest_coverage(cells).where == "`t` = b"


def test_numbers_among_the_labels_are_sorted_by_size():
    y, intervals = rows_covered([True] * 6)
    cells = diagnostics.coverage_by_group(y, intervals, [10, 9, "b", None, -1.5, "a"])
    assert [cell.label for cell in cells] == ["-1.5", "9", "10", "a", "b", "missing"]


def test_thirds_of_a_feature():
    y, intervals = rows_covered([False, True, True, True, True, True, False])
    feature = [1.0, 5.0, 2.0, 3.0, 6.0, 4.0, math.nan]
    cells = diagnostics.coverage_by_feature(y, intervals, feature, name="age")
    assert [(c.where, c.n, c.coverage) for c in cells] == [
        ("the lowest third of `age`", 2, 0.5),
        ("the middle third of `age`", 2, 1.0),
        ("the highest third of `age`", 2, 1.0),
        ("`age` = missing", 1, 0.0),
    ]


def test_equal_values_stay_together_and_are_called_by_their_name():
    y, intervals = rows_covered([True] * 6)
    cells = diagnostics.coverage_by_feature(y, intervals, [0, 0, 0, 0, 1, 1], name="old")
    assert [(c.where, c.n) for c in cells] == [("`old` = 0", 4), ("`old` = 1", 2)]
    cells = diagnostics.coverage_by_feature(y, intervals, [0, 0, 0, 0, 1, 2], name="old")
    assert [(c.where, c.n) for c in cells] == [("`old` = 0", 4), ("`old` from 1 to 2", 2)]


@given(st.integers(1, 60), st.integers(1, 7))
def test_bins_of_distinct_values_have_equally_many_rows(n, n_bins):
    counts = np.bincount(equal_count_bins(np.random.default_rng(0).permutation(n), n_bins))
    assert counts.sum() == n
    assert counts.max() - counts.min() <= 1
    assert len(counts) == min(n, n_bins)


def test_coverage_by_width_and_ratio_find_what_they_are_for():
    widths = np.repeat([0.6, 0.9, 1.0], 400)  # each is the probability of coverage, too
    y, intervals = covered_with(widths)
    cells = diagnostics.coverage_by_width(y, intervals)
    assert [c.low <= p <= c.high for c, p in zip(cells, [0.6, 0.9, 1.0], strict=True)] == [True] * 3
    assert diagnostics.lowest_coverage(cells) is cells[0]
    ratio = np.where(widths == 0.6, np.inf, widths)
    by_ratio = diagnostics.coverage_by_ratio(y, intervals, ratio)
    assert [c.n_covered for c in by_ratio] == [c.n_covered for c in (*cells[1:], cells[0])]


def test_coverage_range_is_where_realised_coverage_lies():
    low, high = diagnostics.coverage_range(200, 0.9)
    assert (round(low, 2), round(high, 2)) == (0.86, 0.94)
    scores = np.sort(np.random.default_rng(0).uniform(size=(4000, 200)), axis=1)
    realised = scores[:, rank(200, 0.9) - 1]  # for uniform scores the threshold is the coverage
    inside = int(np.sum((low <= realised) & (realised <= high)))
    assert stats.binomtest(inside, 4000, 0.95).pvalue > 0.001
    assert diagnostics.coverage_range(5, 0.9) == (1, 1)


def test_lambda_at_an_edge():
    assert diagnostics.lambda_edge(0.0) == "lowest"
    assert diagnostics.lambda_edge(math.inf) == "highest"
    assert diagnostics.lambda_edge(1.0) is None
    assert diagnostics.lambda_edge(100.0, [0, 1, 100]) == "highest"


def test_a_range_of_chance_holds_the_coverage_as_often_as_it_says():
    low, high = diagnostics.chance_range(50, 0.9, n_calibration=30)
    rng = np.random.default_rng(0)
    scores = np.sort(rng.uniform(size=(4000, 30)), axis=1)[:, rank(30, 0.9) - 1]
    shares = np.mean(rng.uniform(size=(4000, 50)) <= scores[:, None], axis=1)
    inside = np.mean((low <= shares) & (shares <= high))
    assert inside >= 0.94  # about 95 % or more, since shares of 50 rows come in steps
    step = np.mean((low < shares) & (shares < high))
    assert step < 0.95
