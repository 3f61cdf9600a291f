"""clearbands fit"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clearbands.apps.cli.command import typed_command
from clearbands.apps.cli.fit_options import Choice, Names, Settings
from clearbands.apps.cli.options import Data, TextFile, Workers, kinds_wanted, names_in, option
from clearbands.apps.reading import files
from clearbands.apps.reading.reading import read_table


def fit(
    ctx: typer.Context,
    data: Data,
    out: Annotated[Path, option("The file to write the model to.", "MODEL")],
    names: Names,
    settings: Settings,
    choice: Choice,
    text: TextFile,
    workers: Workers,
    report: Annotated[
        Path | None,
        option("Keep a fifth of the rows out of the fit and write a report on them.", "FILE"),
    ] = None,
) -> None:
    """Learn intervals, or classes, for one column of a table from all the others.

    Text, yes and no, and columns of only two numbers are taken for classes, and a line says so.
    Text that looks like numbers is refused unless --task or --columns-as says what it is.

    A folder of parquet files, a parquet file of more than a million rows, or one with --engine or
    --work, is not read into memory: it may be larger than that. Its target must be a number.
    """
    settings.check_names(names)
    files.check_output(out, inputs=[data])
    if report is not None:
        files.check_output(report, inputs=[data])
        if report.resolve() == out.resolve():
            raise ValueError(f"--report and --out both name {out}; give each a file of its own.")
    from clearbands.apps.cli import fit_files, fitting
    from clearbands.apps.cli.opened import drop_rows, sorted_rows
    from clearbands.rows.messages import name_rows_by

    needs_memory = {
        "report": report,
        "time": names.time,
        "calibration_groups of several columns": len(names_in(names.calibration_groups, [])) > 1,
        "rises": settings.rises,
        "falls": settings.falls,
        "task": choice.task == "classification",
        "drop_missing_target": choice.drop_missing_target,
        "columns_as": choice.columns_as,
        **vars(text),
    }
    is_wanted = data.is_dir() or workers.are_wanted
    if is_wanted or fit_files.is_for_files(data, names.target, needs_memory):
        fit_files.check_options(needs_memory)
        fit_files.fit_and_save(data, out, names, settings, choice, workers)
        return
    reading = read_table(data, options=text, columns_as=kinds_wanted(choice.columns_as))
    if choice.drop_missing_target:
        reading = drop_rows(reading, names.target)
    names = names.in_table(reading.frame.columns)
    if names.time:
        reading = sorted_rows(reading, names.time)
    rows = fitting.choose_rows(reading, names, choice)
    model = fitting.make_model(rows, names, settings)
    shares = None if report is None else fitting.hold_out(rows, names, settings)
    fitting.show_remarks(reading, names, choice, rows)
    if shares is None or report is None:
        fitting.fit_and_save(model, rows, names, settings, reading.known, data=data, out=out)
        return
    learned, held_out = shares
    with name_rows_by(learned):
        fitting.fit_and_save(
            model, rows.take(learned), names, settings, reading.known, data=data, out=out
        )
    with name_rows_by(held_out):
        fitting.report_on(rows.take(held_out), model, reading, names, typed_command(ctx), report)
