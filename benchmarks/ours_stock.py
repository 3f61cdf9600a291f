"""clearbands on given rows, with XGBoost and quantile-forest in place of its own kernels."""

from __future__ import annotations

from benchmarks import ours
from benchmarks.rows import Bounds, Rows

DISTRIBUTIONS = (*ours.DISTRIBUTIONS, "xgboost-cpu", "xgboost", "quantile-forest")


def warm_up(rows: Rows, variant: str) -> None:
    ours.warm_up(rows, variant, stock=True)


def run(rows: Rows, variant: str) -> Bounds:
    return ours.run(rows, variant, stock=True)
