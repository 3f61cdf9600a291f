"""Predictions as a table: one row per prediction, in the order of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars as pl

    from clearbands.regressor import ClearRegressor
    from clearbands.uncertainty import Uncertainty


def prediction_table(model: ClearRegressor, X: Any) -> pl.DataFrame:
    """Point, bounds at every level, and the two parts of the width at the first level."""
    import polars as pl

    point, intervals = model.predict_interval(X)
    parts = model.predict_uncertainty(X)
    columns = {"point": point}
    for j, level in enumerate(model.levels_):
        ending = f"_{float(level)}" if len(model.levels_) > 1 else ""
        columns[f"lower{ending}"] = intervals[:, 0, j]
        columns[f"upper{ending}"] = intervals[:, 1, j]
    columns["aleatoric"] = parts.aleatoric.sum(axis=1)
    columns["epistemic"] = parts.epistemic.sum(axis=1)
    columns["epistemic_share"] = epistemic_share(parts)
    return pl.DataFrame(columns)


def epistemic_share(parts: Uncertainty) -> np.ndarray:
    """(n,): epistemic width over the whole, between 0 and 1."""
    return 1 - 1 / (1 + parts.ratio)
