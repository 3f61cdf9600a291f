import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import clearbands
from clearbands.calibration.calibrators import FixedRatioCalibrator
from clearbands.calibration.conformal import (
    coverage_rank,
    order_statistic,
    rank,
    ratio_scores,
    rows_needed,
)


def test_rank_by_hand():
    assert rank(9, 0.9) == 9
    assert rank(19, 0.95) == 19  # one too high when 0.95 * 20 is rounded up
    assert rank(99, 0.9) == 90
    assert rank(100, 0.9) == 91
    assert coverage_rank(100, 0.95) == 95


@given(st.integers(1, 5000), st.integers(1, 999))
def test_rank_is_the_exact_ceiling(n, thousandths):
    k = rank(n, thousandths / 1000)
    assert (k - 1) * 1000 < thousandths * (n + 1) <= k * 1000


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99])
def test_rows_needed_is_the_first_that_suffices(level):
    n = rows_needed(level)
    assert rank(n, level) <= n
    assert rank(n - 1, level) > n - 1


def test_zero_widths_are_decided_once():
    scores = ratio_scores(np.array([0.0, 0.0, 2.0, 2.0]), np.array([0.0, 1.0, 0.0, 4.0]))
    assert scores.tolist() == [0.0, 0.0, math.inf, 0.5]


def test_order_statistic_counts_from_one_and_ends_in_infinity():
    scores = np.array([3.0, 1.0, 2.0])
    assert [order_statistic(scores, k) for k in (1, 2, 3, 4)] == [1.0, 2.0, 3.0, math.inf]


def test_coverage_given_the_calibration_set_follows_the_beta_law():
    """With n calibration rows the coverage of new rows is Beta(k, n + 1 - k), exactly."""
    n, level, repetitions = 50, 0.9, 2000
    rng = np.random.default_rng(1)
    ones = np.ones((n, 2))
    gammas = [
        FixedRatioCalibrator(level, ratio=0)
        .fit(rng.normal(size=n), np.zeros(n), ones, ones)
        .gamma1_
        for _ in range(repetitions)
    ]
    coverage = stats.norm.cdf(gammas) - stats.norm.cdf(np.negative(gammas))
    k = rank(n, level)
    assert stats.kstest(coverage, stats.beta(k, n + 1 - k).cdf).pvalue > 0.01
    assert stats.kstest(coverage, stats.beta(k + 1, n - k).cdf).pvalue < 1e-6  # the test can tell


def test_the_finite_sample_rule_stands_in_one_file():
    rule = re.compile(r"\b(?:n|size|n_calibration_?|n_rows) \+ 1\b")
    package = Path(clearbands.__file__).parent
    files = [path for path in package.rglob("*.py") if path.parent.name != "engine"]
    files = [path.name for path in files if rule.search(path.read_text())]
    assert files == ["conformal.py"]
