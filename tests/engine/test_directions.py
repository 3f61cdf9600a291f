"""The exact search over all lambda: no crossing of two rows has a lower loss, at any scale."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearbands.calibration.conformal import coverage_rank, rank
from clearbands.calibration.lambda_path import (
    PAPER_LAMBDAS,
    CalibrationRows,
    search_exactly,
    search_grid,
)
from clearbands.engine import directions
from tests.toys import calibration_set, widths_with_ties


def least_loss(rows, k, alpha):
    """Return the smallest loss at any crossing, computed in fractions without rounding."""
    r, a, e = (
        [Fraction(v) for v in values.tolist()]
        for values in (rows.distance, rows.aleatoric, rows.epistemic)
    )
    directions = {(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))}
    for i, j in itertools.combinations(range(len(r)), 2):
        up, across = r[i] * a[j] - r[j] * a[i], r[j] * e[i] - r[i] * e[j]
        if across and up / across >= 0:
            directions.add((Fraction(1), up / across))
    losses = []
    for w1, w2 in directions:
        widths = [w1 * one + w2 * other for one, other in zip(a, e, strict=True)]
        factor = sorted(x / width for x, width in zip(r, widths, strict=True))[k - 1]
        spread = w1 * Fraction(rows.total_aleatoric) + w2 * Fraction(rows.total_epistemic)
        missed = sum(max(0, x - factor * width) for x, width in zip(r, widths, strict=True))
        losses.append(Fraction(alpha) / 2 * factor * spread + missed)
    return float(min(losses) / (2 * len(r)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("decades", [0, 12, 24])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e138])
def test_no_lambda_is_better_at_any_scale_and_spread(seed, decades, scale):
    rng = np.random.default_rng(seed)
    n, k = 24, 22
    aleatoric, epistemic = 10.0 ** rng.uniform(0, decades, (2, n, 2)) / 10.0**decades
    y = rng.normal(size=n) * 10.0 ** rng.uniform(-decades * (seed % 2), 0, n)
    largest = max(np.abs(y).max(), aleatoric.max(), epistemic.max())
    y, aleatoric, epistemic = (scale * v / largest for v in (y, aleatoric, epistemic))
    rows = CalibrationRows.from_widths(y, np.zeros(n), aleatoric, epistemic)
    found = loss(rows, search_exactly(rows, k, 0.1), k, 0.1)
    assert found <= least_loss(rows, k, 0.1) * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_many_rows_of_many_decades(seed):
    """There are too many rows for one cell, and many cross near the ends of the range."""
    rng = np.random.default_rng(seed)
    n, k = 120, 100
    aleatoric, epistemic = 10.0 ** rng.uniform(-12, 0, (2, n, 2))
    (aleatoric, epistemic)[seed % 2][:] **= 0.1
    rows = CalibrationRows.from_widths(rng.normal(size=n), np.zeros(n), aleatoric, epistemic)
    found = loss(rows, search_exactly(rows, k, 0.1), k, 0.1)
    best = min(loss(rows, lambda_, k, 0.1) for lambda_ in every_crossing(rows))
    assert found <= best * (1 + 1e-9)


def every_crossing(rows):
    """Return all lambdas at which two rows change places, with 0 and infinity."""
    r, a, e = rows.distance, rows.aleatoric, rows.epistemic
    lambdas = [0.0, math.inf]
    for i, j in itertools.combinations(range(len(rows)), 2):
        across = r[j] * e[i] - r[i] * e[j]
        if across:
            lambdas.append((r[i] * a[j] - r[j] * a[i]) / across)
    return [lambda_ for lambda_ in lambdas if lambda_ >= 0]


def loss(rows, lambda_, k, alpha):
    return rows.quantile_loss(*rows.factors(lambda_, k), alpha)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_no_lambda_is_better(seed, level):
    rows = CalibrationRows.from_widths(*calibration_set(n=35, seed=seed))
    k = rank(35, level)
    found = loss(rows, search_exactly(rows, k, 1 - level), k, 1 - level)
    best = min(loss(rows, lambda_, k, 1 - level) for lambda_ in every_crossing(rows))
    assert found <= best * (1 + 1e-9)


@given(widths_with_ties(), st.sampled_from([0.3, 0.5, 0.9]))
@settings(max_examples=300, deadline=None)
def test_no_lambda_is_better_with_ties_and_zeros(arrays, level):
    rows = CalibrationRows.from_widths(*arrays)
    k = min(rank(len(rows), level), len(rows))
    found = loss(rows, search_exactly(rows, k, 1 - level), k, 1 - level)
    best = min(loss(rows, lambda_, k, 1 - level) for lambda_ in every_crossing(rows))
    assert found <= best * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("n", [60, 500, 4000])
def test_never_a_higher_loss_than_the_papers_grid(n):
    rows = CalibrationRows.from_widths(*calibration_set(n=n, seed=n))
    k = rank(n, 0.95)
    exact = loss(rows, search_exactly(rows, k, 0.05), k, 0.05)
    grid = loss(rows, search_grid(rows, k, 0.05, PAPER_LAMBDAS), k, 0.05)
    assert grid * (1 - 0.01) < exact <= grid


def test_only_one_part_carries_the_signal():
    """If noise is proportional to one part alone, the best lambda leaves only that part."""
    rng = np.random.default_rng(0)
    n, ones = 4000, np.ones((4000, 2))
    scale = rng.lognormal(0, 1, size=(n, 1)) * ones
    y = rng.normal(size=n) * scale[:, 0]
    epistemic_only = CalibrationRows.from_widths(y, np.zeros(n), ones, scale)
    aleatoric_only = CalibrationRows.from_widths(y, np.zeros(n), scale, ones)
    assert search_exactly(epistemic_only, 3600, 0.1) > 20
    assert search_exactly(aleatoric_only, 3600, 0.1) < 0.05


def test_without_aleatoric_widths_lambda_is_infinite():
    y, center, aleatoric, epistemic = calibration_set()
    rows = CalibrationRows.from_widths(y, center, 0 * aleatoric, epistemic)
    lambda_ = search_exactly(rows, 270, 0.1)
    assert lambda_ == math.inf
    gamma1, gamma2 = rows.factors(lambda_, 270)
    assert gamma1 == 0
    assert 0 < gamma2 < math.inf


def test_thousands_of_equal_rows_do_not_stop_the_search():
    """Coinciding lines never separate, and equal widths make the loss flat along the curve."""
    n = 20_000
    y = np.repeat([1.0, 2.0, 3.0, 4.0], n // 4)
    rows = CalibrationRows.from_widths(y, np.zeros(n), np.ones((n, 2)), np.ones((n, 2)))
    k = 18_001
    lambda_ = search_exactly(rows, k, 0.1)
    assert np.sum(rows.factors(lambda_, k)) == pytest.approx(4.0)


@pytest.mark.parametrize("noise", [1e-3, 1e-7, 1e-9, 1e-11, 1e-13])
def test_nearly_equal_rows_do_not_stop_the_search(noise):
    """Targets are nearly whole numbers and widths nearly 1, so many lines nearly coincide."""
    rng = np.random.default_rng(0)
    n, k = 50, 45
    y = rng.integers(1, 6, n) * (1 + noise * rng.random(n))
    aleatoric, epistemic = 1 + noise * rng.random((2, n, 2))
    rows = CalibrationRows.from_widths(y, np.zeros(n), aleatoric, epistemic)
    found = loss(rows, search_exactly(rows, k, 0.1), k, 0.1)
    best = min(loss(rows, lambda_, k, 0.1) for lambda_ in every_crossing(rows))
    assert found <= best * (1 + 1e-11)


@pytest.mark.parametrize("k", [60, 180])
def test_distances_of_all_sizes(k):
    """Rows of tiny distances need hardly any width, and must not hide the others."""
    y, center, aleatoric, epistemic = calibration_set(n=200)
    offset = np.where(np.arange(200) < 80, 10.0 ** np.arange(-320, -120), y - center)
    rows = CalibrationRows.from_widths(offset, np.zeros(200), aleatoric, epistemic)
    found = loss(rows, search_exactly(rows, k, 0.1), k, 0.1)
    grid = loss(rows, search_grid(rows, k, 0.1, PAPER_LAMBDAS), k, 0.1)
    assert found <= grid


@pytest.mark.parametrize("seed", range(5))
def test_a_search_that_runs_out_of_room_starts_again(monkeypatch, seed):
    rows = CalibrationRows.from_widths(*calibration_set(n=300, seed=seed))
    roomy = search_exactly(rows, 270, 0.1)
    monkeypatch.setattr(directions, "ROOM_PER_ROW", 1)
    assert search_exactly(rows, 270, 0.1) == pytest.approx(roomy, rel=1e-9)


@pytest.mark.parametrize("n", [50, 3000])
def test_a_flat_loss_leaves_lambda_at_zero(n):
    """One part is a multiple of the other, so any lambda gives the same intervals."""
    y, center, aleatoric, _ = calibration_set(n=n)
    rows = CalibrationRows.from_widths(y, center, aleatoric, 0.3 * aleatoric)
    assert search_exactly(rows, coverage_rank(n, 0.9), 0.1) == 0
