"""Both ways of calibration judge the same test rows."""

import numpy as np
import pandas as pd

from clearbands.calibration.calibration_set import CalibrationSet
from clearbands.rows.bands import Components
from experiments import trend


def rows_with_a_trend(n, seed):
    """Draw rows whose noise is the square of their widths."""
    rng = np.random.default_rng(seed)
    said = rng.uniform(1, 3, n)
    widths = np.tile(said[:, None, None], (1, 2, 1))
    return said**2 * rng.normal(size=n), Components(np.zeros(n), widths, 0 * widths)


def test_a_trend_lowers_the_loss_and_evens_coverage():
    calibration, (y, new) = CalibrationSet(*rows_with_a_trend(800, 0)), rows_with_a_trend(800, 1)
    found = trend.score(trend.Fitted(calibration, new.aleatoric[:, :, 0], y, new), 0.9)
    assert found["is_changed"]
    assert found["slope_of_length"] > 0.2
    assert found["quantile_loss_with"] < found["quantile_loss_without"]
    assert found["by_width_with"] < found["by_width_without"]
    frame = pd.DataFrame([{"dataset": "a", "seed": 0, "level": 0.9, **found}])
    assert "| 0.9 | 1 | 1 | -" in "\n".join(trend.table(frame))
