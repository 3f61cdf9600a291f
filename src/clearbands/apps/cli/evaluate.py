"""clearbands evaluate"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated

import typer

from clearbands.apps.cli import console
from clearbands.apps.cli.class_target import is_classifier
from clearbands.apps.cli.classes import evaluate_classes
from clearbands.apps.cli.models import (
    count_seen,
    drop_rows,
    features_in,
    groups_in,
    load_any,
    origin_of,
    read_for,
    target_of,
    unseen_rows,
)
from clearbands.apps.cli.options import (
    Data,
    Decimal,
    DropMissingTarget,
    Encoding,
    KnownTarget,
    Model,
    Separator,
    asked_of,
)
from clearbands.apps.reading.choosing import take_target
from clearbands.rows import display

if TYPE_CHECKING:
    import numpy as np

    from clearbands.prediction.uncertainty import Uncertainty


def evaluate(
    model: Model,
    data: Data,
    target: KnownTarget = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON for machines; infinite values are null.")
    ] = False,
    drop_missing_target: DropMissingTarget = False,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Score the intervals on rows whose target is known and that the model has not seen.

    Of a model for classes: accuracy, negative log-likelihood (nll), Brier score, calibration error
    (ece), and size and coverage of the sets.
    """
    asked = asked_of(separator, decimal, encoding)
    fitted = load_any(model)
    reading = read_for(data, asked, fitted)
    target = target_of(fitted, target)
    if drop_missing_target:
        reading = drop_rows(reading, target)
    if is_classifier(fitted):
        evaluate_classes(fitted, reading, target, as_json=as_json)
        return
    y = take_target(reading, target)
    if (y == y[0]).all():
        raise ValueError(
            f"The target {target!r} has the same value in every row of {reading.name}, so widths "
            "cannot be measured against its range; evaluate on more rows."
        )
    X, labels = features_in(fitted, reading), groups_in(fitted, reading)
    n_given, new = len(y), unseen_rows(fitted, X, y)
    if new is not None:
        X, y = X.filter(new), y[new]
        labels = None if labels is None else labels[new]
    n_left_out = n_given - len(y)
    seen = count_seen(fitted, X, y)

    from clearbands import metrics
    from clearbands.persistence.origin import are_many

    parts = fitted.predict_uncertainties(X, calibration_groups=labels)
    scores = [
        {"confidence_level": each.confidence_level}
        | metrics.evaluate(y, each.center, each.interval, each.confidence_level)
        for each in parts
    ]
    if as_json:
        finite = [{k: v if math.isfinite(v) else None for k, v in row.items()} for row in scores]
        answer = {
            "n_rows": len(y),
            "n_rows_seen_in_fit": seen + n_left_out,
            "n_rows_left_out": n_left_out,
            "levels": finite,
        }
        console.say(json.dumps(answer, indent=2))
    else:
        console.show_scores(scores, f"{console.title_of(data)}, {len(y)} rows")
        origin = origin_of(fitted)
        for each in parts:
            told = None if are_many(seen, len(y)) else fitted.n_calibration_
            console.say(_in_words(each, y, told, "" if origin is None else origin.unit))


def _in_words(parts: Uncertainty, y: np.ndarray, n_calibration: int | None, unit: str) -> str:
    """Coverage and width at one level as the report tells them; chance where rows are new."""
    from clearbands.apps.report.facts import typical_width
    from clearbands.diagnostics.coverage import chance_range
    from clearbands.uncertainty.bands import covered

    inside, asked = covered(y, parts.interval), parts.confidence_level
    chance = ""
    if n_calibration is not None:
        low, high = chance_range(len(y), asked, n_calibration)
        chance = f" (by chance {display.percent(low, 1)} to {display.percent(high, 1)})"
    return (
        f"At {display.level(asked)}: {inside.sum():,} of {len(y):,} true values inside, "
        f"{display.percent(float(inside.mean()), 1)}{chance}; a typical interval is "
        f"{display.with_unit(typical_width(parts), unit)} wide."
    )
