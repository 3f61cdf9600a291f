"""Models with their settings: the pools of the paper, and the models that compete by default.

docs/defaults.md has the measurements behind the numbers.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clearbands._compat import require
from clearbands.models.boosted_quantiles import BoostedQuantiles
from clearbands.models.forest_quantiles import ForestQuantiles
from clearbands.models.gam import ExpectileGAM
from clearbands.models.kernel_ridge import KernelRidge
from clearbands.models.kernels import Landmarks
from clearbands.models.quantile_model import QuantileModel
from clearbands.models.random_trees import RandomTrees
from clearbands.models.symmetric_trees import SymmetricTrees
from clearbands.models.trees_classifier import SymmetricTreesClassifier
from clearbands.models.trees_on_smooth import TreesOnSmooth


def quantile_pool(*, stock: bool = False) -> dict[str, Any]:
    """Quantile forest, quantile boosting and expectile GAM, set up as in the paper.

    With `stock=True`, XGBoost and quantile-forest replace the kernels of this package.

    >>> from clearbands import quantile_pool
    >>> sorted(quantile_pool())
    ['boosting', 'forest', 'gam']
    """
    return {
        "forest": ForestQuantiles(backend="quantile-forest" if stock else "native"),
        "boosting": boosted_quantiles(stock=stock),
        "gam": ExpectileGAM(),
    }


def default_pool() -> dict[str, Any]:
    """The paper's quantile models with 400 instead of 100 boosted trees: see docs/defaults.md."""
    return quantile_pool() | {"boosting": BoostedQuantiles(n_trees=400)}


STAGES = (48, 100, 200, 400)
"""The numbers of symmetric trees among which unseen rows choose; few win if noise dominates."""


DEEP_ROWS, DEEP_ROWS_PER_COLUMN, DEEP_COLUMNS = 512, 25, 512
"""The fewest rows, in all and per column, and the most columns for deep trees. Fewer rows do not
fill their leaves, or err by chance about the column; with more columns they cost more than all
else."""

FEW_COLUMNS = 20
"""The most columns for which trees have bins of few rows; with more, bins are what trees cost."""

ROWS_PER_BIN, FEWEST_BINS, MOST_BINS = 10, 32, 128
"""The rows in a bin, and the numbers of bins, with more columns than that."""

GAM_COLUMNS = 40
"""The most columns for a GAM; with more, splines cost more than they gain."""

SURFACE_COLUMNS = 100
"""The most columns for a surface; with more, its distance has too many directions to learn."""

SURFACE_ROWS = 2_000, 30_000
"""The fewest and the most rows for a surface. Fewer rows do not tell a good distance from a lucky
one; with more, surfaces cost more than trees."""

LANDMARKS = 1_000
"""The number of landmarks of a surface, whose cost grows with their square."""

RANDOM_TREES = {1: 20_000, 5: 50_000}
"""The most training rows for random trees, by the least rows in a leaf. With more training rows a
model would take hundreds of megabytes."""


def center_pool(n_rows: int, n_columns: int, *, again: bool = False) -> dict[str, Any]:
    """Return the centers that compete by default for tables of this size.

    With `again`, the winners are fitted again in a finer form, so here they compete in a coarse
    one.
    """
    trees = partial(SymmetricTrees, max_bins=n_bins(n_rows, n_columns))
    pool: dict[str, Any] = {f"trees of depth {d}": trees(max_depth=d) for d in (4, 6)}
    fewest = max(DEEP_ROWS, DEEP_ROWS_PER_COLUMN * n_columns)
    if n_rows >= fewest and n_columns <= DEEP_COLUMNS:
        # If small leaves win, a large l2 must not hold them back.
        pool["trees of depth 8"] = trees(max_depth=8, l2=1.0)
    pool["trees of depth 6, absolute loss"] = trees("absolute")
    if n_columns <= GAM_COLUMNS:
        pool["GAM"] = TreesOnSmooth(ExpectileGAM(), trees())
        pool["GAM, depth 4"] = TreesOnSmooth(ExpectileGAM(), trees(max_depth=4))
    for leaf, most in RANDOM_TREES.items():
        if n_rows <= most:
            name = "random trees" if leaf == 1 else f"random trees, leaves of {leaf}"
            pool[name] = RandomTrees(40, min_samples_leaf=leaf)
    fewest, most = SURFACE_ROWS
    if fewest <= n_rows <= most:
        pool |= surface_pool(n_columns, again=again)
    return pool


def n_bins(n_rows: int, n_columns: int) -> int:
    """Return how many bins the columns have for trees that compete on tables of this size."""
    if n_columns <= FEW_COLUMNS:
        return MOST_BINS
    return min(max(n_rows // ROWS_PER_BIN, FEWEST_BINS), MOST_BINS)


def surface_pool(n_columns: int, *, by_rank: bool = False, again: bool = False) -> dict[str, Any]:
    """Return a smooth function of all columns, or of their ranks, with trees on its residuals."""
    if n_columns > SURFACE_COLUMNS:
        return {}
    n_landmarks = LANDMARKS // 2 if again else LANDMARKS
    if by_rank:
        ranked = KernelRidge("matern", by_rank=True, n_landmarks=n_landmarks)
        return {"surface of ranks": TreesOnSmooth(ranked, SymmetricTrees())}
    surface = KernelRidge(n_landmarks=n_landmarks)
    return {"surface": TreesOnSmooth(surface, SymmetricTrees())}


def shallow_boosting() -> BoostedQuantiles:
    """Return quantile boosting that is too shallow to follow the noise of its rows."""
    return BoostedQuantiles(n_trees=100, max_depth=3, learning_rate=0.1)


def noise_forest() -> ForestQuantiles:
    """Return a forest that separates small residuals from large ones and keeps their signs."""
    return ForestQuantiles(n_trees=50, samples_per_leaf=5, grow_on="magnitude")


def boosted_quantiles(*, stock: bool = False) -> BoostedQuantiles:
    """Return quantile boosting as in the paper."""
    return BoostedQuantiles(backend="xgboost" if stock else "native")


def mean_pool() -> dict[str, Any]:
    """The nine models that compete for the mean in the paper's variant (c).

    >>> from clearbands import mean_pool
    >>> len(mean_pool())
    9
    """
    from sklearn.ensemble import AdaBoostRegressor, ExtraTreesRegressor, RandomForestRegressor
    from sklearn.linear_model import ElasticNetCV, LassoCV, LinearRegression, RidgeCV
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    xgboost = require("xgboost", what="The pool of mean models", extra="boost")
    forest = {"n_estimators": 100, "min_samples_leaf": 5, "max_features": 0.33}
    return {
        # Without scaling, scikit-learn >= 1.7 takes columns of small units for rounding errors.
        "least squares": make_pipeline(StandardScaler(), LinearRegression()),
        "ridge": RidgeCV(),
        "lasso": LassoCV(cv=3),
        "elastic net": ElasticNetCV(cv=3),
        "random forest": RandomForestRegressor(**forest, random_state=42),
        "extra trees": ExtraTreesRegressor(**forest, random_state=42),
        "adaboost": AdaBoostRegressor(random_state=42),
        "xgboost": xgboost.XGBRegressor(n_jobs=1, random_state=42),
        "network": MLPRegressor(hidden_layer_sizes=(64,), random_state=42),
    }


# A forest learns noise best with a number of training rows between these two. Fewer rows are not
# enough for it; of more rows it would store too much.
FOREST_ROWS = 3_000, 50_000


def residual_boosting(n_rows: float) -> BoostedQuantiles:
    """Return boosted trees too shallow to fit the noise of their rows; many rows allow depth 6."""
    depth = 3 if n_rows < FOREST_ROWS[0] else 6
    return BoostedQuantiles(n_trees=100, max_depth=depth, learning_rate=0.1)


def quantile_counterpart(model: BaseEstimator) -> Any:
    """Return the quantile model of the same type as `model`; for a model of the mean, a forest."""
    return clone(model) if isinstance(model, QuantileModel) else ForestQuantiles()


def match_quantile_model(aleatoric: Any, epistemic: Any) -> Any:
    """Give an aleatoric part whose model is left open the type of model that won the center."""
    parameters = aleatoric.get_params()
    name = "part__model" if "part" in parameters else "model"  # a part in time wraps another part
    if parameters.get(name, 0) is None and hasattr(epistemic, "winner_"):
        aleatoric.set_params(**{name: quantile_counterpart(epistemic.winner_)})
    return aleatoric


MOST_ROWS_OF_KERNELS = 20_000
"""For classes: kernels have 300 columns each, and with more rows they cost more than all else."""


def class_pool(n_rows: int) -> dict[str, BaseEstimator]:
    """Return the classifiers that compete by default, for so many rows."""
    # Imported late: scikit-learn's linear models take a while to load, and few fits need them.
    from sklearn.linear_model import LogisticRegression

    pool: dict[str, BaseEstimator] = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "trees": SymmetricTreesClassifier(),
    }
    if n_rows <= MOST_ROWS_OF_KERNELS:
        by_kernel = LogisticRegression(C=10.0, max_iter=1000)
        pool["kernel"] = make_pipeline(StandardScaler(), Landmarks(), by_kernel)
    return pool
