"""What the service says about its model: for `/model`, and in the OpenAPI description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from clearbands import __version__
from clearbands.apps.reading.features import Feature, typical_row
from clearbands.apps.web.bands import finite
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.service.schemas import (
    FeatureInfo,
    LevelInfo,
    LevelUpdate,
    LimitsInfo,
    ModelInfo,
    Problem,
    TrainedOn,
    UpdatesInfo,
)
from clearbands.calibration.guarantee import Guarantee
from clearbands.models.monotone import directions_of
from clearbands.rows.time_order import show_time
from clearbands.selection.leaderboard import best_model
from clearbands.tables.kinds import KINDS

REFUSALS = {
    401: "The bearer token is missing or wrong.",
    408: "The body did not arrive in time.",
    413: "Too many bytes or rows.",
    415: "The body is neither JSON nor CSV in UTF-8.",
    422: "The body cannot be read, or values do not fit the model; row and column are named.",
    503: "Too many requests are under way.",
    504: "The prediction took too long.",
}


@dataclass(frozen=True)
class Source:
    """Where a model comes from: its name, the versions that wrote its file, the file's mark."""

    name: str
    versions: Mapping[str, str]
    fingerprint: str | None


def describe_model(
    model: Any, features: Sequence[Feature], limits: Limits, source: Source
) -> ModelInfo:
    """All that `/model` tells."""
    origin = getattr(model, "origin_", None)  # what the command knows of the data it fits
    is_classifier = hasattr(model, "classes_")
    return ModelInfo(
        name=source.name,
        version=source.versions.get("clearbands"),
        fingerprint=source.fingerprint,
        fitted=_told(origin, "fitted"),
        target=_told(origin, "target"),
        unit=_told(origin, "unit"),
        data_fingerprint=_told(origin, "fingerprint"),
        type=type(model).__name__,
        best_model=next(iter(model.models_), None) if is_classifier else best_model(model),
        features=_features(model, features),
        levels=[LevelInfo.model_validate(level) for level in _levels(model)],
        classes=[str(name) for name in model.classes_.tolist()] if is_classifier else None,
        c1=model.c1_ if is_classifier else None,
        c2=model.c2_ if is_classifier else None,
        trained_on=TrainedOn(
            training_rows=model.n_train_,
            choosing_rows=model.n_validation_,
            calibration_rows=model.n_calibration_,
        ),
        **guarantee_of(model),
        versions=dict(source.versions),
        service=__version__,
        limits=LimitsInfo(rows=limits.rows, bytes=limits.bytes, seconds=limits.seconds),
    )


def _features(model: Any, features: Sequence[Feature]) -> list[FeatureInfo]:
    told = directions_of(model)
    ways: dict[int, Literal["rises", "falls"]] = {1: "rises", -1: "falls"}
    return [
        FeatureInfo(
            name=feature.name,
            kind=feature.kind,
            categories=list(feature.categories),
            direction=ways.get(told.get(feature.name, 0)),
        )
        for feature in features
    ]


def guarantee_of(model: Any) -> dict[str, Any]:
    """What holds for the model now: the part of what `/model` tells that updates change."""
    return {
        "guarantee": model.guarantee_,
        "guarantee_in_words": Guarantee.in_text(model.guarantee_).in_words,
        "updates": describe_updates(model),
    }


def describe_updates(model: Any) -> UpdatesInfo | None:
    """How calibration went on after the fit; None where it did not."""
    rolling = getattr(model, "rolling_", None)
    if rolling is None:
        return None
    return UpdatesInfo(
        rows=rolling.n_rows,
        window_rows=rolling.n_window,
        last_time=None if rolling.last_time is None else show_time(rolling.last_time),
        levels=[
            LevelUpdate(
                confidence_level=level, level_now=now, coverage=coverage, below=below, above=above
            )
            for level, now, coverage, (below, above) in zip(
                rolling.levels.tolist(),
                rolling.levels_now.tolist(),
                rolling.coverage.tolist(),
                rolling.outside.tolist(),
                strict=True,
            )
        ],
        advice=rolling.advice(),
    )


def _levels(model: Any) -> Iterator[dict[str, float | None]]:
    if hasattr(model, "classes_"):
        yield {
            "confidence_level": float(model.confidence_level),
            "lambda": None,
            "gamma1": None,
            "gamma2": None,
        }
        return
    factors = zip(model.levels_, model.lambda_, model.gamma1_, model.gamma2_, strict=True)
    for level, *values in factors:
        named = zip(("lambda", "gamma1", "gamma2"), map(finite, values), strict=True)
        yield {"confidence_level": float(level), **dict(named)}


def metric_labels(info: ModelInfo) -> dict[str, str]:
    """The model, as metrics name it."""
    return {
        "name": info.name,
        "version": info.version or "",
        "fingerprint": info.fingerprint or "",
        "fitted": info.fitted or "",
    }


def _told(origin: object, name: str) -> str | None:
    value = getattr(origin, name, None)
    return str(value) if value else None


def request_body(features: Sequence[Feature], limits: Limits) -> dict[str, Any]:
    """The OpenAPI description of what `/predict` takes, with a typical row as the example."""
    row = {
        "type": "object",
        "required": [feature.name for feature in features],
        "properties": {feature.name: _schema_of(feature) for feature in features},
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


def _schema_of(feature: Feature) -> dict[str, Any]:
    """That of a value of its kind, or null."""
    schema = dict(KINDS[feature.kind].json_schema)
    types = schema["type"]
    return schema | {"type": [*([types] if isinstance(types, str) else types), "null"]}


def predict_answers(example: object) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI description of what `/predict` gives back; `example`, or None, is one answer."""
    content = {
        "application/json": {"example": example} if example else {},
        "text/csv": {"schema": {"type": "string"}},
    }
    return {200: {"content": content}, **refusals(408, 413, 415, 422, 503, 504)}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Problem, "description": REFUSALS[status]} for status in statuses}
