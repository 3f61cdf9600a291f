"""The steps of fit with a table in memory: choose the rows, fit, save, report."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.apps.cli import console
from clearbands.apps.cli.fit_options import Choice, Names, Settings
from clearbands.apps.cli.fit_summary import show_written
from clearbands.apps.cli.options import names_in
from clearbands.apps.cli.remarks import (
    copies_warning,
    describe_target,
    is_classes,
    leak_warnings,
    read_target,
)
from clearbands.apps.cli.report import write_report
from clearbands.apps.reading.choosing import (
    choose_features,
    take_column,
    take_groups,
    without_values,
)
from clearbands.apps.report.facts import FEWEST_ROWS
from clearbands.apps.task import task_of
from clearbands.rows import display
from clearbands.rows.checks import check_weights
from clearbands.rows.messages import suppress_warnings
from clearbands.rows.split import Rows, hold_out_last
from clearbands.rows.split import hold_out as hold_out_by_chance
from clearbands.rows.time_order import time_ranks

if TYPE_CHECKING:
    from clearbands.apps.reading.reading import Reading
    from clearbands.apps.reading.understanding import Known

HELD_OUT = 0.2  # the share of the rows that a report keeps


def choose_rows(reading: Reading, names: Names, choice: Choice) -> Rows:
    """Return the columns to learn from, the target, and labels of groups if there are any."""
    frame, path = reading.frame, reading.name
    y = read_target(reading, names.target, choice.task)
    X = choose_features(
        frame,
        names.target,
        path,
        features=names_in(choice.features, frame.columns),
        drop=[*names_in(choice.drop, frame.columns), *names.of_rows],
    )
    rows = Rows(X, y)
    together = names.time or names.groups
    if together:
        rows = replace(rows, groups=take_column(frame, together, path).to_numpy())
    if names.calibration_groups:
        labels = take_groups(frame, names.calibration_groups, path)
        rows = replace(rows, calibration_groups=labels)
    if names.weight:
        weights = take_column(frame, names.weight, path).to_list()
        weight = check_weights(weights, f"--weight {names.weight}", len(y))
        rows = replace(rows, sample_weight=weight)
    return rows


def make_model(rows: Rows, names: Names, settings: Settings) -> Any:
    """Make the model that the target calls for; settings that do not go with it raise an error."""
    columns = rows.X.columns
    if not is_classes(rows.y):
        return settings.make_regressor(names, columns)
    settings.directions(columns)
    settings.check_classes(rows, names)
    return settings.make_classifier()


def hold_out(rows: Rows, names: Names, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to fit on, and the fifth that no step of the fit sees (in time, the last)."""
    numbered = replace(rows, X=np.arange(len(rows)))
    if names.time:
        place = time_ranks(len(rows), rows.groups)
        shares = hold_out_last(numbered, HELD_OUT, place, settings.gap)
    else:
        other_draws = np.random.RandomState([settings.seed, 1])  # not those of the fit
        shares = hold_out_by_chance(numbered, HELD_OUT, other_draws)
    learned, held_out = (share.X for share in shares)
    if len(held_out) < FEWEST_ROWS:
        raise ValueError(
            f"A fifth of {len(rows):,} rows is {len(held_out):,}, and a report needs at least "
            f"{FEWEST_ROWS}; give more rows, or fit without --report."
        )
    return learned, held_out


def show_remarks(reading: Reading, names: Names, choice: Choice, rows: Rows) -> None:
    """Show how the table was read and what looks wrong, but not in columns nobody asked for."""
    from clearbands.apps.reading.inspection import (
        inspect_table,
        warnings_about,
        warnings_about_target,
    )

    frame, features, y = reading.frame, rows.X.columns, rows.y
    columns = inspect_table(reading)
    learned = [column for column in columns if column.name in features]
    title = (
        f"Read {Path(reading.name).name}: {display.count(frame.height, 'row')}, "
        f"{display.count(len(learned), 'column')} to learn from"
    )
    console.show_reading(reading, learned, title)
    mended = [names.target] if names.target in reading.mended else []
    about_target = describe_target(names.target, y, choice.task)
    if about_target:
        console.print_line(about_target)
    warnings = [] if is_classes(y) else warnings_about_target(names.target, y)
    unasked = frame.columns if choice.features else names_in(choice.drop, frame.columns)
    quiet = {*features, *unasked, *names.of_rows}  # no warning if they are empty
    warnings += [
        f"Column {name!r} has no value in any row. It is left out, and new tables need not have it."
        for name in without_values(frame)
        if name not in quiet
    ]
    warnings += warnings_about(reading, columns, [*mended, *features])
    warnings += [] if is_classes(y) else leak_warnings(rows.X, y)
    if rows.groups is None and not is_classes(y):
        with suppress_warnings(UserWarning):  # the fit itself warns about columns
            copies = copies_warning(rows.X, y, in_fit=True)
        warnings += [] if copies is None else [copies]
    for words in warnings:
        console.print_error(f"Warning: {words}")


def fit_and_save(
    model: Any,
    rows: Rows,
    names: Names,
    settings: Settings,
    known: Known,
    *,
    data: Path,
    out: Path,
) -> None:
    """Fit the model, and write it with a record of where it comes from."""
    started = time.perf_counter()
    with console.progress_bar() as progress:
        from clearbands.persistence.model_file import save
        from clearbands.persistence.origin import record_origin

        labels: dict[str, Any] = {"sample_weight": rows.sample_weight}
        groups = names.calibration_groups
        by_group = groups if len(groups) > 1 else "".join(groups)
        if not is_classes(rows.y):
            # If the model learns from all columns of groups, it finds them by their names.
            is_learned = groups and set(groups) <= set(rows.X.columns)
            labels["calibration_groups"] = by_group if is_learned else rows.calibration_groups
        if rows.groups is not None:
            labels["time" if names.time else "groups"] = rows.groups
        model.fit(rows.X, rows.y, progress=progress, **labels)
        model.origin_ = record_origin(
            rows.X,
            rows.y,
            target=names.target,
            unit=names.unit,
            id=names.id,
            time=names.time,
            calibration_groups=by_group,
            data=console.title_of(data),
            decimal=known.decimal or "",
            date_orders=dict(known.orders),
        )
        save(model, out)
    show_written(model, data, out, time.perf_counter() - started, verbose=settings.verbose)


def report_on(
    held_out: Rows, model: Any, reading: Reading, names: Names, command: str, path: Path
) -> None:
    """Write the page about rows that were kept out of the fit."""
    which = "the last ones" if names.time else "drawn by the seed"
    drawn = f"{len(held_out):,} of {reading.frame.height:,}, {which} and kept out of the fit"
    write_report(
        path,
        task_of(model),
        held_out.X,
        held_out.y,
        target=names.target,
        unit=names.unit,
        by=held_out.calibration_groups,
        origin={"Command": command, "Data": reading.fingerprint, "Rows of this report": drawn},
    )
