"""Model files, and tables read as their models need them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearbands.apps.cli import console
from clearbands.apps.cli.class_target import is_classifier
from clearbands.apps.reading.choosing import drop_missing, take_column, take_features
from clearbands.apps.reading.dialect import Asked
from clearbands.apps.reading.reading import Reading, read_table, reading_in_words

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from clearbands.persistence.origin import Origin
    from clearbands.regressor import ClearRegressor


def load_model(path: Path) -> ClearRegressor:
    """The model of numbers in a file, provided that it knows its columns by name."""
    from clearbands.persistence.model_file import ModelFileError

    model = load_any(path)
    if is_classifier(model):
        raise ModelFileError(
            f"{path} predicts classes, and this command is for numbers: classes have predict, "
            "evaluate, report and serve."
        )
    return model


def load_any(path: Path) -> Any:
    """The model in a file, of numbers or of classes, provided that it knows its columns by name."""
    from clearbands.classifier import ClearClassifier
    from clearbands.persistence.model_file import ModelFileError, load
    from clearbands.regressor import ClearRegressor

    model = load(path)
    if not isinstance(model, ClearRegressor | ClearClassifier):
        raise ModelFileError(
            f"{path} holds a {type(model).__name__}; the command needs a ClearRegressor or a "
            "ClearClassifier."
        )
    if not hasattr(model, "feature_names_in_"):
        raise ModelFileError(
            f"{path} was fitted on an array without column names; fit it on a table to use it "
            "with files."
        )
    return model


def origin_of(model: ClearRegressor) -> Origin | None:
    """Its record, which models that the command did not fit may not have."""
    return getattr(model, "origin_", None)


def target_of(model: ClearRegressor, given: str | None) -> str:
    """The name of the target: as given, or else as the model knows it."""
    origin = origin_of(model)
    if given is None and origin is None:
        raise ValueError("The model does not know the name of its target; give it with --target.")
    return given if given is not None else origin.target  # type: ignore[union-attr]


def read_for(data: Path, asked: Asked, *models: ClearRegressor) -> Reading:
    """The table, with its columns in the kinds of the models; what was mended is said."""
    from clearbands.apps.reading.features import fitted_columns

    reading = read_table(data, asked=asked, fitted=fitted_columns(*models))
    for words in reading_in_words(reading):
        console.complain(f"Warning: {words}")
    return reading


def drop_rows(reading: Reading, target: str) -> Reading:
    """The table without the rows whose target is missing, which is said."""
    left, n_dropped = drop_missing(reading, target)
    if n_dropped:
        rows = console.count(n_dropped, "row")
        strays = reading.mended[target].strays if target in reading.mended else ()
        such_as = f", such as {strays[0].value!r} in row {strays[0].row}" if strays else ""
        console.complain(
            f"Warning: Left out {rows} of {reading.frame.height:,}, whose target {target!r} is "
            f"missing{such_as}."
        )
    return left


def features_in(model: ClearRegressor, reading: Reading) -> pl.DataFrame:
    """The columns that the model needs."""
    return take_features(reading.frame, list(model.feature_names_in_), reading.name)


def groups_in(model: ClearRegressor, reading: Reading) -> np.ndarray | None:
    """The labels of the rows, where the model has groups and does not find them for itself."""
    import numpy as np

    from clearbands.apps.reading.features import group_feature

    group = group_feature(model)
    if group is None:
        return None
    return np.array(take_column(reading.frame, group.name, reading.name).to_list(), dtype=object)


def kept_columns(
    model: ClearRegressor, reading: Reading, keep: list[str], row_id: str | None
) -> list[pl.Series]:
    """The columns to carry along: what names the rows first."""
    known = origin_of(model)
    if row_id is None and known is not None and known.id in reading.frame.columns:
        row_id = known.id
    names = dict.fromkeys(([row_id] if row_id else []) + keep)
    return [take_column(reading.frame, column, reading.name) for column in names]


def unseen_rows(model: ClearRegressor, X: pl.DataFrame, y: np.ndarray) -> np.ndarray | None:
    """(n,) booleans: the rows to score, where the model has seen some and knows which.

    None where it has seen none, cannot tell which, or leaves too few for a report.
    """
    from clearbands.apps.report.facts import FEWEST_ROWS

    origin = origin_of(model)
    seen = None if origin is None else origin.find_seen(X, y)
    if seen is None or not seen.any() or (~seen).sum() < FEWEST_ROWS:
        return None
    console.complain(
        f"Warning: The model was fitted on {seen.sum():,} of these {len(y):,} rows. They say "
        f"nothing about new ones and are left out: the scores are those of the other "
        f"{(~seen).sum():,}."
    )
    return ~seen


def count_seen(model: ClearRegressor, X: pl.DataFrame, y: np.ndarray) -> int:
    """How many of the rows the model was fitted on; if they are many, it is said loudly."""
    from clearbands.persistence.origin import are_many

    origin = origin_of(model)
    seen = 0 if origin is None else origin.count_seen(X, y)
    if are_many(seen, len(y)):
        count = f"ALL {seen:,}" if seen == len(y) else f"{seen:,} of {len(y):,}"
        console.complain(
            f"Warning: THE MODEL HAS SEEN THESE ROWS. It was fitted on {count}, "
            "and they say nothing about new ones: intervals look better here than they are. "
            "Use rows that were kept from the fit (fit --report keeps some)."
        )
    return seen
