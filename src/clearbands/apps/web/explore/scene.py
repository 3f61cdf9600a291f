"""The scene that the page shows: models, the rows of a table, and a control for every column."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v1 as nw
import numpy as np

from clearbands.apps.reading.features import Feature, row_features
from clearbands.apps.task import Regression
from clearbands.apps.web.request_rows import Row, frame_of, predict_rows
from clearbands.prediction.predictions import Predictions
from clearbands.prediction.questions import Questions
from clearbands.tables.kinds import kind_of, numbers_of, value_of

if TYPE_CHECKING:
    import polars as pl

    from clearbands.regressor import ClearRegressor

MAX_ROWS = 1000  # rows that the page shows; more would only make it slow
MAX_MARKS = 300  # marks of the data along an axis
MAX_CHOICES = 40  # choices in a list
CHOICES = ("text", "boolean")  # kinds that are chosen from a list


@dataclass(frozen=True)
class ShownModel:
    """A model with its name and its columns."""

    name: str
    model: ClearRegressor
    features: tuple[Feature, ...]

    def check(self, row: Row) -> None:
        """Refuse with 422 a row whose values do not fit the columns."""
        frame_of([row], self.features)

    def predict(self, rows: Sequence[Row], questions: Questions | None = None) -> Predictions:
        """Predict rows with values as in JSON, by default at every level of the model.

        Columns that the model does not have are ignored.
        """
        return predict_rows(Regression(self.model), frame_of(rows, self.features), questions)


@dataclass(frozen=True)
class Control:
    """The control of one column of the page, with the values that it can take."""

    name: str
    kind: str
    typical: Any  # median; of choices the most frequent, which may be None
    has_gaps: bool
    choices: tuple[Any, ...] = ()  # the values of text and booleans
    low: float = 0.0  # the least of all other values, as numbers
    high: float = 0.0
    near_low: float = 0.0  # the range of nearly all values
    near_high: float = 0.0
    is_whole: bool = False
    marks: tuple[float, ...] = ()  # places of the data on the axis


@dataclass(frozen=True)
class Scene:
    """The content of one page."""

    models: tuple[ShownModel, ...]
    controls: tuple[Control, ...]
    levels: tuple[float, ...]
    rows: tuple[dict[str, Any], ...]  # with values as in JSON
    numbers: tuple[int, ...]  # the numbers of these rows in the table, from 1
    first: int  # the place among these rows of the one to start from
    n_rows: int  # the number of rows of the table
    truth: tuple[float, ...] | None
    n_seen: int = 0  # rows of the table that a model was fitted on, if it is known

    def control(self, name: str) -> Control:
        return next(control for control in self.controls if control.name == name)


def make_scene(
    models: Mapping[str, ClearRegressor],
    frame: pl.DataFrame,
    truth: np.ndarray | None = None,
    n_seen: int = 0,
) -> Scene:
    """Make a scene of one or two models with the rows of a table, thinned out evenly if many.

    `truth` (n,) are the true values of these rows, if they are known, and `n_seen` how many of
    them a model was fitted on.
    """
    chosen = np.unique(np.linspace(0, frame.height - 1, MAX_ROWS).round().astype(int))
    page_models = tuple(
        ShownModel(name, model, _kinds_from(row_features(model), frame))
        for name, model in models.items()
    )
    controls = tuple(_control(feature, frame) for feature in _all_features(page_models))
    columns = [_json_values(frame[c.name][chosen.tolist()], c.kind) for c in controls]
    names = [control.name for control in controls]
    rows = tuple(dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
    return Scene(
        models=page_models,
        controls=controls,
        levels=_common_levels(page_models),
        rows=rows,
        numbers=tuple((chosen + 1).tolist()),
        first=_most_typical(rows, controls),
        n_rows=frame.height,
        truth=None if truth is None else tuple(truth[chosen].tolist()),
        n_seen=n_seen,
    )


def _all_features(models: Sequence[ShownModel]) -> list[Feature]:
    """Return each column once, or raise an error if the models differ in its kind."""
    features: dict[str, Feature] = {}
    for feature in (f for each in models for f in each.features):
        known = features.setdefault(feature.name, feature)
        if known.kind != feature.kind:
            raise ValueError(
                f"The models differ in what column {feature.name!r} holds ({known.kind} and "
                f"{feature.kind}), so they cannot be shown side by side."
            )
    return list(features.values())


def _kinds_from(features: Sequence[Feature], frame: pl.DataFrame) -> tuple[Feature, ...]:
    """Return the features, with the kind from the table where an encoder does not tell it."""
    return tuple(
        f if f.kind != "any" else dataclasses.replace(f, kind=_kind_in(frame, f.name))
        for f in features
    )


def _kind_in(frame: pl.DataFrame, name: str) -> str:
    return kind_of(nw.from_native(frame[name], series_only=True), name)


def _common_levels(models: Sequence[ShownModel]) -> tuple[float, ...]:
    first, *others = [each.model.levels_.tolist() for each in models]
    common = tuple(level for level in first if all(level in levels for levels in others))
    if not common:
        raise ValueError(
            f"The models have no confidence level in common: {first} and {others[0]}; "
            "fit them at the same levels to compare them."
        )
    return common


def _control(feature: Feature, frame: pl.DataFrame) -> Control:
    column = frame[feature.name]
    has_gaps = column.null_count() > 0
    present = column.drop_nulls()
    if feature.kind in CHOICES:
        frequent = [value for value, _ in Counter(column.to_list()).most_common()]
        known = [False, True] if feature.kind == "boolean" else list(feature.categories)
        there = [value for value in frequent if value is not None]
        listed = [*known, *there] if len(known) <= MAX_CHOICES else [*there, *known]
        choices = tuple(dict.fromkeys(listed))[:MAX_CHOICES]
        return Control(feature.name, feature.kind, frequent[0], has_gaps, choices)
    numbers = numbers_of(nw.from_native(present, series_only=True), feature.name)
    if len(numbers) == 0:
        raise ValueError(
            f"Column {feature.name!r} has no value in any row of the table; give a table with some."
        )
    middle = float(np.quantile(numbers, 0.5, method="nearest"))
    near_low, near_high = _without_outliers(numbers)
    return Control(
        feature.name,
        feature.kind,
        typical=value_of(feature.kind, middle),
        has_gaps=has_gaps,
        low=float(numbers.min()),
        high=float(numbers.max()),
        near_low=near_low,
        near_high=near_high,
        is_whole=column.dtype.is_integer(),
        marks=tuple(_thinned(np.sort(numbers), MAX_MARKS).tolist()),
    )


def _without_outliers(numbers: np.ndarray) -> tuple[float, float]:
    """Return the range of all values or, if a few lie far outside, of 98 % of them."""
    low, high = float(numbers.min()), float(numbers.max())
    inner = np.quantile(numbers, [0.01, 0.99], method="nearest")
    near_low, near_high = float(inner[0]), float(inner[1])
    is_far = near_low < near_high and high - low > 2 * (near_high - near_low)
    return (near_low, near_high) if is_far else (low, high)


def _most_typical(rows: Sequence[Mapping[str, Any]], controls: Sequence[Control]) -> int:
    """Return the place of the row closest to the middle of all columns.

    It is a real row: a row of medians may never occur, such as a house whose floors do not add up,
    and no model knows much about it.
    """
    distance = np.zeros(len(rows))
    for control in controls:
        values = [row[control.name] for row in rows]
        if control.kind in CHOICES:
            distance += [value != control.typical for value in values]
        else:
            # Moments are texts that sort by time; missing values come first.
            missing = "" if isinstance(control.typical, str) else -np.inf
            present = [missing if value is None else value for value in values]
            ranks = np.unique(present, return_inverse=True)[1]
            distance += 2 * np.abs(ranks - np.median(ranks)) / max(1, ranks.max())
    return int(distance.argmin())


def _thinned(values: np.ndarray, count: int) -> np.ndarray:
    places = np.linspace(0, len(values) - 1, min(count, len(values))).round().astype(int)
    return values[places]


def _json_values(column: pl.Series, kind: str) -> list[Any]:
    if column.dtype.is_temporal() and kind != "duration":
        return [None if value is None else value.isoformat() for value in column]
    if kind in CHOICES:
        return column.to_list()
    numbers = numbers_of(nw.from_native(column, series_only=True), column.name).tolist()
    return [None if np.isnan(number) else value_of(kind, number) for number in numbers]
