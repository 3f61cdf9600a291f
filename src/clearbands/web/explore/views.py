"""What the page asks for: bands of rows, bands along a column, why a row's band is wide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from clearbands.predictions import part_widths
from clearbands.tables.kinds import value_of
from clearbands.uncertainty import Uncertainty
from clearbands.web.bands import finite
from clearbands.web.explore.scene import CHOICES, Candidate, Control, Scene
from clearbands.web.rows import Row

POINTS = 72  # along an axis: enough for the eye, few enough to follow a slider


def overview(scene: Scene) -> dict[str, Any]:
    """All that the page needs to start."""
    models: list[dict[str, Any]] = [
        {
            "name": candidate.name,
            "guarantee": candidate.model.guarantee_,
            "columns": [feature.name for feature in candidate.features],
            "bands": bands(candidate, scene.levels, scene.rows),
        }
        for candidate in scene.candidates
    ]
    return {
        "models": models,
        "levels": list(scene.levels),
        "controls": [vars(control) for control in scene.controls],
        "rows": list(scene.rows),
        "numbers": list(scene.numbers),
        "first": scene.first,
        "column": telling_column(scene, models[0]["bands"][0]["center"]),
        "n_rows": scene.n_rows,
        "truth": None if scene.truth is None else list(scene.truth),
    }


def telling_column(scene: Scene, center: Sequence[float]) -> str:
    """The column that the predictions rise or fall with most, by ranks; of numbers if there are."""
    found = {}
    for control in scene.controls:
        values = np.array([row[control.name] for row in scene.rows], dtype=object)
        numbers = np.array([isinstance(value, int | float) for value in values])
        if control.kind in CHOICES or len(set(values[numbers])) < 2:
            continue
        ranks = rankdata(values[numbers].astype(float)), rankdata(np.asarray(center)[numbers])
        found[control.name] = abs(np.corrcoef(*ranks)[0, 1]) * np.sqrt(numbers.mean())
    found = {name: value for name, value in found.items() if np.isfinite(value)}
    return max(found, key=found.__getitem__) if found else scene.controls[0].name


def bands(
    candidate: Candidate, levels: Sequence[float], rows: Sequence[Row]
) -> list[dict[str, Any]]:
    """The bands of rows at each of the levels, as columns; infinite values are null."""
    parts = {level.confidence_level: level for level in candidate.predict(rows)}
    return [_columns(parts[level]) for level in levels]


def along(scene: Scene, row: Row, name: str, *, whole: bool = False) -> dict[str, Any]:
    """How the bands of a row change with one of its columns, and the bands of the row itself.

    `whole` goes as far as the data do, outliers included.
    """
    control = scene.control(name)
    places = axis(control, row[name], whole=whole)
    if control.kind in CHOICES:
        rows = [{**row, name: place} for place in places]
    else:
        rows = [{**row, name: value_of(control.kind, place)} for place in places]
    return {
        "column": name,
        "places": places,
        "models": [
            {
                "bands": bands(candidate, scene.levels, rows),
                "here": bands(candidate, scene.levels, [row]),
            }
            for candidate in scene.candidates
        ],
    }


def axis(control: Control, value: object, *, whole: bool = False) -> list[Any]:
    """Where to look: all choices, or points across the data and as far as the present value."""
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
    """For each model: by how much each part of the width exceeds what it would be with one value
    replaced by the typical one, all others as they are."""
    answers = []
    for candidate in scene.candidates:
        controls = [scene.control(feature.name) for feature in candidate.features]
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
                    for columns in bands(candidate, scene.levels, rows)
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
        "center": parts.center,
        "lower": lower,
        "upper": upper,
        "inner_lower": parts.center - parts.aleatoric[:, 0],
        "inner_upper": parts.center + parts.aleatoric[:, 1],
        **part_widths(parts),
    }
    found = {name: [finite(value) for value in values] for name, values in columns.items()}
    return found | {"total_epistemic_share": parts.total_epistemic_share}
