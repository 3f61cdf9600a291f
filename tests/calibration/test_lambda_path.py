"""The path shows what the calibrators do: its points are theirs, its minimum is the exact one."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearbands
from clearbands import (
    AdditiveCalibrator,
    ClearCalibrator,
    ClearRegressor,
    FixedAleatoricCalibrator,
    FixedRatioCalibrator,
    LinearQuantiles,
    PCSEnsemble,
    ResidualQuantiles,
    lambda_path,
)
from clearbands.calibration.conformal import coverage_rank, rank
from clearbands.calibration.lambda_path import (
    PAPER_LAMBDAS,
    CalibrationRows,
    search_exactly,
    search_grid,
)
from clearbands.engine import directions
from tests.toys import calibration_set, noisy_line, widths_with_ties


def small_clear(calibrator=None, **parameters):
    model = LinearQuantiles()
    return ClearRegressor(
        PCSEnsemble([model], n_bootstraps=5),
        ResidualQuantiles(model, n_bootstraps=5),
        calibrator,
        **{"calibration": "joint", "random_state": 0, **parameters},
    )


def test_the_points_are_those_of_the_calibrators():
    rows = calibration_set()
    exact = ClearCalibrator(0.9).fit(*rows)
    path = lambda_path(*rows, 0.9, exact.lambda_)
    assert path.chosen.lambda_ == exact.lambda_
    assert path.chosen.loss == pytest.approx(exact.loss_)
    assert path.ratio_one.loss == pytest.approx(FixedRatioCalibrator(0.9).fit(*rows).loss_)
    fixed = FixedAleatoricCalibrator(0.9).fit(*rows)
    assert path.gamma_one.lambda_ == pytest.approx(fixed.lambda_)
    assert path.gamma_one.loss == pytest.approx(fixed.loss_)


def test_every_loss_is_that_of_the_fixed_ratio_and_none_is_below_the_chosen():
    rows = calibration_set()
    path = lambda_path(*rows, 0.8, ClearCalibrator(0.8).fit(*rows).lambda_, n_points=9)
    losses = [FixedRatioCalibrator(0.8, ratio=r).fit(*rows).loss_ for r in path.lambdas]
    np.testing.assert_allclose(path.losses, losses)
    assert path.losses.min() >= path.chosen.loss * (1 - 1e-12)


def test_the_axis_is_the_epistemic_share_of_the_mean_width():
    _, _, aleatoric, epistemic = rows = calibration_set()
    path = lambda_path(*rows, 0.9, 2.0)
    assert (path.lambdas[0], path.lambdas[-1]) == (0, math.inf)
    assert (path.shares[0], path.shares[-1]) == (0, 1)
    share = 2 * epistemic.mean() / (aleatoric.mean() + 2 * epistemic.mean())
    assert path.chosen.share == pytest.approx(share)


def test_without_a_width_there_is_no_lambda_that_covers():
    y, center = np.array([1.0, 2.0, 3.0]), np.zeros(3)
    path = lambda_path(y, center, np.full((3, 2), 0.5), np.zeros((3, 2)), 0.5, 0.0)
    assert path.gamma_one is None
    assert math.isinf(path.losses[-1])
    assert np.isfinite(path.losses[:-1]).all()


@pytest.mark.parametrize("calibration", ["joint", "conformal"])
def test_models_keep_a_path_per_level_also_in_files(calibration, tmp_path):
    model = small_clear(confidence_level=[0.5, 0.8], calibration=calibration).fit(*noisy_line())
    clearbands.save(model, tmp_path / "model.clear")
    for found in (model, clearbands.load(tmp_path / "model.clear")):
        assert [path.confidence_level for path in found.lambda_paths_] == [0.5, 0.8]
        assert [path.chosen.lambda_ for path in found.lambda_paths_] == model.lambda_.tolist()
    for path in model.lambda_paths_:
        assert path.losses.min() >= path.chosen.loss * (1 - 1e-12)


def test_a_calibrator_without_lambda_leaves_no_path():
    assert small_clear(AdditiveCalibrator()).fit(*noisy_line()).lambda_paths_ == ()


def test_wrong_arrays_are_named():
    y, center, aleatoric, epistemic = calibration_set(20)
    with pytest.raises(ValueError, match="epistemic has 19 rows"):
        lambda_path(y, center, aleatoric, epistemic[1:], 0.9, 1.0)


def least_loss(rows, k, alpha):
    """The smallest loss at any crossing, in fractions: nothing is lost to rounding."""
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
    """More rows than a cell is finished with, and the ends of the range where many cross."""
    rng = np.random.default_rng(seed)
    n, k = 120, 100
    aleatoric, epistemic = 10.0 ** rng.uniform(-12, 0, (2, n, 2))
    (aleatoric, epistemic)[seed % 2][:] **= 0.1
    rows = CalibrationRows.from_widths(rng.normal(size=n), np.zeros(n), aleatoric, epistemic)
    found = loss(rows, search_exactly(rows, k, 0.1), k, 0.1)
    best = min(loss(rows, lambda_, k, 0.1) for lambda_ in every_crossing(rows))
    assert found <= best * (1 + 1e-9)


def every_crossing(rows):
    """All lambdas at which two rows change places, and both ends."""
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
    """Noise proportional to one part alone: lambda ends where only that part counts."""
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
    """Whole numbers and widths that are constant but for rounding: lines cross, hardly apart."""
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
    """The nearest rows are as good as reached, and must not swamp the others."""
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
    """One part a multiple of the other: any lambda gives the same intervals."""
    y, center, aleatoric, _ = calibration_set(n=n)
    rows = CalibrationRows.from_widths(y, center, aleatoric, 0.3 * aleatoric)
    assert search_exactly(rows, coverage_rank(n, 0.9), 0.1) == 0


def test_grid_takes_infinity():
    rows = CalibrationRows.from_widths(*calibration_set())
    assert search_grid(rows, 270, 0.1, np.array([math.inf])) == math.inf


def test_the_papers_grid():
    assert len(PAPER_LAMBDAS) == 4011
    assert PAPER_LAMBDAS[0] == 0
    assert PAPER_LAMBDAS[-1] == pytest.approx(100)
