"""Peers for tables with text, dates and missing values: other libraries with their defaults.

Bounds are conformalized quantiles: three quarters of the rows train a lower and an upper one, and
the others calibrate them. Methods "in folds" train five times on four fifths, so that every row
calibrates once; their bounds are the mean of the five. A library with native categories gets them;
the others get the encoding of skrub.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import pandas as pd
import polars as pl
from sklearn.model_selection import KFold

from clearbands.calibration.conformal import capped_rank, order_statistic
from experiments.mixed_data import Mixed

LEVEL = 0.9
TAILS = (0.05, 0.95)
FOLDS = 5

Bounds = tuple[np.ndarray, np.ndarray]  # center (n,), intervals (n, 2)
Method = Callable[[Mixed, pl.DataFrame, int], Bounds]
Center = Callable[[int], Any]
"""A function from a seed to a regressor of the mean."""


class TwoQuantiles(Protocol):
    """A model of a lower and an upper quantile."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Any: ...

    def predict(self, X: pd.DataFrame) -> np.ndarray: ...  # (n, 2)


class OneByOne:
    """Two models, one for each quantile, which `make` sets up."""

    def __init__(self, make: Callable[[float, int], Any], seed: int) -> None:
        self.models = [make(tail, seed) for tail in TAILS]

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> OneByOne:
        for model in self.models:
            model.fit(X, y)
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return np.column_stack([model.predict(X) for model in self.models])


def conformalized(
    center: Center, quantiles: Callable[[int], TwoQuantiles], *, as_it_is: bool = False
) -> Method:
    """Return the method that trains quantiles on three quarters and calibrates them on the rest.

    With `as_it_is`, the library reads text and dates by itself.
    """

    def run(train: Mixed, X: pl.DataFrame, seed: int) -> Bounds:
        own, new = (t.to_pandas() for t in (train.X, X)) if as_it_is else native([train.X, X])
        order = np.random.RandomState(seed).permutation(len(train.y))
        held_out, rows = np.split(order, [len(order) // 4])
        model = quantiles(seed).fit(own.iloc[rows], train.y[rows])
        scores = _scores(model.predict(own.iloc[held_out]), train.y[held_out])
        point = center(seed).fit(own, train.y).predict(new)
        return point, _widened(model.predict(new), scores)

    return run


def in_folds(center: Center, quantiles: Callable[[int], TwoQuantiles]) -> Method:
    """Return the method that trains and calibrates in five folds and predicts their mean."""

    def run(train: Mixed, X: pl.DataFrame, seed: int) -> Bounds:
        own, new = native([train.X, X])
        scores = np.empty(len(train.y))
        points, bounds = np.zeros((FOLDS, len(X))), np.zeros((FOLDS, len(X), 2))
        folds = KFold(FOLDS, shuffle=True, random_state=seed).split(train.y)
        for fold, (rows, others) in enumerate(folds):
            model = quantiles(seed).fit(own.iloc[rows], train.y[rows])
            scores[others] = _scores(model.predict(own.iloc[others]), train.y[others])
            bounds[fold] = np.sort(model.predict(new), axis=1)
            points[fold] = center(seed).fit(own.iloc[rows], train.y[rows]).predict(new)
        return points.mean(axis=0), _widened(bounds.mean(axis=0), scores)

    return run


def _scores(bounds: np.ndarray, y: np.ndarray) -> np.ndarray:
    low, high = np.sort(bounds, axis=1).T
    return np.maximum(low - y, y - high)


def _widened(bounds: np.ndarray, scores: np.ndarray) -> np.ndarray:
    margin = order_statistic(scores, capped_rank(len(scores), LEVEL))
    return np.sort(np.sort(bounds, axis=1) + margin * np.array([-1, 1]), axis=1)


def native(tables: list[pl.DataFrame]) -> list[pd.DataFrame]:
    """Convert tables to pandas, with text as common categories and dates as seconds."""
    frames = [table.to_pandas() for table in tables]
    for column, kind in tables[0].schema.items():
        if kind == pl.String:
            values = pd.concat([table[column] for table in frames]).fillna("missing").astype(str)
            known = pd.CategoricalDtype(sorted(values.unique()))
            for table in frames:
                table[column] = table[column].fillna("missing").astype(str).astype(known)
        elif kind.is_temporal():
            for table in frames:
                table[column] = pd.to_datetime(table[column]).astype("int64") / 1e9
    return frames


def _text(X: pd.DataFrame) -> list[str]:
    return X.select_dtypes("category").columns.tolist()


class WithText:
    """A model that gets text columns as text, with their names."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> WithText:
        text = _text(X)
        self.model.fit(X.astype(dict.fromkeys(text, str)), y, cat_features=text or None)
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self.model.predict(X.astype(dict.fromkeys(_text(X), str)))


def catboost(tail: float | None, seed: int) -> Any:
    from catboost import CatBoostRegressor

    loss = "RMSE" if tail is None else f"Quantile:alpha={tail}"
    return WithText(
        CatBoostRegressor(
            loss_function=loss,
            random_seed=seed,
            verbose=0,
            thread_count=1,
            allow_writing_files=False,
        )
    )


def lightgbm(tail: float | None, seed: int) -> Any:
    from lightgbm import LGBMRegressor

    loss: dict[str, Any] = {} if tail is None else {"objective": "quantile", "alpha": tail}
    return LGBMRegressor(random_state=seed, n_jobs=1, verbose=-1, **loss)


def histograms(tail: float | None, seed: int) -> Any:
    """Return scikit-learn's boosting, with at most 250 codes for the values of a text column."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    loss: dict[str, Any] = {} if tail is None else {"loss": "quantile", "quantile": tail}
    codes = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=250
    )
    text = make_column_transformer((codes, _text), remainder="passthrough")
    return make_pipeline(text, HistGradientBoostingRegressor(random_state=seed, **loss))


def skrub(tail: float | None, seed: int) -> Any:
    """Return the same boosting in skrub's pipeline, which encodes text and dates."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from skrub import tabular_pipeline

    loss: dict[str, Any] = {} if tail is None else {"loss": "quantile", "quantile": tail}
    return tabular_pipeline(HistGradientBoostingRegressor(random_state=seed, **loss))


def skrub_and_mapie(train: Mixed, X: pl.DataFrame, seed: int) -> Bounds:
    """Predict with skrub's pipeline in MAPIE's CV+, with one width for both sides of every row."""
    from mapie.regression import CrossConformalRegressor

    model = CrossConformalRegressor(
        skrub(None, seed), confidence_level=LEVEL, cv=FOLDS, random_state=seed
    ).fit_conformalize(train.X.to_pandas(), train.y)
    point, bounds = model.predict_interval(X.to_pandas())
    return point, np.sort(bounds[:, :, 0], axis=1)


def chimeraboost(seed: int) -> Any:
    from chimeraboost import ChimeraBoostRegressor

    return WithText(ChimeraBoostRegressor(random_state=seed, thread_count=1))


def chimeraboost_quantiles(seed: int) -> Any:
    from chimeraboost import ChimeraBoostQuantileRegressor

    return WithText(
        ChimeraBoostQuantileRegressor(TAILS, random_state=seed, thread_count=1, conformalize=False)
    )


def behind_skrub(forest: Any) -> Any:
    """Return a forest behind skrub's encoding, with medians for gaps, as quantile-forest needs."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from skrub import TableVectorizer

    return make_pipeline(TableVectorizer(), SimpleImputer(strategy="median"), forest)


def forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return behind_skrub(RandomForestRegressor(random_state=seed))


class QuantileForest:
    """The forest of the library quantile-forest."""

    def __init__(self, seed: int) -> None:
        from quantile_forest import RandomForestQuantileRegressor

        self.model = behind_skrub(RandomForestQuantileRegressor(random_state=seed))

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> QuantileForest:
        self.model.fit(X, y)
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self.model.predict(X, quantiles=list(TAILS))


def _one_by_one(
    way: Callable[..., Method], make: Callable[[float | None, int], Any], **options: bool
) -> Method:
    return way(lambda seed: make(None, seed), lambda seed: OneByOne(make, seed), **options)


METHODS: dict[str, Method] = {
    "catboost": _one_by_one(conformalized, catboost),
    "lightgbm": _one_by_one(conformalized, lightgbm),
    "histograms": _one_by_one(conformalized, histograms),
    "skrub": _one_by_one(conformalized, skrub, as_it_is=True),
    "skrub and MAPIE": skrub_and_mapie,
    "chimeraboost": conformalized(chimeraboost, chimeraboost_quantiles),
    "quantile forest": conformalized(forest, QuantileForest, as_it_is=True),
    "catboost in folds": _one_by_one(in_folds, catboost),
}
