"""The answers to the page: bands of rows, bands along a column, why the band of a row is wide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearbands.apps.web.explore.scene import CHOICES, Control, Scene, ShownModel
from clearbands.apps.web.request_rows import Row
from clearbands.diagnostics.dependence import rank_correlation
from clearbands.models.monotone import directions_of
from clearbands.persistence.origin import origin_of
from clearbands.prediction.predictions import Predictions, reasons
from clearbands.prediction.questions import Questions, fan_levels
from clearbands.prediction.uncertainty import Uncertainty
from clearbands.rows.display import finite
from clearbands.tables.kinds import value_of

ABOVE = "t"  # the name of the threshold in a question
POINTS = 72  # along an axis: enough for the eye, few enough to follow a slider


def overview(scene: Scene) -> dict[str, Any]:
    """Return all that the page needs to start."""
    models: list[dict[str, Any]] = [
        {
            "name": each.name,
            "guarantee": each.model.guarantee_,
            "directions": directions_of(each.model),
            "columns": [feature.name for feature in each.features],
            "bands": bands(each, scene.levels, scene.rows),
            "more_rows": more_rows(each.model),
        }
        for each in scene.models
    ]
    origin = origin_of(scene.models[0].model)
    return {
        "models": models,
        "levels": list(scene.levels),
        "controls": [vars(control) for control in scene.controls],
        "rows": list(scene.rows),
        "numbers": list(scene.numbers),
        "first": scene.first,
        "column": telling_column(scene, models[0]["bands"][0]["prediction"]),
        "n_rows": scene.n_rows,
        "truth": None if scene.truth is None else list(scene.truth),
        "n_seen": scene.n_seen,
        "target": origin.target,
        "unit": origin.unit,
    }


def more_rows(model: Any) -> str:
    """Say what ten times the rows would do to the intervals; "" where no curve was measured."""
    return "" if getattr(model, "outlook_", None) is None else model.forecast((10,)).sentence()


def telling_column(scene: Scene, center: Sequence[float]) -> str:
    """Return the column of numbers with which predictions rise or fall most, by ranks."""
    strength = {}
    for control in scene.controls:
        values = np.array([row[control.name] for row in scene.rows], dtype=object)
        numbers = np.array([isinstance(value, int | float) for value in values])
        if control.kind in CHOICES or len(set(values[numbers])) < 2:
            continue
        of_ranks = rank_correlation(values[numbers].astype(float), np.asarray(center)[numbers])
        strength[control.name] = abs(of_ranks) * np.sqrt(numbers.mean())
    strength = {name: value for name, value in strength.items() if np.isfinite(value)}
    return max(strength, key=strength.__getitem__) if strength else scene.controls[0].name


def bands(model: ShownModel, levels: Sequence[float], rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the bands of rows at each of the levels, as columns in which infinity is null."""
    return _bands(model.predict(rows), levels, slice(None))


def along(
    scene: Scene, row: Row, column: str, *, whole: bool = False, above: float | None = None
) -> dict[str, Any]:
    """Return how the bands of a row change with one of its columns, and the bands of the row.

    With `whole` the column varies over the range of the data, outliers included. `above` asks for
    the chance that the target of the row exceeds this value.
    """
    control = scene.control(column)
    places = axis(control, row[column], whole=whole)
    if control.kind in CHOICES:
        rows = [{**row, column: place} for place in places]
    else:
        rows = [{**row, column: value_of(control.kind, place)} for place in places]
    return {
        "column": column,
        "places": places,
        "above": above,
        "models": [_bands_along(model, scene, [*rows, dict(row)], above) for model in scene.models],
    }


def _bands_along(
    model: ShownModel, scene: Scene, rows: Sequence[Row], above: float | None
) -> dict[str, Any]:
    """Return the answer of one model; the last of `rows` is the row itself."""
    fan = fan_levels(model.model)
    can_answer = model.model.any_level_ is not None
    thresholds = {ABOVE: above} if above is not None and can_answer else {}
    questions = Questions(levels=tuple(dict.fromkeys([*scene.levels, *fan])), above=thresholds)
    predictions = model.predict(rows, questions)
    fans = _bands(predictions, fan, slice(-1))
    return {
        "bands": _bands(predictions, scene.levels, slice(-1)),
        "here": _bands(predictions, scene.levels, slice(-1, None)),
        "fan": [
            {"level": level, "lower": each["lower"], "upper": each["upper"]}
            for level, each in zip(fan, fans, strict=True)
        ],
        "chance": float(predictions.above[ABOVE][-1]) if thresholds else None,
    }


def _bands(predictions: Predictions, levels: Sequence[float], rows: slice) -> list[dict[str, Any]]:
    parts = {each.confidence_level: each for each in predictions.bands}
    return [_columns(parts[level].take(np.arange(len(parts[level]))[rows])) for level in levels]


def axis(control: Control, value: object, *, whole: bool = False) -> list[Any]:
    """Return the values to look at: all choices, or points over the data and the present value."""
    if control.kind in CHOICES:
        own = [] if value is None or value in control.choices else [value]
        return [*control.choices, *own]
    low, high = control.near_low, control.near_high
    if whole:
        low, high = control.low, control.high
    if isinstance(value, int | float):
        low, high = min(low, float(value)), max(high, float(value))
    if low == high:
        return [low]
    if control.is_whole and high - low < POINTS:
        return np.arange(low, high + 1).tolist()
    return np.linspace(low, high, POINTS).tolist()


def why(scene: Scene, row: Row) -> dict[str, Any]:
    """Return, for each model, how much of each part of the width is due to each value of the row.

    That is the difference to the width with this value replaced by the typical one.
    """
    answers = []
    for model in scene.models:
        controls = [scene.control(feature.name) for feature in model.features]
        rows = [dict(row)] + [{**row, control.name: control.typical} for control in controls]
        answers.append(
            {
                "levels": [
                    [
                        {
                            "column": control.name,
                            "value": row[control.name],
                            "typical": control.typical,
                            "aleatoric": _excess(columns["aleatoric"], j),
                            "epistemic": _excess(columns["epistemic"], j),
                        }
                        for j, control in enumerate(controls, start=1)
                    ]
                    for columns in bands(model, scene.levels, rows)
                ]
            }
        )
    return {"models": answers}


def _excess(widths: list[float | None], j: int) -> float | None:
    own, other = widths[0], widths[j]
    return None if own is None or other is None else own - other


def _columns(parts: Uncertainty) -> dict[str, Any]:
    lower, upper = parts.interval.T
    columns = {
        "prediction": parts.center,
        "lower": lower,
        "upper": upper,
        "inner_lower": parts.center - parts.aleatoric[:, 0],
        "inner_upper": parts.center + parts.aleatoric[:, 1],
        **reasons(parts),
    }
    dominant = columns.pop("dominant").tolist()
    numbers = {name: [finite(value) for value in values] for name, values in columns.items()}
    return numbers | {"dominant": dominant, "mean_share": parts.mean_share}
