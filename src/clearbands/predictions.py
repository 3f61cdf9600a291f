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

    levels = model.predict_uncertainties(X)
    first = levels[0]
    columns = {"point": first.center}
    for parts in levels:
        ending = f"_{parts.confidence_level}" if len(levels) > 1 else ""
        columns[f"lower{ending}"], columns[f"upper{ending}"] = parts.interval.T
    columns["aleatoric"] = first.aleatoric.sum(axis=1)
    columns["epistemic"] = first.epistemic.sum(axis=1)
    columns["epistemic_share"] = epistemic_share(first)
    return pl.DataFrame(columns)


def epistemic_share(parts: Uncertainty) -> np.ndarray:
    """(n,): epistemic width over the whole, between 0 and 1."""
    return 1 - 1 / (1 + parts.ratio)
