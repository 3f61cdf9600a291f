"""clearbands evaluate"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from clearbands.apps.cli import console
from clearbands.apps.cli.opened import ModelAndTable
from clearbands.apps.cli.options import (
    AsJson,
    Data,
    DropMissingTarget,
    KnownTarget,
    Model,
    TextFile,
)
from clearbands.apps.task import Classification
from clearbands.rows import display

if TYPE_CHECKING:
    import numpy as np

    from clearbands.prediction.uncertainty import Uncertainty


def evaluate(
    model: Model,
    data: Data,
    text: TextFile,
    target: KnownTarget = None,
    drop_missing_target: DropMissingTarget = False,
    as_json: AsJson = False,
) -> None:
    """Score the intervals on rows whose target is known and that the model has not seen.

    With classes it prints accuracy, negative log-likelihood (nll), Brier score, calibration error
    (ece), and size and coverage of the sets.
    """
    rows = ModelAndTable.from_files(model, data, text, of_classes=True)
    if drop_missing_target:
        rows = rows.without_missing(target)
    targets = rows.y(target)
    of_classes = isinstance(rows.task, Classification)
    if not of_classes and (targets == targets[0]).all():
        raise ValueError(
            f"The target {rows.target(target)!r} has the same value in every row of "
            f"{rows.reading.name}, so widths cannot be measured against its range; evaluate on "
            "more rows."
        )
    rows, y = rows.without_seen(targets)
    n_seen, n_left_out = rows.count_seen(y), len(targets) - len(y)
    scores, uncertainties = rows.task.evaluate(rows.X, y, rows.groups)
    if as_json:
        finite = [{k: display.finite(v) for k, v in row.items()} for row in scores]
        counts = {
            "n_rows": len(y),
            "n_rows_seen_in_fit": n_seen + n_left_out,
            "n_rows_left_out": n_left_out,
        }
        levels = finite[0] if of_classes else {"levels": finite}
        console.print_line(json.dumps(counts | levels, indent=2))
        return

    from clearbands.persistence.origin import exceeds_chance

    console.show_scores(scores, f"{console.title_of(data)}, {len(y):,} rows")
    for each in uncertainties:
        n_calibration = None if exceeds_chance(n_seen, len(y)) else rows.model.n_calibration_
        console.print_line(_in_words(each, y, n_calibration, rows.origin.unit))


def _in_words(parts: Uncertainty, y: np.ndarray, n_calibration: int | None, unit: str) -> str:
    """Return coverage and width at one level as the report words them; chance for new rows only."""
    from clearbands.apps.report.facts import typical_width
    from clearbands.diagnostics.coverage import chance_range
    from clearbands.rows.bands import covered

    inside, level = covered(y, parts.interval), parts.confidence_level
    chance = ""
    if n_calibration is not None:
        low, high = chance_range(len(y), level, n_calibration)
        chance = f" (by chance {display.percent(low, 1)} to {display.percent(high, 1)})"
    return (
        f"At {display.level(level)}: {inside.sum():,} of {len(y):,} true values inside, "
        f"{display.percent(float(inside.mean()), 1)}{chance}; a typical interval is "
        f"{display.with_unit(typical_width(parts), unit)} wide."
    )
