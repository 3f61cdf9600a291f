"""The comparison of ways to update, on simulated rows."""

import numpy as np
import pandas as pd
import pytest

from experiments import updates


def test_ways_by_hand():
    stream = updates.simulated(0.0, 777)
    np.testing.assert_allclose(stream.values(stream.positions), stream.y)
    for way in (updates.by_side, updates.by_size):
        bounds, _ = way(stream)
        first = bounds[0]  # from calibration rows alone
        before = np.sort(stream.bands.positions)
        if way is updates.by_side:
            np.testing.assert_allclose(first, before[[49, 950]])
        else:
            np.testing.assert_allclose(first[1], np.sort(np.abs(before))[900])


def test_a_move_is_followed_by_both_bounds_only_by_side(tmp_path):
    path = tmp_path / "updates.csv"
    case = "noise, moved by 1"
    updates.run_missing([case], [777], path)
    written = path.read_bytes()
    updates.run_missing([case], [777], path)  # no row is missing
    assert path.read_bytes() == written
    second = pd.read_csv(path).query("half == 2").set_index("way")
    assert second.loc["by size", "below"] < 0.01
    assert second.loc["by side, window 1,000", "below"] == pytest.approx(0.05, abs=0.03)
    lines = updates.table(pd.read_csv(path)).splitlines()
    assert len(lines) == 2 + len(second)
