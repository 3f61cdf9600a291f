"""Variant (b) as a plain loop over XGBoost models, if the authors' package is not available."""

from __future__ import annotations

import numpy as np

from benchmarks.rows import BOOTSTRAPS, Bounds, Rows
from experiments import authors
from experiments.protocol import Split

DISTRIBUTIONS = ("numpy", "scikit-learn", "xgboost-cpu", "xgboost")


def warm_up(rows: Rows, variant: str) -> None:
    _run(rows, n_bootstraps=2)


def run(rows: Rows, variant: str) -> Bounds:
    if variant != "b":
        raise ValueError(f"The plain loop stands in for variant 'b' only, not for {variant!r}.")
    return _run(rows, BOOTSTRAPS)


def _run(rows: Rows, n_bootstraps: int) -> Bounds:
    X = np.concatenate([rows.X_train, rows.X_validation, rows.X_test])
    unknown = np.full(len(rows.X_test), np.nan)
    y = np.concatenate([rows.y_train, rows.y_validation, unknown])
    ends = np.cumsum([len(rows.X_train), len(rows.X_validation)])
    train, held_out, test_rows = np.split(np.arange(len(y)), ends)
    split = Split(train, held_out, held_out, test_rows)
    members = authors.fit_members(rows.X_train, rows.y_train, rows.seed, n_bootstraps)
    calibration, test = authors.fit_parts(X, y, split, members, True, n_bootstraps)
    widths = authors.clear(calibration, test).widths
    return Bounds(test.center, test.center - widths[:, 0], test.center + widths[:, 1], "boosting")
