"""The types of the answers of the service, for its OpenAPI description."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

INFINITE = "null where it is infinite"


class State(BaseModel):
    status: str


class FeatureInfo(BaseModel):
    name: str
    kind: str = Field(description="number, boolean, date, datetime, time, duration, text or any")
    categories: list[str] = Field(
        description="The values of a text column that the model tells apart."
    )
    direction: Literal["rises", "falls"] | None = Field(
        default=None,
        description="Whether the target rises or falls with it, all else equal; null if unset.",
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
    level_now: float = Field(
        description="The level at which the last rows calibrate so that the coverage meets it."
    )
    coverage: float = Field(
        description="The share of updated rows inside the intervals they had at the time."
    )
    below: float = Field(description="Share of rows below their intervals since the pace was set.")
    above: float = Field(description="Share of rows above their intervals since the pace was set.")


class UpdatesInfo(BaseModel):
    rows: int = Field(description="How many rows all updates had.")
    window_rows: int = Field(description="How many of the last rows calibrate the intervals.")
    last_time: str | None = Field(description="The time of the last row, if the model knows.")
    levels: list[LevelUpdate]
    advice: str | None = Field(description="Why the model should be fitted again, if it should.")


class LimitsInfo(BaseModel):
    rows: int
    bytes: int
    seconds: float


class ModelInfo(BaseModel):
    name: str
    version: str | None = Field(description="The version of clearbands that wrote the model.")
    fingerprint: str | None = Field(description="The first half of the SHA-256 of the model file.")
    fitted: str | None = Field(description="When it was fitted, if the model knows.")
    target: str | None = Field(description="What it predicts, if the model knows.")
    unit: str | None = Field(description="The unit of what it predicts, if the model knows.")
    data_fingerprint: str | None = Field(
        description="The fingerprint of the data it was fitted on, if known."
    )
    type: str
    best_model: str | None = Field(
        description="The model that became the center, if models competed."
    )
    features: list[FeatureInfo]
    levels: list[LevelInfo]
    classes: list[str] | None = Field(
        default=None, description="The classes, if the model predicts classes."
    )
    c1: float | None = Field(default=None, description="With classes: the factor of all logits.")
    c2: float | None = Field(
        default=None, description="With classes: the factor of the spread of members."
    )
    trained_on: TrainedOn
    guarantee: str
    guarantee_in_words: str
    updates: UpdatesInfo | None = Field(
        default=None, description="The updates since the fit, if there were any."
    )
    versions: dict[str, str] = Field(
        description="The versions of the packages that wrote the model file."
    )
    service: str = Field(description="The version of clearbands that serves it.")
    limits: LimitsInfo


class ValueProblem(BaseModel):
    row: int | None = Field(description="Counted from 0; null where it is not one row.")
    column: str | None
    message: str


class Problem(BaseModel):
    detail: str
    errors: list[ValueProblem] = Field(description="The values that caused the error, at most 20.")
