"""The plain ClearRegressor in the benchmark, which gets the rows of the others unsplit."""

from __future__ import annotations

import numpy as np

from clearbands import ClearRegressor
from experiments.case import Case, Method, Result
from experiments.protocol import LEVEL


def on_all_rows(case: Case) -> Result:
    """Fit the default to all rows on which others train, choose and calibrate."""
    rows = np.union1d(case.split.train, case.split.validation)
    model = ClearRegressor(confidence_level=case.level, random_state=case.seed)
    return _result(model.fit(case.X[rows], case.y[rows]), case)


def conformal(case: Case) -> Result:
    """Fit with the finite-sample guarantee: one tenth of the rows gives lambda, another gamma1."""
    held_out = np.union1d(case.split.validation, case.split.calibration)
    model = ClearRegressor(confidence_level=LEVEL, calibration="conformal", random_state=case.seed)
    train = case.split.train
    model.fit(case.X[train], case.y[train], X_cal=case.X[held_out], y_cal=case.y[held_out])
    return _result(model, case)


def _result(model: ClearRegressor, case: Case) -> Result:
    center, intervals = model.predict_interval(case.X[case.split.test])
    return Result(intervals[:, :, 0], float(model.lambda_[0]), float(model.gamma1_[0]), center)


METHODS = {
    "standard": {"CLEAR": Method(on_all_rows, variants=("default",), alone=True)},
    "conformalized": {"CLEAR-c": Method(conformal, variants=("default",), alone=True)},
}
