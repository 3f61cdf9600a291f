"""Pictures of intervals show the bounds that they are given."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from clearbands import plots
from clearbands.plots import band_along, band_by_rank
from clearbands.prediction.uncertainty import Uncertainty
from tests.plots.marks import points, title


def infinite(parts):
    return Uncertainty(parts.center, parts.aleatoric, np.full((3, 2), np.inf), 0.9)


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


def test_the_ratio_map_colours_by_which_part_is_wider(parts):
    wide = Uncertainty(parts.center, parts.aleatoric, parts.aleatoric * [[2], [0], [1e9]], 0.9)
    ax = plots.ratio_map([1, 2, 3], [4, 5, 6], wide, names=("a", "b"))
    (dots,) = ax.collections
    found = dict(zip(map(tuple, dots.get_offsets().tolist()), dots.get_array(), strict=True))
    assert found == {(1, 4): 1, (2, 5): -3, (3, 6): 3}  # exponents of two, from -3 to 3
    assert title(ax) == "Ignorance outweighs noise in 67 % of rows"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")


def test_what_cannot_be_drawn_is_said(parts):
    with pytest.raises(ValueError, match="y has 2 rows"):
        band_by_rank(parts, [1.0, 2.0])
    with pytest.raises(ValueError, match="feature has 2 rows"):
        band_along([1.0, 2.0], parts)
    for draw in (band_by_rank, lambda parts, y: band_along(y, parts)):
        with pytest.raises(ValueError, match="infinite and cannot be drawn"):
            draw(infinite(parts), [1.0, 2.0, 3.0])


def test_the_range_of_chance_grows_with_few_calibration_rows(parts):
    many = Uncertainty(np.zeros(100), np.ones((100, 2)), np.ones((100, 2)), 0.9)
    sure = title(band_by_rank(many, np.zeros(100)))
    assert sure.endswith("100.0 %, by chance 84.0 to 95.0 %")
    assert title(band_by_rank(many, np.zeros(100), n_calibration=80)).endswith("80.0 to 97.0 %")
