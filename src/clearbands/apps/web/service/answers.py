"""Predictions as the service writes them: the rows of `predict_frame`, in JSON or CSV."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, create_model

from clearbands.apps.web.bands import finite
from clearbands.prediction.class_predictions import ClassPredictions
from clearbands.prediction.predictions import SIDES, Predictions, bound_name
from clearbands.rows.levels import level_name

JSON, CSV = "application/json", "text/csv"
INFINITE = "null where it is infinite"


def written(predictions: Predictions | ClassPredictions, media_type: str) -> bytes:
    """The body of an answer: an object per row under "predictions", or a table."""
    if media_type == CSV:
        return predictions.frame().write_csv().encode()
    # The numbers are written so that they are read back to the last bit.
    return json.dumps({"predictions": _rows(predictions.columns())}, allow_nan=False).encode()


def _rows(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """An object for every row; infinite values are null."""
    values = zip(*map(_nullable, columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in values]


def _nullable(column: Any) -> list[Any]:
    if not isinstance(column, np.ndarray):
        return list(column)
    values = column.tolist()
    if column.dtype.kind != "f" or np.isfinite(column).all():
        return values
    return [finite(value) for value in values]


def answers_of(levels: Sequence[float]) -> type[BaseModel]:
    """What `/predict` answers with a model of these levels, for the description."""
    bounds = {
        bound_name(side, level): f"The {side} bound at {level:g}; {INFINITE}."
        for level in levels
        for side in SIDES
    }
    return _answers(
        prediction=(float, Field(description="The center of the interval.")),
        **_optional(bounds, float | None),
        aleatoric=(float | None, Field(description=f"The width that is noise; {INFINITE}.")),
        epistemic=(
            float | None,
            Field(description=f"The width that is ignorance, which more rows reduce; {INFINITE}."),
        ),
        **_reasons("Epistemic width over the whole width, from 0 to 1."),
    )


def class_answers_of(levels: Sequence[float], classes: Sequence[str]) -> type[BaseModel]:
    """The same with a model of these classes."""
    sets = {
        f"set_{level_name(level)}": f"Classes of the set at {level:g}, the most probable first."
        for level in levels
    }
    chances = {f"p_{name}": f"The probability of {name}." for name in classes}
    return _answers(
        prediction=(Any, Field(description="The most probable class.")),
        **_optional(sets, list[str] | None),
        **_optional(chances, float | None),
        aleatoric=(float, Field(description="Entropy in bits that members hold for chance.")),
        epistemic=(float, Field(description="Entropy in bits that comes of their disagreement.")),
        **_reasons("Epistemic bits over all bits, from 0 to 1."),
    )


def _answers(**fields: Any) -> type[BaseModel]:
    asked = "What the address asked for stands under further names, as in quantile_0.1."
    row = create_model(
        "Prediction",
        __config__=ConfigDict(extra="allow", json_schema_extra={"description": asked}),
        **fields,
    )
    rows = Field(description="One for each row, in the order of the rows.")
    return create_model("Predictions", predictions=(list[row], rows))  # type: ignore[valid-type]


def _optional(described: dict[str, str], of: Any) -> dict[str, Any]:
    """Fields that a request may replace by others; an alias may hold what no name can."""
    return {
        f"field_{number}_{name.partition('_')[0]}": (
            of,
            Field(default=None, alias=name, description=words),
        )
        for number, (name, words) in enumerate(described.items())
    }


def _reasons(share: str) -> dict[str, Any]:
    return {
        "epistemic_share": (float, Field(description=share)),
        "dominant": (
            Literal["noise", "ignorance", "unclear"],
            Field(description="The larger of the two."),
        ),
        "unfamiliar": (
            bool | None,
            Field(
                description="Whether the row is unlike those of the fit; null where the model "
                "cannot tell."
            ),
        ),
    }
