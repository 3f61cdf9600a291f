"""Bands of rows that came over HTTP."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from clearbands.web.refusals import Refusal

if TYPE_CHECKING:
    import polars as pl

    from clearbands.regressor import ClearRegressor
    from clearbands.uncertainty import Uncertainty


def predict_rows(model: ClearRegressor, rows: pl.DataFrame) -> tuple[Uncertainty, ...]:
    """The bands of checked rows at every level; 422 for what only the model can find wrong."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # the model refuses what is not finite
            return model.predict_uncertainties(rows)
    except (ValueError, TypeError) as error:
        raise Refusal(422, f"The model cannot read the rows: {error}") from error


def finite(value: float) -> float | None:
    """The number, or None where it is infinite: JSON knows no infinity.

    >>> finite(1.5), finite(float("inf"))
    (1.5, None)
    """
    return float(value) if math.isfinite(value) else None
