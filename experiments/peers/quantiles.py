"""Conformalized quantile regression: quantiles of a library, moved by one distance."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from clearbands.calibration.conformal import order_statistic, rank
from clearbands.rows.levels import tails
from experiments.case import Case, Result


def scikit_learn(case: Case) -> Result:
    """Conformalize scikit-learn's boosted trees with MAPIE's ConformalizedQuantileRegressor."""
    return _by_mapie(
        case,
        lambda q: HistGradientBoostingRegressor(
            loss="quantile", quantile=q, random_state=case.seed
        ),
    )


def lightgbm(case: Case) -> Result:
    """Conformalize LightGBM's quantiles with MAPIE's ConformalizedQuantileRegressor."""
    from lightgbm import LGBMRegressor

    quiet = {"n_jobs": 1, "verbosity": -1, "random_state": case.seed}
    return _by_mapie(case, lambda q: LGBMRegressor(objective="quantile", alpha=q, **quiet))


def catboost(case: Case) -> Result:
    """Conformalize three quantiles of one CatBoost model."""
    from catboost import CatBoostRegressor

    low, high = tails(case.level)
    model = CatBoostRegressor(
        loss_function=f"MultiQuantile:alpha={low},0.5,{high}",
        thread_count=1,
        random_seed=case.seed,
        verbose=False,
        allow_writing_files=False,
    )
    model.fit(case.X[case.split.train], case.y[case.split.train])
    return conformalized(case, model.predict)


def forest(case: Case) -> Result:
    """Conformalize the random forest of quantile-forest."""
    from quantile_forest import RandomForestQuantileRegressor

    model = RandomForestQuantileRegressor(random_state=case.seed, n_jobs=1)
    model.fit(case.X[case.split.train], case.y[case.split.train])
    low, high = tails(case.level)
    return conformalized(case, lambda X: model.predict(X, quantiles=[low, 0.5, high]))


def ngboost(case: Case) -> Result:
    """Conformalize the quantiles of NGBoost's normal distribution."""
    from ngboost import NGBRegressor

    model = NGBRegressor(random_state=case.seed, verbose=False)
    with threadpool_limits(1):
        model.fit(case.X[case.split.train], case.y[case.split.train])

    def predict(X: np.ndarray) -> np.ndarray:
        normal, (low, high) = model.pred_dist(X), tails(case.level)
        return np.stack([normal.ppf(q) for q in (low, 0.5, high)], axis=1)

    return conformalized(case, predict)


def conformalized(case: Case, predict: Any) -> Result:
    """Move both bounds of predicted quantiles (n, 3) so that they cover the calibration rows."""
    lower, _, upper = np.asarray(predict(case.X[case.split.calibration]), float).T
    y = case.y[case.split.calibration]
    distance = order_statistic(np.maximum(lower - y, y - upper), rank(len(y), case.level))
    lower, middle, upper = np.asarray(predict(case.X[case.split.test]), float).T
    bounds = np.stack([lower - distance, upper + distance], axis=1)
    return Result(np.sort(bounds, axis=1), center=middle)


def _by_mapie(case: Case, model_of: Any) -> Result:
    from mapie.regression import ConformalizedQuantileRegressor

    train, calibration = case.split.train, case.split.calibration
    with threadpool_limits(1):
        levels = (*tails(case.level), 0.5)
        curves = [model_of(q).fit(case.X[train], case.y[train]) for q in levels]
        model = ConformalizedQuantileRegressor(curves, confidence_level=case.level, prefit=True)
        model.conformalize(case.X[calibration], case.y[calibration])
        point, bounds = model.predict_interval(case.X[case.split.test], symmetric_correction=True)
    return Result(np.sort(bounds[:, :, 0], axis=1), center=point)
