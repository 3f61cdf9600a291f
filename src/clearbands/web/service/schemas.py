"""What the service says, as types for its OpenAPI description, and predictions in that form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, Field

from clearbands.predictions import part_widths
from clearbands.web.bands import finite

if TYPE_CHECKING:
    from clearbands.uncertainty import Uncertainty

INFINITE = "null where it is infinite"


class Band(BaseModel):
    confidence_level: float
    lower: float | None = Field(description=f"Lower bound; {INFINITE}.")
    upper: float | None = Field(description=f"Upper bound; {INFINITE}.")
    aleatoric: float | None = Field(description=f"Width that is due to noise; {INFINITE}.")
    epistemic: float | None = Field(description=f"Width that more rows would reduce; {INFINITE}.")
    epistemic_share: float = Field(description="Epistemic width over the whole, from 0 to 1.")


class Prediction(BaseModel):
    point: float = Field(description="The center of the band.")
    levels: list[Band] = Field(description="One band for each confidence level of the model.")


class Predictions(BaseModel):
    predictions: list[Prediction] = Field(description="One for each row, in the order of the rows.")


class State(BaseModel):
    status: str


class FeatureInfo(BaseModel):
    name: str
    kind: str = Field(description="number, boolean, date, datetime, time, duration, text or any")
    categories: list[str] = Field(description="Of text: the values the model tells apart.")


class LevelInfo(BaseModel):
    confidence_level: float
    lambda_: float | None = Field(alias="lambda", description=f"gamma2 / gamma1; {INFINITE}.")
    gamma1: float | None = Field(description=f"Factor of the aleatoric widths; {INFINITE}.")
    gamma2: float | None = Field(description=f"Factor of the epistemic widths; {INFINITE}.")


class TrainedOn(BaseModel):
    training_rows: int
    choosing_rows: int = Field(description="Held-out rows that chose the model and lambda.")
    calibration_rows: int = Field(description="Held-out rows that calibrated gamma1.")


class LimitsInfo(BaseModel):
    rows: int
    bytes: int
    seconds: float


class ModelInfo(BaseModel):
    name: str
    version: str | None = Field(description="The version of clearbands that wrote the model.")
    fingerprint: str | None = Field(description="Of the model file: the first half of SHA-256.")
    fitted: str | None = Field(description="When it was fitted, if the model knows.")
    target: str | None = Field(description="What it predicts, if the model knows.")
    unit: str | None = Field(description="The unit of what it predicts, if the model knows.")
    data_fingerprint: str | None = Field(description="Of the data it was fitted on, if it knows.")
    type: str
    best_model: str | None = Field(description="What won the center, if models competed.")
    features: list[FeatureInfo]
    levels: list[LevelInfo]
    trained_on: TrainedOn
    guarantee: str
    guarantee_in_words: str
    versions: dict[str, str] = Field(description="What the model file was written with.")
    service: str = Field(description="The version of clearbands that serves it.")
    limits: LimitsInfo


class ValueProblem(BaseModel):
    row: int | None = Field(description="Counted from 0; null where it is not one row.")
    column: str | None
    message: str


class Problem(BaseModel):
    detail: str
    errors: list[ValueProblem] = Field(description="The values to blame; the first 20.")


def as_json(levels: Sequence[Uncertainty]) -> bytes:
    """`Predictions`; the numbers are written so that they are read back to the last bit."""
    bands = []
    for parts in levels:
        lower, upper = parts.interval.T
        columns = {"lower": lower, "upper": upper, **part_widths(parts)}
        lists = [_nullable(column) for column in columns.values()]
        names = ("confidence_level", *columns)
        bands.append(
            [
                dict(zip(names, (parts.confidence_level, *row), strict=True))
                for row in zip(*lists, strict=True)
            ]
        )
    points = levels[0].center.tolist()
    predictions = [
        {"point": point, "levels": row} for point, *row in zip(points, *bands, strict=True)
    ]
    return json.dumps({"predictions": predictions}, allow_nan=False).encode()


def _nullable(column: np.ndarray) -> list[float | None]:
    values = column.tolist()
    return values if np.isfinite(column).all() else [finite(value) for value in values]
