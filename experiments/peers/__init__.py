"""Peers: other libraries that a user could take instead, on the same rows; all are optional.

All get the same 80 % of the rows as a ClearRegressor: 60 % train and 20 % calibrate, or a method
does both with all of them (the cross methods, chimeraboost, conformal-tights). Models are used with
their libraries' defaults, on one thread. Slow methods see fewer training rows of large tables;
`smooth.py` and `distributions.py` say how many.
"""

from __future__ import annotations

from importlib.util import find_spec

from experiments.case import Method
from experiments.peers import cross, distributions, normalised, quantiles, smooth

NEEDS = {
    "MAPIE CQR": (quantiles.scikit_learn, "mapie"),
    "MAPIE cross-conformal": (cross.scikit_learn, "mapie"),
    "MAPIE cross-conformal, LightGBM": (cross.lightgbm, "mapie lightgbm"),
    "MAPIE cross-conformal, CatBoost": (cross.catboost, "mapie catboost"),
    "crepes": (normalised.crepes, "crepes"),
    "forest CQR": (quantiles.forest, "quantile_forest"),
    "LightGBM CQR": (quantiles.lightgbm, "mapie lightgbm"),
    "CatBoost CQR": (quantiles.catboost, "catboost"),
    "NGBoost CQR": (quantiles.ngboost, "ngboost"),
    "Gaussian process": (smooth.gaussian_process, "sklearn"),
    "linear CQR": (smooth.linear_quantiles, "sklearn"),
    "chimeraboost": (distributions.chimeraboost, "chimeraboost"),
    "BART CQR": (distributions.bart, "stochtree"),
    "conformal-tights": (distributions.conformal_tights, "conformal_tights"),
}
"""The peers by their names in the tables, with the libraries that each needs."""


def installed() -> dict[str, Method]:
    """Return the peers whose libraries are installed, all with models of their own."""
    return {
        name: Method(run, (), ("default",), alone=True)
        for name, (run, libraries) in NEEDS.items()
        if all(map(find_spec, libraries.split()))
    }
