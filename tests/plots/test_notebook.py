"""Objects with a picture show it in notebooks."""

from __future__ import annotations

from clearbands import plots
from clearbands.plots import band_by_rank


def test_pictures_show_themselves_in_a_notebook(parts):
    pair = plots.coverage_and_width([1, 2, 3], [20, 10, 30], parts.interval, 0.9, n_bins=1)
    for shown in (band_by_rank(parts, [20, 10, 30]), pair):
        assert shown._repr_png_().startswith(b"\x89PNG")
    left, right = pair
    assert left.figure is right.figure
