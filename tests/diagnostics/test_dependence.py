"""Width against error and against coverage."""

import numpy as np
import pytest
from scipy import stats

from clearbands import (
    diagnostics,
)
from tests.diagnostics.known_coverage import covered_with


def test_rank_correlation_of_width_and_error():
    y = np.array([1.0, -2.0, 3.0, -4.0, 5.0])
    widths = np.abs(y)[:, None] * [-1, 1]
    assert diagnostics.width_error_correlation(y, np.zeros(5), widths).value == pytest.approx(1)
    rng = np.random.default_rng(0)
    y, half = rng.normal(size=60), rng.uniform(size=60)
    found = diagnostics.width_error_correlation(y, np.zeros(60), half[:, None] * [-1, 1])
    assert found.value == pytest.approx(stats.spearmanr(np.abs(y), half).statistic)
    assert found.low < found.value < found.high
    constant = diagnostics.width_error_correlation(y, np.zeros(60), np.tile([-1.0, 1.0], (60, 1)))
    assert constant.value == 0


def test_hsic_is_its_definition():
    y, intervals = covered_with([0.2, 0.4, 0.5, 0.7, 0.9, 1.0], seed=1)
    w = (intervals[:, 1] - intervals[:, 1].mean()) / intervals[:, 1].std()
    z = y <= intervals[:, 1]
    assert 0 < z.sum() < 6
    K, L = np.exp(-((w[:, None] - w) ** 2) / 2), z[:, None] == z
    H = np.eye(6) - 1 / 6
    assert diagnostics.hsic(y, intervals).value == pytest.approx(np.trace(K @ H @ L @ H) / 36)


def test_hsic_fires_where_width_tells_coverage_and_else_as_often_as_it_says():
    p = np.where(np.arange(1000) % 2, 0.95, 0.8)
    assert diagnostics.hsic(*covered_with(p)).p_value < 0.01
    alarms = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        scale = rng.uniform(1, 2, size=60)
        y, intervals = covered_with(np.full(60, 0.8), seed)
        found = diagnostics.hsic(y * scale, intervals * scale[:, None], n_shuffles=99)
        alarms.append(found.p_value <= 0.1)
    assert stats.binomtest(sum(alarms), 200, 0.1).pvalue > 0.001


def test_hsic_of_widths_that_tell_nothing_and_of_many_rows():
    y, intervals = covered_with(np.full(50, 0.5))
    assert diagnostics.hsic(y, intervals) == diagnostics.Dependence(0.0, 1.0)
    assert diagnostics.hsic(y, np.tile([-np.inf, np.inf], (50, 1))).value == 0
    y, intervals = covered_with(np.linspace(0.1, 1, 5000))
    assert diagnostics.hsic(y, intervals, max_rows=300, n_shuffles=99).p_value == 0.01
