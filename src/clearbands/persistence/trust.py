"""The types that a model file may hold without being asked.

Classes, and hardly any functions: what is trusted may be called while the file is read, and
scikit-learn has a function that deletes a folder. A class of those below is rebuilt from its
state and does nothing else.
"""

from __future__ import annotations

import importlib
import inspect
import sys

OWN = "clearbands"
# Modules whose classes do more than hold a model.
NO_MODELS = (
    *(f"{OWN}.{room}" for room in ("apps", "plots")),
    *(f"sklearn.{room}" for room in ("conftest", "datasets", "externals", "tests", "utils")),
)
SELECTION = "sklearn.feature_selection._univariate_selection"
TRUSTED = frozenset(
    {
        "collections.OrderedDict",
        "numpy.dtype",
        "numpy.mean",
        "quantile_forest._quantile_forest.RandomForestQuantileRegressor",
        "quantile_forest._quantile_forest_fast.QuantileForest",
        "scipy._lib.array_api_compat.numpy._aliases.asarray",
        "scipy.interpolate._bsplines.BSpline",
        *(
            f"scipy.sparse._{form}.{form}_{kind}"
            for form in ("coo", "csc", "csr")
            for kind in ("array", "matrix")
        ),
        *(f"{SELECTION}.{score}" for score in ("chi2", "f_classif", "f_regression")),
        "xgboost.core.Booster",
        "xgboost.sklearn.XGBRegressor",
    }
)


def is_trusted(name: str) -> bool:
    """Whether `name` is a type that models are made of: of this package, of scikit-learn, or
    one of the few others."""
    return (
        name in TRUSTED
        or _is_class_of(OWN, name)
        or _is_class_of("sklearn", name)
        or _is_compiled_loss(name)
    )


def is_missing(name: str) -> bool:
    """Whether `name` claims to be of this package, which has no such name."""
    return name.split(".")[0] == OWN and _find(name) is None


def _is_class_of(package: str, name: str) -> bool:
    module, _, _ = name.rpartition(".")
    if module.split(".")[0] != package or module.startswith(NO_MODELS) or ".tests" in module:
        return False
    named = _find(name)
    return inspect.isclass(named) and named.__module__ == module


def _is_compiled_loss(name: str) -> bool:
    """Whether it is a loss of scikit-learn before 1.9, whose module calls itself `_loss` alone."""
    if not name.startswith("_loss."):
        return False
    own = importlib.import_module("sklearn._loss._loss")
    # A file of that name somewhere else must not be what is imported.
    return sys.modules.get("_loss") is own and inspect.isclass(_find(name))


def _find(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return None
