"""What the service says about its model: for `/model`, and in the OpenAPI description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clearbands import __version__
from clearbands.features import Feature, typical_row
from clearbands.service.answers import (
    FeatureInfo,
    LevelInfo,
    LimitsInfo,
    ModelInfo,
    Problem,
    TrainedOn,
    finite,
)
from clearbands.service.limits import Limits

if TYPE_CHECKING:
    from clearbands.regressor import ClearRegressor

JSON_TYPES: dict[str, dict[str, Any]] = {
    "number": {"type": ["number", "null"]},
    "duration": {"type": ["number", "null"], "description": "In seconds."},
    "boolean": {"type": ["boolean", "null"]},
    "text": {"type": ["string", "null"]},
    "date": {"type": ["string", "null"], "format": "date"},
    "datetime": {"type": ["string", "null"], "format": "date-time"},
    "time": {"type": ["string", "null"], "pattern": "^([01][0-9]|2[0-3])(:[0-5][0-9]){2}$"},
    "any": {"type": ["number", "string", "boolean", "null"]},
}
IN_WORDS = {
    "joint": (
        "Coverage approaches the confidence level as the calibration rows become many. The same "
        "rows chose lambda and calibrated, so nothing is promised for few of them."
    ),
    "conformal": (
        "For a row exchangeable with the calibration rows the interval holds the true value with "
        "at least the probability of the confidence level, whatever the number of rows, on "
        "average over rows and calibration sets. Nothing is promised for one given row."
    ),
}
REFUSALS = {
    401: "The bearer token is missing or wrong.",
    408: "The body did not arrive in time.",
    413: "Too many bytes or rows.",
    415: "The body is neither JSON nor CSV in UTF-8.",
    422: "The body cannot be read, or values do not fit the model; row and column are named.",
    503: "Too many requests are under way.",
    504: "The prediction took too long.",
}


def describe_model(
    model: ClearRegressor,
    features: Sequence[Feature],
    limits: Limits,
    name: str,
    versions: Mapping[str, str],
) -> ModelInfo:
    leaderboard = getattr(model.epistemic_, "leaderboard_", None)
    factors = zip(model.levels_, model.lambda_, model.gamma1_, model.gamma2_, strict=True)
    return ModelInfo(
        name=name,
        type=type(model).__name__,
        best_model=leaderboard[0]["model"] if leaderboard else None,
        features=[
            FeatureInfo(name=f.name, kind=f.kind, categories=list(f.categories)) for f in features
        ],
        levels=[
            LevelInfo.model_validate(
                {
                    "confidence_level": float(level),
                    "lambda": finite(lambda_),
                    "gamma1": finite(gamma1),
                    "gamma2": finite(gamma2),
                }
            )
            for level, lambda_, gamma1, gamma2 in factors
        ],
        trained_on=TrainedOn(
            training_rows=model.n_train_,
            choosing_rows=model.n_validation_,
            calibration_rows=model.n_calibration_,
        ),
        guarantee=model.guarantee_,
        guarantee_in_words=IN_WORDS[model.calibration],
        versions=dict(versions),
        service=__version__,
        limits=LimitsInfo(rows=limits.rows, bytes=limits.bytes, seconds=limits.seconds),
    )


def request_body(features: Sequence[Feature], limits: Limits) -> dict[str, Any]:
    """The OpenAPI description of what `/predict` takes, with a typical row as the example."""
    row = {
        "type": "object",
        "required": [feature.name for feature in features],
        "properties": {feature.name: JSON_TYPES[feature.kind] for feature in features},
        "additionalProperties": False,
    }
    # The most rows are no `maxItems`: more of them are well formed and refused with 413.
    allowed = f"At most {limits.rows:,} rows."
    rows = {"type": "array", "items": row, "minItems": 1, "description": allowed}
    body = {
        "type": "object",
        "required": ["rows"],
        "properties": {"rows": rows},
        "additionalProperties": False,
    }
    import polars as pl

    typical = typical_row(features)
    table = pl.DataFrame([typical]).write_csv()
    return {
        "required": True,
        "content": {
            "application/json": {"schema": body, "example": {"rows": [typical]}},
            "text/csv": {"schema": {"type": "string"}, "example": table},
        },
    }


def predict_answers(example: Any) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI description of what `/predict` gives back; `example`, or None, is one answer."""
    content = {
        "application/json": {"example": example} if example else {},
        "text/csv": {"schema": {"type": "string"}},
    }
    return {200: {"content": content}, **refusals(408, 413, 415, 422, 503, 504)}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Problem, "description": REFUSALS[status]} for status in statuses}
