"""clearbands on given rows, with its own kernels."""

from __future__ import annotations

from typing import Any

from benchmarks.rows import LEVEL, Bounds, Rows
from clearbands import variant_a, variant_b, variant_c
from clearbands.uncertainty.pcs_ensemble import PCSEnsemble

DISTRIBUTIONS = ("clearbands", "numba", "numpy", "scipy", "scikit-learn")
VARIANTS = {"a": variant_a, "b": variant_b, "c": variant_c}


def warm_up(rows: Rows, variant: str, *, stock: bool = False) -> None:
    """Fit every model of the pool once, so that everything is imported and compiled."""
    model = VARIANTS[variant](stock=stock).set_params(aleatoric__n_bootstraps=2)
    for name, member in model.epistemic.models.items():
        model.set_params(epistemic=PCSEnsemble({name: member}, n_bootstraps=2))
        fit_and_predict(model, rows)


def run(rows: Rows, variant: str, *, stock: bool = False) -> Bounds:
    return fit_and_predict(VARIANTS[variant](stock=stock), rows)


def fit_and_predict(model: Any, rows: Rows) -> Bounds:
    model.set_params(confidence_level=LEVEL, random_state=rows.seed, n_jobs=1)
    model.fit(rows.X_train, rows.y_train, X_cal=rows.X_validation, y_cal=rows.y_validation)
    center, bounds = model.predict_interval(rows.X_test)
    winner = model.epistemic_.leaderboard_[0]["model"]
    return Bounds(center, bounds[:, 0, 0], bounds[:, 1, 0], winner)
