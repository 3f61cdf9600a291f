"""Bands of rows that came over HTTP."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from clearbands.apps.reading.features import group_feature
from clearbands.apps.web.refusals import Refusal
from clearbands.prediction.predictions import Predictions, predict
from clearbands.prediction.questions import Questions

if TYPE_CHECKING:
    import polars as pl

    from clearbands.regressor import ClearRegressor


def predict_rows(
    model: ClearRegressor, rows: pl.DataFrame, questions: Questions | None = None
) -> Predictions:
    """The answers for checked rows, which have the columns of `row_features`.

    What only the model can find wrong is 422.
    """
    group = group_feature(model)
    X = rows if group is None else rows.drop(group.name)
    labels = None if group is None else rows[group.name].to_list()
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # the model refuses what is not finite
            return predict(model, X, questions, labels)
    except (ValueError, TypeError) as error:
        raise Refusal(422, f"The model cannot read the rows: {error}") from error


def finite(value: float) -> float | None:
    """The number, or None where it is infinite: JSON knows no infinity.

    >>> finite(1.5), finite(float("inf"))
    (1.5, None)
    """
    return float(value) if math.isfinite(value) else None
