"""What the commands do with a model that predicts classes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.apps.cli import console
from clearbands.apps.cli.models import count_seen, features_in
from clearbands.apps.reading.choosing import take_classes

if TYPE_CHECKING:
    import polars as pl

    from clearbands.apps.reading.reading import Reading
    from clearbands.classifier import ClearClassifier

ROWS_AT_ONCE = 10_000  # between two steps of the progress bar


def refuse_for_classes(**asked: Any) -> None:
    """Raise where something was asked for that only numbers have."""
    wrong = next((name for name, value in asked.items() if value), None)
    if wrong is not None:
        raise ValueError(f"The model predicts classes, and --{wrong} is for numbers: leave it out.")


def class_table(model: ClearClassifier, X: pl.DataFrame, levels: Sequence[float]) -> pl.DataFrame:
    """A row per row of X."""
    import polars as pl

    from clearbands.engine.progress import report
    from clearbands.prediction.class_predictions import predict_classes

    tables = []
    for start in range(0, X.height, ROWS_AT_ONCE):
        report("predicting", start, X.height)
        rows = X[start : start + ROWS_AT_ONCE]
        tables.append(predict_classes(model, rows, levels).frame())
    return pl.concat(tables)


def known_classes(model: ClearClassifier, reading: Reading, target: str) -> np.ndarray:
    """The true classes, of the kind that the model knows them by."""
    y = take_classes(reading, target)
    if model.classes_.dtype.kind == y.dtype.kind:
        return y
    return y.astype(str) if model.classes_.dtype.kind == "U" else y


def evaluate_classes(
    model: ClearClassifier, reading: Reading, target: str, *, as_json: bool
) -> None:
    """Score probabilities and sets on rows whose class is known."""
    from clearbands.diagnostics.class_metrics import evaluate_classes

    y = known_classes(model, reading, target)
    X = features_in(model, reading)
    seen = count_seen(model, X, y)
    position = model.positions(y)
    answers = model.answers(X)
    sets = answers.sets(model.confidence_level)
    scores = {"confidence_level": float(model.confidence_level)}
    scores |= evaluate_classes(position, answers.probabilities, sets)
    if as_json:
        answer = {"n_rows": len(y), "n_rows_seen_in_fit": seen, **scores}
        console.say(json.dumps(answer, indent=2))
        return
    console.show_scores([scores], f"{Path(reading.name).name}, {len(y)} rows")
