"""clearbands report"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearbands.apps.cli import console
from clearbands.apps.cli.class_target import is_classifier
from clearbands.apps.cli.classes import known_classes
from clearbands.apps.cli.command import as_typed
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
    Unit,
    asked_of,
)
from clearbands.apps.reading import files
from clearbands.apps.reading.choosing import take_column, take_target
from clearbands.apps.reading.reading import Reading

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from clearbands.regressor import ClearRegressor


def report(
    ctx: typer.Context,
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page, a .html file.")],
    target: KnownTarget = None,
    unit: Unit = "",
    by: Annotated[
        str | None,
        typer.Option(
            "--by", metavar="COLUMN", help="Compare coverage between the groups it names."
        ),
    ] = None,
    drop_missing_target: DropMissingTarget = False,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Write one page about the model on rows it has not seen.

    The page says whether the intervals hold, why they are wide, and which rows to look at. It
    is one file that needs no network.
    """
    files.check_output(out, inputs=[model, data])
    asked = asked_of(separator, decimal, encoding)
    fitted = load_any(model)
    reading = read_for(data, asked, fitted)
    target = target_of(fitted, target)
    if drop_missing_target:
        reading = drop_rows(reading, target)
    y: Any = (
        known_classes(fitted, reading, target)
        if is_classifier(fitted)
        else take_target(reading, target)
    )
    labels = _compared(fitted, reading, by)
    X = features_in(fitted, reading)
    n_given, new = len(y), unseen_rows(fitted, X, y)
    if new is not None:
        X, y = X.filter(new), y[new]
        if labels is not None:
            labels = [label for label, is_new in zip(labels, new, strict=True) if is_new]
    seen = count_seen(fitted, X, y)
    write_report(
        out,
        fitted,
        X,
        y,
        target=target,
        unit=unit or _unit_of(fitted),
        by=labels,
        n_seen=seen,
        origin={
            "Command": as_typed(ctx),
            "Data": reading.fingerprint,
            "Model file": files.fingerprint(model),
            **_history(fitted, model),
            **({"Rows seen in fit": f"{seen:,} of {len(y):,}"} if seen else {}),
            **({} if new is None else {"Rows left out": _left_out(n_given, len(y))}),
        },
    )


def _left_out(n_given: int, n: int) -> str:
    return f"{n_given - n:,} of {n_given:,}, on which the model was fitted"


def _compared(model: ClearRegressor, reading: Reading, by: str | None) -> Any:
    """The labels to compare, which are those that the model needs where it needs some."""
    needed, origin = groups_in(model, reading), origin_of(model)
    if needed is None:
        return None if by is None else take_column(reading.frame, by, reading.name).to_list()
    if by is not None and origin is not None and by != origin.calibration_groups:
        raise ValueError(
            f"The model was calibrated by the groups of {origin.calibration_groups!r}, and the "
            "report compares those: leave --by out."
        )
    return needed


def _unit_of(model: ClearRegressor) -> str:
    origin = origin_of(model)
    return "" if origin is None else origin.unit


def _history(model: ClearRegressor, path: Path) -> dict[str, str]:
    """With what, when and on what the model was fitted, as far as it is known."""
    from clearbands.persistence.model_file import read_header

    header = read_header(path)
    versions = ", ".join(f"{name} {header[name]}" for name in header if name != "format")
    origin = origin_of(model)
    if origin is None:
        return {"Fitted with": versions}
    return {
        "Fitted with": versions,
        "Fitted on": f"{origin.data}, {origin.n_rows:,} rows, fingerprint {origin.fingerprint}",
        "Fitted at": origin.fitted,
    }


def write_report(path: Path, model: Any, X: pl.DataFrame, y: np.ndarray, **words: Any) -> None:
    """Write the page about these rows; `words` are those of `make_report`."""
    with console.working("Writing the report"):
        if is_classifier(model):
            from clearbands.apps.report.classes import make_class_report

            words.pop("unit", None)
            page = make_class_report(model, X, y, **words)
        else:
            from clearbands.apps.report import make_report

            page = make_report(model, X, y, **words)
        page.save(path)
    console.say(f"Wrote {path} (a report on {len(y)} rows).")
