"""CV+ by MAPIE: of five fits, each row is judged by the one that did not see it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from experiments.case import Case, Result


def scikit_learn(case: Case) -> Result:
    return _run(case, HistGradientBoostingRegressor(random_state=case.seed))


def lightgbm(case: Case) -> Result:
    from lightgbm import LGBMRegressor

    return _run(case, LGBMRegressor(n_jobs=1, verbosity=-1, random_state=case.seed))


def catboost(case: Case) -> Result:
    from catboost import CatBoostRegressor

    model = CatBoostRegressor(
        thread_count=1, random_seed=case.seed, verbose=False, allow_writing_files=False
    )
    return _run(case, model)


def _run(case: Case, model: Any) -> Result:
    from mapie.regression import CrossConformalRegressor

    rows = np.concatenate([case.split.train, case.split.calibration])
    with threadpool_limits(1):
        fitted = CrossConformalRegressor(
            model, confidence_level=case.level, cv=5, random_state=case.seed
        ).fit_conformalize(case.X[rows], case.y[rows])
        point, bounds = fitted.predict_interval(case.X[case.split.test])
    return Result(np.sort(bounds[:, :, 0], axis=1), center=point)
