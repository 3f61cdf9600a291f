"""Pictures of the choices of a fit."""

from __future__ import annotations

import numpy as np
import pytest

from clearbands import ClearCalibrator, lambda_path, plots
from clearbands.rows.display import change
from tests.plots.marks import names, points
from tests.toys import calibration_set


def test_the_lambda_path_marks_the_chosen_and_the_fixed_ratios():
    rows = calibration_set()
    path = lambda_path(*rows, 0.9, ClearCalibrator(0.9).fit(*rows).lambda_)
    ax = plots.lambda_path(path)
    curve = ax.get_lines()[0].get_xydata()
    np.testing.assert_array_equal(curve, np.stack([path.shares, path.losses], axis=1))
    ratio, gamma, chosen = names(ax)
    assert points(ax, chosen).tolist() == [[path.chosen.share, path.chosen.loss]]
    assert points(ax, gamma).tolist() == [[path.gamma_one.share, path.gamma_one.loss]]
    assert ratio == f"λ = 1 ({change(path.ratio_one.loss / path.chosen.loss - 1)})"
    labels = dict(zip((t.get_text() for t in ax.get_xticklabels()), ax.get_xticks(), strict=True))
    assert (labels["0"], labels["∞"]) == (0, 1)
    assert labels["1"] == pytest.approx(path.ratio_one.share, abs=1e-3)


def test_a_path_without_any_finite_loss_is_refused():
    y, zero = np.arange(1.0, 5.0), np.zeros((4, 2))
    with pytest.raises(ValueError, match="No lambda gives a finite loss"):
        plots.lambda_path(lambda_path(y, np.zeros(4), zero, zero, 0.5, 0.0))


def test_the_models_that_competed_are_compared_best_on_top():
    board = [
        {"model": "gam", "preprocessing": "scaled", "rmse": 1.0, "r2": 0.9, "selected": True},
        {"model": "forest", "preprocessing": "", "rmse": 2.0, "r2": None, "selected": False},
    ]
    ax = plots.model_comparison(board)
    places = {t.get_text(): y for t, y in zip(ax.get_yticklabels(), ax.get_yticks(), strict=True)}
    assert places == {"gam after scaled": 1, "forest": 0}
    _, kept, other = ax.collections
    assert kept.get_offsets().tolist() == [[1, 1]]
    assert other.get_offsets().tolist() == [[2, 0]]
    with pytest.raises(ValueError, match="No models competed"):
        plots.model_comparison([board[0] | {"rmse": None}])
