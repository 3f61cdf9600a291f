"""What the service says, as types for its OpenAPI description, and predictions in that form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, Field

from clearbands.apps.web.bands import finite
from clearbands.prediction.predictions import Predictions, part_widths
from clearbands.prediction.questions import Questions

INFINITE = "null where it is infinite"


class Band(BaseModel):
    confidence_level: float
    lower: float | None = Field(description=f"Lower bound; {INFINITE}.")
    upper: float | None = Field(description=f"Upper bound; {INFINITE}.")
    aleatoric: float | None = Field(description=f"Width that is due to noise; {INFINITE}.")
    epistemic: float | None = Field(description=f"Width that more rows would reduce; {INFINITE}.")
    epistemic_share: float = Field(description="Epistemic width over the whole, from 0 to 1.")


class Quantile(BaseModel):
    quantile: float
    value: float | None = Field(description=f"Which that share does not exceed; {INFINITE}.")


class Chance(BaseModel):
    above: float | None = Field(default=None, description="The value to be exceeded, or")
    below: float | None = Field(default=None, description="the value not to be reached.")
    probability: float


class PredictionJson(BaseModel):
    point: float = Field(description="The center of the band.")
    levels: list[Band] = Field(description="One band for each level, by default those of the fit.")
    quantiles: list[Quantile] = Field(default=[], description="Where `quantile` was asked for.")
    chances: list[Chance] = Field(
        default=[], description="Where `above` or `below` was asked for: first all above."
    )
    unfamiliar: bool | None = Field(
        default=None,
        description="Where it was asked for: whether the row is unlike those of the fit.",
    )


class PredictionsJson(BaseModel):
    predictions: list[PredictionJson] = Field(
        description="One for each row, in the order of the rows."
    )


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


def as_json(found: Predictions, questions: Questions) -> bytes:
    """`PredictionsJson`; the numbers are written so that they are read back to the last bit."""
    columns: dict[str, list[Any]] = {
        "point": found.bands[0].center.tolist(),
        "levels": _transposed(_bands(found)),
    }
    if found.quantiles:
        columns["quantiles"] = _transposed(
            _objects({"quantile": [level] * len(values), "value": _nullable(values)})
            for level, values in found.quantiles.items()
        )
    if found.above or found.below:
        columns["chances"] = _transposed(_chances(found, questions))
    if found.unfamiliar is not None:
        columns["unfamiliar"] = found.unfamiliar.tolist()
    return json.dumps({"predictions": _objects(columns)}, allow_nan=False).encode()


def _bands(found: Predictions) -> Iterator[list[dict[str, Any]]]:
    for j, parts in enumerate(found.bands):
        lower, upper = found.bounds(j).T
        columns = {"lower": lower, "upper": upper, **part_widths(parts)}
        lists = {name: _nullable(column) for name, column in columns.items()}
        yield _objects({"confidence_level": [parts.confidence_level] * len(lower), **lists})


def _chances(found: Predictions, questions: Questions) -> Iterator[list[dict[str, Any]]]:
    for name in ("above", "below"):
        values, chances = getattr(questions, name), getattr(found, name)
        for asked, chance in chances.items():
            value = [values[asked]] * len(chance)
            yield _objects({name: value, "probability": chance.tolist()})


def _objects(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    """An object for every row."""
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _transposed(columns: Iterable[list[dict[str, Any]]]) -> list[list[dict[str, Any]]]:
    return [list(row) for row in zip(*columns, strict=True)]


def _nullable(column: np.ndarray) -> list[float | None]:
    values = column.tolist()
    return values if np.isfinite(column).all() else [finite(value) for value in values]
