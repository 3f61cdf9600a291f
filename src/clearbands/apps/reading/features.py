"""The columns that a fitted model expects of a row, their kinds and their typical values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from clearbands.apps.reading.choosing import take_groups
from clearbands.apps.reading.reading import Fitted
from clearbands.apps.reading.understanding import Known
from clearbands.persistence.origin import origin_of
from clearbands.tables.kinds import value_of

if TYPE_CHECKING:
    import polars as pl

    from clearbands.regressor import ClearRegressor


NAME = "name"  # the kind of a column that names rows; rows may come without it


@dataclass(frozen=True)
class Feature:
    """One column of the rows that a model was fitted on."""

    name: str
    kind: str  # a key of `clearbands.tables.kinds.KINDS`, "any" if no encoder tells it, or NAME
    categories: tuple[str, ...] = ()  # of text: those that the model tells apart
    typical: Any = None  # the median or the first category, as JSON writes it
    written: str = ""  # how the file of the fit had it: decimal sign, "dmy" or "mdy"


def features_of(model: ClearRegressor) -> tuple[Feature, ...]:
    """Return the columns in the order of fit."""
    encoder = model.encoder_
    kinds = getattr(encoder, "kinds_", {})
    medians, categories = _medians(encoder), _categories(encoder)
    known = _known(model)
    features = (
        _feature(str(name), kinds.get(name, "any"), medians.get(name), categories.get(name, ()))
        for name in model.feature_names_in_
    )
    return tuple(replace(feature, written=_written(feature, known)) for feature in features)


def _written(feature: Feature, known: Known) -> str:
    if feature.kind in ("number", "duration"):
        return known.decimal or ""
    return known.orders.get(feature.name, "")


def row_features(model: ClearRegressor) -> tuple[Feature, ...]:
    """Return the columns that a row to be predicted needs: those of fit and those of its groups."""
    features = features_of(model)
    names = {feature.name for feature in features}
    return features + tuple(each for each in group_features(model) if each.name not in names)


def request_features(model: ClearRegressor) -> tuple[Feature, ...]:
    """Return the columns that rows may have: those that they need, and the one that names them."""
    needed, name = row_features(model), origin_of(model).id
    is_new = name and name not in [feature.name for feature in needed]
    return (*needed, Feature(name, NAME)) if is_new else needed


def group_features(model: ClearRegressor) -> tuple[Feature, ...]:
    """Return the columns of the groups, if the model does not find them among those of fit."""
    if (
        not getattr(model, "has_calibration_groups_", False)
        or model.calibration_group_column_ is not None
    ):
        return ()
    column = origin_of(model).calibration_groups
    if not column:
        raise ValueError(
            "The model was calibrated by group, with labels whose column it does not know; fit it "
            "with the name of a column."
        )
    if not isinstance(column, str):
        return tuple(
            Feature(name, "text", labels, labels[0]) if labels else Feature(name, "any", typical=0)
            for name, labels in model.calibrator_.columns_
        )
    labels = tuple(group.label for group in model.calibrator_.calibration_groups_)
    return (Feature(column, "any", labels, labels[0]),)


def labels_of_rows(
    model: ClearRegressor, frame: pl.DataFrame, path: Path | str
) -> np.ndarray | None:
    """Return the groups of rows, if the model has groups and does not find them itself."""
    groups = group_features(model)
    texts = [group.name for group in groups if group.kind == "text"]
    names = [group.name for group in groups]
    return take_groups(frame, names, path, texts) if groups else None


def typical_row(features: Sequence[Feature]) -> dict[str, Any]:
    """Return the typical values of a row as JSON writes them, without the name of the row."""
    return {feature.name: feature.typical for feature in features if feature.kind != NAME}


def kinds_of(model: ClearRegressor) -> dict[str, str]:
    """Return the kind of every column, "any" where an encoder does not tell it."""
    return {feature.name: feature.kind for feature in features_of(model)}


def known_texts(model: ClearRegressor) -> dict[str, frozenset[str]]:
    """Return all that text columns held in fit, as far as the encoder tells."""
    encoder = model.encoder_
    known = getattr(getattr(encoder, "categorical_", None), "categories_", ())
    columns = getattr(encoder, "categorical_columns_", ()) if len(known) else ()
    return {
        str(name): frozenset(str(value) for value in values if value is not None)
        for name, values in zip(columns, known, strict=True)
    }


def fitted_columns(*models: ClearRegressor) -> Fitted:
    """Return the columns of all models; the first model that has a column decides its kind."""
    kinds: dict[str, str] = {}
    texts: dict[str, frozenset[str]] = {}
    for model in reversed(models):
        kinds |= kinds_of(model)
        texts |= known_texts(model)
    return Fitted(kinds, texts, _known(models[0]))


def _known(model: ClearRegressor) -> Known:
    """Return how the file of the fit was written, as far as the model remembers."""
    origin = origin_of(model)
    return Known(origin.decimal or None, origin.date_orders)


def _feature(name: str, kind: str, median: float | None, categories: tuple[str, ...]) -> Feature:
    if kind == "text":
        return Feature(name, kind, categories, categories[0] if categories else None)
    if median is None or not math.isfinite(median):
        return Feature(name, kind)
    return Feature(name, kind, typical=value_of(kind, median))


def _medians(encoder: BaseEstimator) -> dict[Any, float]:
    """Return the medians of the training rows, where the imputer kept them."""
    medians = getattr(getattr(encoder, "numeric_", None), "statistics_", None)
    if medians is None:
        return {}
    return dict(zip(encoder.numeric_columns_, np.asarray(medians, float).tolist(), strict=True))


def _categories(encoder: BaseEstimator) -> dict[Any, tuple[str, ...]]:
    """Return the categories with a column of their own: no missing one, no pooled rare ones."""
    one_hot = getattr(encoder, "categorical_", None)
    known = getattr(one_hot, "categories_", None)
    if known is None:
        return {}
    pooled = getattr(one_hot, "infrequent_categories_", None) or [None] * len(known)
    return {
        name: tuple(
            str(value)
            for value in values
            if value is not None and (rare is None or value not in rare)
        )
        for name, values, rare in zip(encoder.categorical_columns_, known, pooled, strict=True)
    }
