"""The description of the model that the service gives at `/model`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from clearbands import __version__
from clearbands.apps.reading.features import Feature
from clearbands.apps.task import Classification, Task
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.service.schemas import (
    FeatureInfo,
    LevelInfo,
    LevelUpdate,
    LimitsInfo,
    ModelInfo,
    TrainedOn,
    UpdatesInfo,
)
from clearbands.calibration.guarantee import Guarantee
from clearbands.models.monotone import directions_of
from clearbands.persistence.origin import origin_of
from clearbands.rows.display import finite
from clearbands.rows.time_order import show_time


@dataclass(frozen=True)
class Source:
    """The origin of a model: its name, the versions that wrote its file, and its fingerprint."""

    name: str
    versions: Mapping[str, str]
    fingerprint: str | None


def describe_model(
    task: Task, features: Sequence[Feature], limits: Limits, source: Source
) -> ModelInfo:
    """Return all that `/model` tells."""
    model, origin = task.model, origin_of(task.model)
    classes: dict[str, Any] = {}
    if isinstance(task, Classification):
        names = [str(name) for name in task.model.classes_.tolist()]
        classes = {"classes": names, "c1": task.model.c1_, "c2": task.model.c2_}
    return ModelInfo(
        name=source.name,
        version=source.versions.get("clearbands"),
        fingerprint=source.fingerprint,
        fitted=origin.fitted or None,
        target=origin.target or None,
        unit=origin.unit or None,
        data_fingerprint=origin.fingerprint or None,
        type=type(model).__name__,
        best_model=task.best_model,
        features=_features(model, features),
        levels=[LevelInfo.model_validate(level) for level in _levels(task)],
        trained_on=TrainedOn(
            training_rows=model.n_train_,
            choosing_rows=model.n_validation_,
            calibration_rows=model.n_calibration_,
        ),
        **guarantee_of(model),
        **classes,
        versions=dict(source.versions),
        service=__version__,
        limits=LimitsInfo(rows=limits.rows, bytes=limits.bytes, seconds=limits.seconds),
    )


def _features(model: Any, features: Sequence[Feature]) -> list[FeatureInfo]:
    directions = directions_of(model)
    ways: dict[int, Literal["rises", "falls"]] = {1: "rises", -1: "falls"}
    return [
        FeatureInfo(
            name=feature.name,
            kind=feature.kind,
            categories=list(feature.categories),
            direction=ways.get(directions.get(feature.name, 0)),
        )
        for feature in features
    ]


def guarantee_of(model: Any) -> dict[str, Any]:
    """Return the part of the description that updates change: the guarantee and the updates."""
    return {
        "guarantee": model.guarantee_,
        "guarantee_in_words": Guarantee.in_text(model.guarantee_).in_words,
        "updates": describe_updates(model),
    }


def describe_updates(model: Any) -> UpdatesInfo | None:
    """Describe how calibration went on after the fit; None where it did not."""
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


def _levels(task: Task) -> Iterator[dict[str, float | None]]:
    model: Any = task.model
    none = [None] * len(task.levels)  # classes have no such factors
    factors = [getattr(model, f"{name}_", none) for name in ("lambda", "gamma1", "gamma2")]
    for level, *values in zip(task.levels, *factors, strict=True):
        named = dict(zip(("lambda", "gamma1", "gamma2"), values, strict=True))
        finite_ones = {k: None if v is None else finite(v) for k, v in named.items()}
        yield {"confidence_level": level, **finite_ones}


def metric_labels(info: ModelInfo) -> dict[str, str]:
    """Return the labels of the model in the metrics."""
    return {
        "name": info.name,
        "version": info.version or "",
        "fingerprint": info.fingerprint or "",
        "fitted": info.fitted or "",
    }
