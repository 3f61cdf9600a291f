"""The authors' program on given rows, which runs in an environment of its own.

The aleatoric part, the calibration and the intervals are calls of the package `clear`, and the
smoothing of the GAM is one of `pcs`. The package takes its PCS ensemble from a repository that is
not on PyPI. The loop here does the same without repetitions: it calibrates nothing, and predicts
the training, validation and test rows once each.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
from celer import ElasticNetCV, LassoCV
from clear.clear import CLEAR
from pcs.utils import optimize_gam_smoothing
from pygam import ExpectileGAM
from quantile_forest import RandomForestQuantileRegressor
from sklearn.ensemble import AdaBoostRegressor, ExtraTreesRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.metrics import r2_score
from sklearn.neural_network import MLPRegressor
from sklearn.utils import resample
from xgboost import XGBRegressor

from benchmarks.rows import BOOTSTRAPS, LEVEL, Bounds, Rows

DISTRIBUTIONS = ("clear-uq", "numpy", "scipy", "scikit-learn", "xgboost", "quantile-forest")
SEED = 777  # the seed of models and of aleatoric draws; `experiments` cannot be imported here
N_SPLINES = 10


def warm_up(rows: Rows, variant: str) -> None:
    _run(rows, {"boosting": _booster()}, "xgb", n_bootstraps=2)
    if variant != "b":
        _run(rows, {"boosting": _booster()}, "rf", n_bootstraps=1)


def run(rows: Rows, variant: str) -> Bounds:
    warnings.simplefilter("ignore")
    if variant == "b":
        return _run(rows, {"boosting": _booster()}, "xgb")
    if variant == "c":
        return _run(rows, _mean_pool(), "rf")
    return _run(rows, _quantile_pool(rows))


def _run(
    rows: Rows, pool: dict[str, Any], quantile_model: str = "", n_bootstraps: int = BOOTSTRAPS
) -> Bounds:
    winner = _best(rows, pool)
    members = []
    for i in range(n_bootstraps):
        drawn = resample(rows.X_train, rows.y_train, random_state=rows.seed + i)
        members.append(copy.deepcopy(pool[winner]).fit(*drawn))
    train, validation, test = (
        _epistemic(members, X) for X in (rows.X_train, rows.X_validation, rows.X_test)
    )
    parameters = {"n_jobs": 1}
    if winner == "gam":
        parameters = {"n_splines": N_SPLINES, "lam": _single(pool[winner].lam)}
    model = CLEAR(LEVEL, n_bootstraps=n_bootstraps, random_state=SEED, n_jobs=1)
    model.fit_aleatoric(
        rows.X_train,
        rows.y_train,
        quantile_model=quantile_model or COUNTERPARTS[winner],
        model_params=parameters,
        fit_on_residuals=True,
        epistemic_preds=train["median"],
    )
    middle, below, above = model.predict_aleatoric(rows.X_validation, validation["median"])
    model.calibrate(
        rows.y_validation,
        validation["median"],
        middle,
        below,
        above,
        validation["lower"],
        validation["upper"],
        verbose=False,
    )
    lower, upper = model.predict(rows.X_test, external_epistemic=test)
    return Bounds(test["median"], lower, upper, winner)


COUNTERPARTS = {"forest": "rf", "boosting": "xgb", "gam": "gam"}


def _best(rows: Rows, pool: dict[str, Any]) -> str:
    if len(pool) == 1:
        # The authors fit a single model for its score, too.
        next(iter(pool.values())).fit(rows.X_train, rows.y_train)
        return next(iter(pool))
    scores = {}
    for name, model in pool.items():
        predicted = model.fit(rows.X_train, rows.y_train).predict(rows.X_validation)
        scores[name] = r2_score(rows.y_validation, predicted)
    return max(scores, key=lambda name: scores[name])


def _epistemic(members: list[Any], X: np.ndarray) -> dict[str, np.ndarray]:
    predictions = np.column_stack([member.predict(X) for member in members])
    tail = (1 - LEVEL) / 2
    points = [np.quantile(predictions, share, axis=1) for share in (tail, 0.5, 1 - tail)]
    return dict(zip(("lower", "median", "upper"), points, strict=True))


def _booster() -> XGBRegressor:
    return XGBRegressor(
        objective="reg:quantileerror",
        quantile_alpha=0.5,
        n_estimators=100,
        tree_method="hist",
        min_child_weight=10,
        random_state=SEED,
        n_jobs=1,
    )


def _quantile_pool(rows: Rows) -> dict[str, Any]:
    forest = RandomForestQuantileRegressor(
        n_estimators=100, default_quantiles=0.5, min_samples_leaf=10, random_state=SEED, n_jobs=1
    )
    pool = {"forest": forest, "boosting": _booster()}
    smoothing, settled = optimize_gam_smoothing(rows.X_train, rows.y_train, N_SPLINES, timeout=300)
    if settled:
        pool["gam"] = ExpectileGAM(
            expectile=0.5, n_splines=N_SPLINES, spline_order=3, lam=smoothing
        )
    return pool


def _mean_pool() -> dict[str, Any]:
    forest = {"n_estimators": 100, "min_samples_leaf": 5, "max_features": 0.33, "n_jobs": 1}
    return {
        "least squares": LinearRegression(),
        "ridge": RidgeCV(),
        "lasso": LassoCV(cv=3),
        "elastic net": ElasticNetCV(cv=3),
        "random forest": RandomForestRegressor(**forest, random_state=42),
        "extra trees": ExtraTreesRegressor(**forest, random_state=42),
        "adaboost": AdaBoostRegressor(random_state=42),
        "xgboost": XGBRegressor(random_state=42, n_jobs=1),
        "network": MLPRegressor(hidden_layer_sizes=(64,), random_state=42),
    }


def _single(smoothing: Any) -> float:
    return float(np.mean(np.ravel(smoothing)))
