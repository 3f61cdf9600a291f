"""Conformal distances from a center, which are larger where neighbours were hard to predict."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from experiments.case import Case, Result


def crepes(case: Case) -> Result:
    """Predict with crepes' conformal regressor, normalised by the residuals of neighbours."""
    from crepes import WrapRegressor
    from crepes.extras import DifficultyEstimator

    train, calibration = case.split.train, case.split.calibration
    with threadpool_limits(1):
        model = WrapRegressor(HistGradientBoostingRegressor(random_state=case.seed))
        model.fit(case.X[train], case.y[train])
        wrong_by = case.y[train] - model.predict(case.X[train])
        difficulty = DifficultyEstimator()
        difficulty.fit(case.X[train], residuals=wrong_by, scaler=True)
        model.calibrate(case.X[calibration], case.y[calibration], de=difficulty)
        test = case.X[case.split.test]
        point, bounds = model.predict(test), model.predict_int(test, confidence=case.level)
    return Result(np.sort(np.asarray(bounds, float), axis=1), center=np.asarray(point, float))
