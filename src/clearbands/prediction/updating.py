"""The updates of a fitted model as rows come: calibration goes on, and nothing is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clearbands.calibration.conformal import CalibrationWarning
from clearbands.calibration.rolling import Pace, Rolling, four_standard_errors
from clearbands.prediction.predictor import PlacedRows, Predictor
from clearbands.rows.levels import normal_distances
from clearbands.rows.messages import warn
from clearbands.rows.time_order import check_later, check_time, show_time

SURPRISING = 0.8  # fewer rows lie outside than should, by this share of them


def updated(
    predictor: Predictor,
    last_time: Any,
    first_pace: Pace,
    placed: PlacedRows,
    time: ArrayLike | None,
    pace: Mapping[str, Any],
) -> tuple[Predictor, str | None]:
    """Return the predictor after these rows, and new advice to fit the model again, if any.

    `pace` has the settings of `Pace` that change; those that are None stay. `last_time` is that of
    the fit.
    """
    warn_if_seen(placed.positions, float(predictor.levels[0]))
    changed = {name: value for name, value in pace.items() if value is not None}
    rolling = predictor.rolling
    if rolling is None:
        before = _begin(predictor, replace(first_pace, **changed))
    else:
        before = rolling.at_pace(replace(rolling.pace, **changed))
    times = later_times(time, len(placed.positions), rolling, last_time)
    after = before.updated_by(placed.positions, placed.strange, times)
    advice = after.advice() if before.advice() is None else None
    return replace(predictor, rolling=after), advice


def _begin(predictor: Predictor, pace: Pace) -> Rolling:
    """Return the state of calibration after the fit, which goes on at this pace."""
    fitted = predictor.bands()
    if fitted.weight is not None:
        raise ValueError(
            "The model was calibrated with weights, which new rows do not have: it cannot be "
            "updated. Fit it again with the new rows."
        )
    return Rolling.begin(predictor.levels, fitted.positions, pace)


def warn_if_seen(positions: np.ndarray, level: float) -> None:
    """Warn if the rows seem to be training rows, which lie inside their intervals too often."""
    n, reach = len(positions), normal_distances([level])[0]
    covered = float(np.mean(np.abs(positions) <= reach))
    if covered - level > max(SURPRISING * (1 - level), four_standard_errors(level, n)):
        warn(
            f"{covered:.0%} of these {n} rows lie inside the intervals of the fit at level "
            f"{level:g}. If the model was trained on them, intervals become too short: update "
            "with rows that it has not seen.",
            CalibrationWarning,
        )


def later_times(
    time: ArrayLike | None, n: int, rolling: Rolling | None, last_time: Any
) -> np.ndarray | None:
    """Return the times of n new rows, after checking that the model knows no later ones.

    `rolling` is None before the first update. `last_time` is the time of the last row of the fit;
    it is None if `fit` was given no times.
    """
    last = None if rolling is None else rolling.last_time
    last = last_time if last is None else last
    if time is None:
        if last is None:
            return None
        raise ValueError(
            f"The model knows the time of its last row, {show_time(last)}: give time, so that "
            "no row is counted twice."
        )
    times = check_time(time, n)
    if last is None:
        return times
    known = None if rolling is None or rolling.n_rows < rolling.pace.window else rolling.times
    check_later(times, last, None if known is None else known[0])
    return times
