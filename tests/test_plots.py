"""Pictures show the numbers they are given."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

from clearbands.plots import band_by_rank
from clearbands.uncertainty import Uncertainty


@pytest.fixture
def parts():
    center = np.array([20.0, 10.0, 30.0])
    aleatoric = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    return Uncertainty(center, aleatoric, np.full((3, 2), 0.5), 0.9)


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


def test_the_title_counts_what_the_marks_show(parts):
    ax = band_by_rank(parts, [20, 99, 30])
    assert ax.get_title(loc="left") == "90% intervals hold 2 of 3 true values (67%)"
    inside, outside = ax.collections
    assert inside.get_offsets().tolist() == [[2, 20], [3, 30]]
    assert outside.get_offsets().tolist() == [[1, 99]]


def test_what_cannot_be_drawn_is_said(parts):
    with pytest.raises(ValueError, match="y has 2 rows"):
        band_by_rank(parts, [1.0, 2.0])
    infinite = Uncertainty(parts.center, parts.aleatoric, np.full((3, 2), np.inf), 0.9)
    with pytest.raises(ValueError, match="infinite and cannot be drawn"):
        band_by_rank(infinite, [1.0, 2.0, 3.0])


def test_without_matplotlib_the_extra_is_named(parts, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'pip install "clearbands\[cli\]"'):
        band_by_rank(parts, [20, 10, 30])
