"""Pools of models for PCS, ready to use: the paper's two and the default."""

from __future__ import annotations

from typing import Any

from clearbands.quantile_models.boosting import BoostedQuantiles
from clearbands.quantile_models.forest import ForestQuantiles
from clearbands.quantile_models.gam import ExpectileGAM


def quantile_pool(*, stock: bool = False) -> dict[str, Any]:
    """Quantile forest, quantile boosting and expectile GAM, set up as in the paper.

    `stock` takes XGBoost and quantile-forest instead of the kernels of this package.
    """
    return {
        "forest": ForestQuantiles(backend="quantile-forest" if stock else "native"),
        "boosting": boosted_quantiles(stock=stock),
        "gam": ExpectileGAM(),
    }


def default_pool() -> dict[str, Any]:
    """The paper's quantile models with 400 instead of 100 boosted trees: see docs/defaults.md."""
    return quantile_pool() | {"boosting": BoostedQuantiles(n_trees=400)}


def boosted_quantiles(*, stock: bool = False) -> BoostedQuantiles:
    """Quantile boosting as in the paper."""
    return BoostedQuantiles(backend="xgboost" if stock else "native")


def mean_pool() -> dict[str, Any]:
    """The nine models of the conditional mean of the paper's variant (c)."""
    from sklearn.ensemble import AdaBoostRegressor, ExtraTreesRegressor, RandomForestRegressor
    from sklearn.linear_model import ElasticNetCV, LassoCV, LinearRegression, RidgeCV
    from sklearn.neural_network import MLPRegressor

    try:
        from xgboost import XGBRegressor
    except ImportError as error:
        raise ImportError(
            'The pool of mean models needs XGBoost: pip install "clearbands[boost]".'
        ) from error
    forest = {"n_estimators": 100, "min_samples_leaf": 5, "max_features": 0.33}
    return {
        "least squares": LinearRegression(),
        "ridge": RidgeCV(),
        "lasso": LassoCV(cv=3),
        "elastic net": ElasticNetCV(cv=3),
        "random forest": RandomForestRegressor(**forest, random_state=42),
        "extra trees": ExtraTreesRegressor(**forest, random_state=42),
        "adaboost": AdaBoostRegressor(random_state=42),
        "xgboost": XGBRegressor(n_jobs=1, random_state=42),
        "network": MLPRegressor(hidden_layer_sizes=(64,), random_state=42),
    }
