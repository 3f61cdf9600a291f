"""Pictures show the numbers they are given."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

from clearbands import ClearCalibrator, lambda_path, plots
from clearbands.plots import band_along, band_by_rank
from clearbands.prediction.uncertainty import Uncertainty
from clearbands.rows.display import change
from tests.toys import calibration_set


@pytest.fixture
def parts():
    center = np.array([20.0, 10.0, 30.0])
    aleatoric = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    return Uncertainty(center, aleatoric, np.full((3, 2), 0.5), 0.9)


def infinite(parts):
    return Uncertainty(parts.center, parts.aleatoric, np.full((3, 2), np.inf), 0.9)


def title(ax):
    return ax.get_title(loc="left")


def names(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def points(ax, label):
    (line,) = [line for line in ax.get_lines() if line.get_label() == label]
    return line.get_xydata()


def test_bars_lie_between_the_bounds_in_the_order_of_the_center(parts):
    ax = band_by_rank(parts, [20, 10, 30])
    outer, inner = ax.containers
    spans = [
        [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in bars] for bars in (outer, inner)
    ]
    np.testing.assert_allclose(spans[0], [(18.5, 22.5), (6.5, 14.5), (24.5, 36.5)])
    np.testing.assert_allclose(spans[1], [(19, 22), (7, 14), (25, 36)])
    middles = [bar.get_x() + bar.get_width() / 2 for bar in outer]
    np.testing.assert_allclose(middles, [2, 1, 3])


def test_given_axes_are_drawn_on(parts):
    ax = Figure().subplots()
    assert band_by_rank(parts, [20, 10, 30], ax=ax) is ax
    assert band_along([1, 2, 3], parts, ax=ax) is ax


def test_the_title_counts_what_the_marks_show(parts):
    ax = band_by_rank(parts, [20, 99, 30])
    assert title(ax) == "90 % intervals hold 2 of 3 true values: 66.7 %, by chance 33.3 to 100.0 %"
    inside, outside = ax.collections
    assert inside.get_offsets().tolist() == [[2, 20], [3, 30]]
    assert outside.get_offsets().tolist() == [[1, 99]]


def test_the_layers_along_a_feature_end_at_the_bounds(parts):
    ax = band_along([2.0, 1.0, 3.0], parts, points=([1.5], [12.0]), name="age")
    noise, above, below, rows = ax.collections

    def heights(layer, x):
        found = layer.get_paths()[0].vertices
        return sorted(set(found[found[:, 0] == x][:, 1].round(6)))

    assert heights(above, 1.0) == [14.0, 14.5]
    assert heights(below, 1.0) == [6.5, 7.0]
    assert heights(noise, 1.0) == [7.0, 14.0]
    assert points(ax, "Prediction").tolist() == [[1, 10], [2, 20], [3, 30]]
    assert rows.get_offsets().tolist() == [[1.5, 12.0]]
    assert ax.get_xlabel() == "age"


def test_coverage_and_width_in_bins_of_equally_many_rows():
    distance = np.array([1.0, 2.0, 3.0, 4.0])
    y = np.array([0.0, 9.0, 0.0, 0.0])
    tight, wide = np.tile([-1.0, 1.0], (4, 1)), np.tile([-2.0, 4.0], (4, 1))
    left, right = plots.coverage_and_width(
        distance, y, {"tight": tight, "wide": wide}, 0.9, n_bins=2, name="km"
    )
    assert points(right, "tight").tolist() == [[1.5, 2], [3.5, 2]]
    assert points(right, "wide").tolist() == [[1.5, 6], [3.5, 6]]
    drawn = [list(line.get_ydata()) for line in left.get_lines()]
    assert [0.5, 1.0] in drawn
    assert names(left) == ["Target 90 %", "tight", "wide"]
    assert left.get_xlabel() == right.get_xlabel() == "km"
    one, _ = plots.coverage_and_width(distance, y, tight, 0.9)
    assert names(one) == ["Target 90 %", "Intervals"]
    with pytest.raises(ValueError, match="y has 3 rows"):
        plots.coverage_and_width(distance, y[1:], tight, 0.9)


def test_the_calibration_curve_counts_rows_at_every_level():
    y = np.arange(10.0)
    intervals = np.stack([np.tile([0.0, 6.0], (10, 1)), np.tile([0.0, 3.0], (10, 1))], axis=2)
    ax = plots.calibration_curve(y, intervals, [0.9, 0.5])
    drawn = [line.get_xydata().tolist() for line in ax.get_lines()]
    assert [[0.5, 0.4], [0.9, 0.7]] in drawn
    assert title(ax) == "At most 20.0 points off, at 90 % (10 rows)"
    with pytest.raises(ValueError, match=r"shape \(n, 2, 1\)"):
        plots.calibration_curve(y, intervals, 0.9)


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


def test_the_ratio_map_colours_by_which_part_is_wider(parts):
    wide = Uncertainty(parts.center, parts.aleatoric, parts.aleatoric * [[2], [0], [1e9]], 0.9)
    ax = plots.ratio_map([1, 2, 3], [4, 5, 6], wide, names=("a", "b"))
    (dots,) = ax.collections
    found = dict(zip(map(tuple, dots.get_offsets().tolist()), dots.get_array(), strict=True))
    assert found == {(1, 4): 1, (2, 5): -3, (3, 6): 3}  # powers of two, at most 8
    assert title(ax) == "Ignorance outweighs noise in 67 % of rows"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")


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


def test_what_cannot_be_drawn_is_said(parts):
    with pytest.raises(ValueError, match="y has 2 rows"):
        band_by_rank(parts, [1.0, 2.0])
    with pytest.raises(ValueError, match="feature has 2 rows"):
        band_along([1.0, 2.0], parts)
    for draw in (band_by_rank, lambda parts, y: band_along(y, parts)):
        with pytest.raises(ValueError, match="infinite and cannot be drawn"):
            draw(infinite(parts), [1.0, 2.0, 3.0])


def test_without_matplotlib_the_extra_is_named(parts, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        ImportError, match=r'A picture needs the extra "report": pip install jinja2'
    ):
        band_by_rank(parts, [20, 10, 30])


def test_the_range_of_chance_grows_with_few_calibration_rows(parts):
    many = Uncertainty(np.zeros(100), np.ones((100, 2)), np.ones((100, 2)), 0.9)
    sure = title(band_by_rank(many, np.zeros(100)))
    assert sure.endswith("100.0 %, by chance 84.0 to 95.0 %")
    assert title(band_by_rank(many, np.zeros(100), n_calibration=80)).endswith("80.0 to 97.0 %")


def test_pictures_show_themselves_in_a_notebook(parts):
    pair = plots.coverage_and_width([1, 2, 3], [20, 10, 30], parts.interval, 0.9, n_bins=1)
    for shown in (band_by_rank(parts, [20, 10, 30]), pair):
        assert shown._repr_png_().startswith(b"\x89PNG")
    left, right = pair
    assert left.figure is right.figure
