"""What the service says, as types for its OpenAPI description."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

INFINITE = "null where it is infinite"


class State(BaseModel):
    status: str


class FeatureInfo(BaseModel):
    name: str
    kind: str = Field(description="number, boolean, date, datetime, time, duration, text or any")
    categories: list[str] = Field(description="Of text: the values the model tells apart.")
    direction: Literal["rises", "falls"] | None = Field(
        default=None, description="How the target goes with it, all else equal, if it was told."
    )


class LevelInfo(BaseModel):
    confidence_level: float
    lambda_: float | None = Field(alias="lambda", description=f"gamma2 / gamma1; {INFINITE}.")
    gamma1: float | None = Field(description=f"Factor of the aleatoric widths; {INFINITE}.")
    gamma2: float | None = Field(description=f"Factor of the epistemic widths; {INFINITE}.")


class TrainedOn(BaseModel):
    training_rows: int
    choosing_rows: int = Field(description="Held-out rows that chose the model and lambda.")
    calibration_rows: int = Field(description="Held-out rows that calibrated gamma1.")


class LevelUpdate(BaseModel):
    confidence_level: float
    level_now: float = Field(description="What is asked of the last rows so that it is met.")
    coverage: float = Field(description="Of all updated rows by the intervals of their time.")
    below: float = Field(description="Share of rows below their intervals since the pace was set.")
    above: float = Field(description="Share of rows above their intervals since the pace was set.")


class UpdatesInfo(BaseModel):
    rows: int = Field(description="Of all updates.")
    window_rows: int = Field(description="The last rows, which intervals are calibrated on.")
    last_time: str | None = Field(description="Of the last row, if the model knows.")
    levels: list[LevelUpdate]
    advice: str | None = Field(description="Why the model should be fitted anew, if it should.")


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
    classes: list[str] | None = Field(default=None, description="Of a model that predicts them.")
    c1: float | None = Field(default=None, description="Of classes: scales all logits.")
    c2: float | None = Field(default=None, description="Of classes: scales the spread of members.")
    trained_on: TrainedOn
    guarantee: str
    guarantee_in_words: str
    updates: UpdatesInfo | None = Field(
        default=None, description="How calibration went on after the fit, if it did."
    )
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
