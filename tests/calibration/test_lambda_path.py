"""The path agrees with the calibrators, and its minimum with the exact search."""

from __future__ import annotations

import math

import numpy as np
import pytest

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
from clearbands.calibration.lambda_path import (
    PAPER_LAMBDAS,
    CalibrationRows,
    search_grid,
)
from tests.toys import calibration_set, noisy_line


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


def test_grid_takes_infinity():
    rows = CalibrationRows.from_widths(*calibration_set())
    assert search_grid(rows, 270, 0.1, np.array([math.inf])) == math.inf


def test_the_papers_grid():
    assert len(PAPER_LAMBDAS) == 4011
    assert PAPER_LAMBDAS[0] == 0
    assert PAPER_LAMBDAS[-1] == pytest.approx(100)
