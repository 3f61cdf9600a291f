"""Other libraries on the same splits, with scikit-learn's boosted trees; none of them is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from clearbands.levels import tails
from experiments.protocol import LEVEL

if TYPE_CHECKING:
    from experiments.methods import Case, Result


def mapie_cqr(case: Case) -> Result:
    """MAPIE's ConformalizedQuantileRegressor."""
    from mapie.regression import ConformalizedQuantileRegressor

    low, high = tails(LEVEL)
    train, calibration = case.split.train, case.split.calibration
    with threadpool_limits(1):
        curves = [  # in MAPIE's order
            HistGradientBoostingRegressor(loss="quantile", quantile=q, random_state=case.seed).fit(
                case.X[train], case.y[train]
            )
            for q in (low, high, 0.5)
        ]
        model = ConformalizedQuantileRegressor(curves, confidence_level=LEVEL, prefit=True)
        model.conformalize(case.X[calibration], case.y[calibration])
        point, bounds = model.predict_interval(case.X[case.split.test], symmetric_correction=True)
    return as_result(point, bounds[:, :, 0])


def mapie_cross(case: Case) -> Result:
    """MAPIE's CrossConformalRegressor, which trains on the calibration rows too."""
    from mapie.regression import CrossConformalRegressor

    rows = np.concatenate([case.split.train, case.split.calibration])
    with threadpool_limits(1):
        model = CrossConformalRegressor(
            HistGradientBoostingRegressor(random_state=case.seed),
            confidence_level=LEVEL,
            cv=5,
            random_state=case.seed,
        ).fit_conformalize(case.X[rows], case.y[rows])
        point, bounds = model.predict_interval(case.X[case.split.test])
    return as_result(point, bounds[:, :, 0])


def crepes_normalised(case: Case) -> Result:
    """crepes' normalised conformal regressor: difficulty from the residuals of neighbours."""
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
        return as_result(model.predict(test), model.predict_int(test, confidence=LEVEL))


def as_result(point: np.ndarray, bounds: np.ndarray) -> Result:
    from experiments.methods import Result

    return Result(np.sort(np.asarray(bounds, float), axis=1), center=np.asarray(point, float))
