"""clearbands report"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearbands.apps.cli import console
from clearbands.apps.cli.command import typed_command
from clearbands.apps.cli.opened import ModelAndTable
from clearbands.apps.cli.options import (
    Data,
    DropMissingTarget,
    KnownTarget,
    Model,
    PageOut,
    TextFile,
    Unit,
    column,
)
from clearbands.apps.reading import files
from clearbands.apps.reading.choosing import take_labels

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from clearbands.apps.task import Task


def report(
    ctx: typer.Context,
    model: Model,
    data: Data,
    out: PageOut,
    text: TextFile,
    target: KnownTarget = None,
    unit: Unit = "",
    by: Annotated[
        str | None, column("Compare the coverage of the groups that this column names.")
    ] = None,
    drop_missing_target: DropMissingTarget = False,
) -> None:
    """Write one page about the model on rows it has not seen.

    The page says whether the intervals hold, why they are wide, and which rows to look at. It
    is one file that needs no network.
    """
    files.check_output(out, inputs=[model, data])
    rows = ModelAndTable.from_files(model, data, text, of_classes=True)
    if drop_missing_target:
        rows = rows.without_missing(target)
    targets = rows.y(target)
    rows, y = rows.without_seen(targets)
    labels, origin, n_all = _compared(rows, by), {}, len(targets)
    if n_all > len(y):
        left_out = f"{n_all - len(y):,} of {n_all:,}, on which the model was fitted"
        origin["Rows left out"] = left_out
    n_seen = rows.count_seen(y)
    if n_seen:
        origin["Rows seen in fit"] = f"{n_seen:,} of {len(y):,}"
    write_report(
        out,
        rows.task,
        rows.X,
        y,
        target=rows.target(target),
        unit=unit or rows.origin.unit,
        by=labels,
        n_seen=n_seen,
        origin={
            "Command": typed_command(ctx),
            "Data": rows.reading.fingerprint,
            "Model file": files.fingerprint(model),
            **_history(rows, model),
            **origin,
        },
    )


def _compared(rows: ModelAndTable, by: str | None) -> np.ndarray | None:
    """Return the labels to compare; if the model needs labels, these are the ones."""
    if rows.groups is None:
        return None if by is None else take_labels(rows.reading.frame, by, rows.reading.name)
    groups = rows.origin.calibration_groups
    if by is not None and by != groups:
        of_groups = repr(groups) if isinstance(groups, str) else ", ".join(map(repr, groups))
        raise ValueError(
            f"The model was calibrated by the groups of {of_groups}, and the report compares "
            "those: leave --by out."
        )
    return rows.groups


def _history(rows: ModelAndTable, path: Path) -> dict[str, str]:
    """Return what is known of the fit: the versions, the data and the time."""
    from clearbands.persistence.model_file import read_header

    header, origin = read_header(path), rows.origin
    versions = ", ".join(f"{name} {header[name]}" for name in header if name != "format")
    if not origin.fitted:
        return {"Fitted with": versions}
    return {
        "Fitted with": versions,
        "Fitted on": f"{origin.data}, {origin.n_rows:,} rows, fingerprint {origin.fingerprint}",
        "Fitted at": origin.fitted,
    }


def write_report(path: Path, task: Task, X: pl.DataFrame, y: np.ndarray, **words: Any) -> None:
    """Write the page about these rows; `words` are those of `make_report`."""
    with console.working("Writing the report"):
        task.make_report(X, y, **words).save(path)
    console.print_line(f"Wrote {path} (a report on {len(y):,} rows).")
