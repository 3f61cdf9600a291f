"""Predictions as a table: one row per prediction, in the order of the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars as pl

    from clearbands.regressor import ClearRegressor
    from clearbands.uncertainty import Uncertainty


def prediction_table(model: ClearRegressor, X: Any) -> pl.DataFrame:
    """Point, bounds at every level, and the two parts of the width at the first level."""
    return table_of(model.predict_uncertainties(X))


def table_of(levels: Sequence[Uncertainty]) -> pl.DataFrame:
    """The same from predictions that are there already."""
    import polars as pl

    return pl.DataFrame(columns_of(levels))


def columns_of(levels: Sequence[Uncertainty]) -> dict[str, np.ndarray]:
    """The columns of that table, by name."""
    columns = {"point": levels[0].center}
    for parts in levels:
        ending = f"_{parts.confidence_level}" if len(levels) > 1 else ""
        columns[f"lower{ending}"], columns[f"upper{ending}"] = parts.interval.T
    return columns | part_widths(levels[0])


def part_widths(parts: Uncertainty) -> dict[str, np.ndarray]:
    """How wide each part is, both sides together, and the epistemic share of the whole."""
    return {
        "aleatoric": parts.widths[:, 0],
        "epistemic": parts.widths[:, 1],
        "epistemic_share": parts.epistemic_share,
    }
