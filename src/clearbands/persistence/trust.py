"""The types that a model file may hold without the user naming them.

They are classes and hardly any functions, because what is trusted may be called while the file is
read, and scikit-learn has a function that deletes a folder. The classes below are rebuilt from
their state and do nothing else.
"""

from __future__ import annotations

import importlib
import inspect
import sys

OWN = "clearbands"
# Classes of these modules do more than hold a model.
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
    """Whether `name` is a type of which models are made.

    It is a class of this package or of scikit-learn, or one of a few others.
    """
    return (
        name in TRUSTED
        or _is_class_of(OWN, name)
        or _is_class_of("sklearn", name)
        or _is_compiled_loss(name)
    )


def is_missing(name: str) -> bool:
    """Whether `name` claims to be in this package but is not."""
    return name.split(".")[0] == OWN and _import(name) is None


def _is_class_of(package: str, name: str) -> bool:
    module, _, _ = name.rpartition(".")
    if module.split(".")[0] != package or module.startswith(NO_MODELS) or ".tests" in module:
        return False
    named = _import(name)
    return inspect.isclass(named) and named.__module__ == module


def _is_compiled_loss(name: str) -> bool:
    """Whether it is a loss of scikit-learn before 1.9, whose module calls itself just `_loss`."""
    if not name.startswith("_loss."):
        return False
    own = importlib.import_module("sklearn._loss._loss")
    # A file of that name in another place must not be imported.
    return sys.modules.get("_loss") is own and inspect.isclass(_import(name))


def _import(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return None
