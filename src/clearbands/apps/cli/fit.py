"""clearbands fit"""

from __future__ import annotations

import typer

from clearbands.apps.cli.command import as_typed
from clearbands.apps.cli.fit_options import (
    CalibrationGroups,
    CalibrationName,
    Drop,
    Falls,
    Features,
    Gap,
    Groups,
    Levels,
    Out,
    Preset,
    PresetName,
    ReportPath,
    Rises,
    RowId,
    ScaleName,
    Seed,
    SupportText,
    Task,
    TaskName,
    TimeBudget,
    TimeColumn,
    Unknown,
    UnknownGroups,
    Verbose,
    Weight,
    WholeNumbers,
    support_in,
)
from clearbands.apps.cli.in_time import in_order
from clearbands.apps.cli.models import drop_rows
from clearbands.apps.cli.options import (
    ColumnsAs,
    Data,
    Decimal,
    DropMissingTarget,
    Encoding,
    Engine,
    Jobs,
    Scheduler,
    Separator,
    Target,
    Unit,
    Work,
    asked_of,
    engine_of,
    kinds_asked,
)
from clearbands.apps.reading import files
from clearbands.apps.reading.reading import read_table


def fit(
    ctx: typer.Context,
    data: Data,
    target: Target,
    out: Out,
    level: Levels = [0.9],  # noqa: B006
    preset: PresetName = Preset.default,
    time_budget: TimeBudget = None,
    calibration: CalibrationName = None,
    groups: Groups = None,
    calibration_groups: CalibrationGroups = None,
    unknown_groups: UnknownGroups = Unknown.refuse,
    support: SupportText = None,
    target_transform: ScaleName = None,
    whole_numbers: WholeNumbers = False,
    rises: Rises = [],  # noqa: B006
    falls: Falls = [],  # noqa: B006
    weight: Weight = None,
    task: TaskName = None,
    drop_missing_target: DropMissingTarget = False,
    time: TimeColumn = None,
    gap: Gap = 0,
    seed: Seed = 0,
    jobs: Jobs = None,
    report: ReportPath = None,
    verbose: Verbose = False,
    unit: Unit = "",
    drop: Drop = [],  # noqa: B006
    features: Features = [],  # noqa: B006
    row_id: RowId = None,
    columns_as: ColumnsAs = [],  # noqa: B006
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    engine: Engine = None,
    scheduler: Scheduler = None,
    work: Work = None,
) -> None:
    """Learn intervals, or classes, for one column of a table from all the others.

    What the target holds is found and said: text, yes and no, or two numbers alone are classes;
    text that looks like numbers is refused unless --task or --columns-as says what it is.

    A folder of parquet files, a parquet file of more than a million rows, or one with --engine or
    --work, is not read into memory: it may be larger than that. Its target must be a number.
    """
    from clearbands.apps.cli import fitting

    settings = fitting.Settings(
        level,
        preset.value,
        calibration and calibration.value,
        support_in(support),
        seed,
        jobs,
        in_time=time is not None,
        gap=gap,
        target_transform=target_transform and target_transform.value,
        whole_numbers=whole_numbers,
        pools_unknown=unknown_groups == Unknown.pool,
        time_budget=time_budget,
        verbose=verbose,
    )
    if settings.pools_unknown and calibration_groups is None:
        raise ValueError(
            "--unknown-groups needs --calibration-groups, the column that names the groups."
        )
    asked = asked_of(separator, decimal, encoding)
    files.check_output(out, inputs=[data])
    if report is not None:
        files.check_output(report, inputs=[data])
        if report.resolve() == out.resolve():
            raise ValueError(f"--report and --out both name {out}; give each a file of its own.")
    names = fitting.Names(
        target,
        unit,
        id=row_id or "",
        groups=groups or "",
        calibration_groups=calibration_groups or "",
        time=time or "",
        weight=weight or "",
    )
    from clearbands.apps.cli import fit_files

    needs_memory = {
        "report": report,
        "time": time,
        "rises": rises,
        "falls": falls,
        "task": task == Task.classification,
        "drop_missing_target": drop_missing_target,
        "columns_as": columns_as,
        "separator": separator,
        "decimal": decimal,
        "encoding": encoding,
    }
    is_asked = data.is_dir() or not (engine is scheduler is work is None)
    if is_asked or fit_files.is_for_files(data, target, needs_memory):
        fit_files.check_options(needs_memory)
        workers = engine_of(engine, scheduler, jobs)
        table = fit_files.open_columns(data, names, features=features, drop=drop)
        fit_files.fit_and_save(table, settings, names, workers, work, data=data, out=out)
        return
    reading = read_table(data, asked=asked, columns_as=kinds_asked(columns_as))
    if drop_missing_target:
        reading = drop_rows(reading, target)
    if time is not None:
        reading = in_order(reading, time)
    rows = fitting.choose_rows(reading, names, features=features, drop=drop, task=task)
    settings = settings.directed(rises, falls, rows.X.columns)
    settings.check_for(rows, target)
    learned, kept = (rows, None) if report is None else settings.keep_rows(rows)
    unasked = reading.frame.columns if features else drop  # whose absence needs no words
    fitting.tell(reading, names, rows.X.columns, rows.y, task=task, unasked=unasked)
    fitting.tell_copies(rows)
    model = fitting.fit_and_save(learned, settings, names, reading.known, data=data, out=out)
    if report is not None and kept is not None:
        fitting.report_on(kept, model, reading, names, as_typed(ctx), report)
