"""Pictures of scores count rows."""

from __future__ import annotations

import numpy as np
import pytest

from clearbands import plots
from tests.plots.marks import names, points, title


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
