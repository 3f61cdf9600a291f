"""What fit does, step by step: choose the rows, fit, save, report."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from clearbands.apps.cli import console
from clearbands.apps.cli.class_target import is_classes, take_y, words_about
from clearbands.apps.cli.fit_summary import show_written
from clearbands.apps.cli.options import names_in
from clearbands.apps.cli.report import write_report
from clearbands.apps.cli.same_rows import words_about_copies
from clearbands.apps.reading.choosing import (
    choose_features,
    take_column,
    without_values,
)
from clearbands.rows.checks import check_weights
from clearbands.rows.messages import rows_stand_as
from clearbands.rows.split import Rows, hold_out

if TYPE_CHECKING:
    from clearbands.apps.reading.reading import Reading
    from clearbands.apps.reading.understanding import Known
    from clearbands.regressor import ClearRegressor
    from clearbands.rows.typed import Calibration

KEPT = 0.2  # of the rows, for a report


@dataclass(frozen=True)
class Names:
    """What the columns of a table are to the model."""

    target: str
    unit: str = ""
    id: str = ""
    groups: str = ""
    calibration_groups: str = ""
    time: str = ""
    weight: str = ""

    def __post_init__(self) -> None:
        if self.time and self.groups:
            raise ValueError("--groups and --time cannot be used at once: give one.")

    @property
    def of_rows(self) -> list[str]:
        """Columns that say something about rows, and are not learned from."""
        return [name for name in (self.id, self.groups, self.time, self.weight) if name]


@dataclass(frozen=True)
class Settings:
    """Of the model; checked when they are made, which is before the data are read."""

    levels: Sequence[float]
    preset: str
    calibration: str | None
    support: tuple[float | None, float | None] | None
    seed: int
    jobs: int | None
    in_time: bool = False
    gap: int = 0
    target_transform: str | None = None
    whole_numbers: bool = False
    monotone: Mapping[str, int] | None = None
    pools_unknown: bool = False  # groups that were not there are calibrated like all rows
    time_budget: float | None = None  # seconds
    verbose: bool = False  # whether to show the factors of the calibration

    def __post_init__(self) -> None:
        from clearbands._compat import require
        from clearbands.rows.checks import check_levels
        from clearbands.rows.targets import check_support

        check_levels(list(self.levels))
        check_support(self.support)
        if self.gap and not self.in_time:
            raise ValueError("--gap needs --time, the column that says when rows were.")
        if self.time_budget is not None:
            if self.time_budget <= 0:
                raise ValueError(
                    f"--time-budget is a number of seconds above 0, got {self.time_budget:g}."
                )
            if self.preset != "default":
                raise ValueError(
                    f"--time-budget chooses the search, and --preset {self.preset} has one of its "
                    "own: leave one of them out."
                )
        if self.preset == "deep":
            require("torch", what="Training networks", extra="deep")

    def directed(
        self, rises: Sequence[str], falls: Sequence[str], columns: Sequence[str]
    ) -> Settings:
        """With the columns that the target rises and falls with."""
        found: dict[str, int] = {}
        for option, given, way in (("--rises", rises, 1), ("--falls", falls, -1)):
            for name in names_in(list(given), list(columns)):
                if name not in columns:
                    raise ValueError(
                        f"{option} names {name!r}, which is no column to learn from; those are "
                        f"{', '.join(columns)}."
                    )
                if found.get(name, way) != way:
                    raise ValueError(f"{name!r} stands behind --rises and --falls: choose one.")
                found[name] = way
        return replace(self, monotone=found or None)

    def check_for(self, rows: Rows, target: str) -> None:
        """Raise where classes are too few, or something was asked for that only numbers have."""
        if not is_classes(rows.y):
            return
        from clearbands.rows.class_labels import check_counts

        classes, counts = np.unique(rows.y, return_counts=True)
        if len(classes) == 1:
            raise ValueError(
                f"The target {target!r} is {str(classes[0])!r} in every row: there is nothing to "
                "learn."
            )
        check_counts(classes, counts)
        asked = {
            "--preset": self.preset != "default",
            "--time-budget": self.time_budget is not None,
            "--support": self.support is not None,
            "--target-transform": self.target_transform is not None,
            "--whole-numbers": self.whole_numbers,
            "--rises or --falls": self.monotone is not None,
            "--groups": rows.groups is not None and not self.in_time,
            "--calibration-groups": rows.calibration_groups is not None,
            "--time": self.in_time,
            "several --level": len(self.levels) > 1,
        }
        wrong = next((name for name, is_asked in asked.items() if is_asked), None)
        if wrong is not None:
            raise ValueError(f"The target holds classes, and {wrong} is for numbers: leave it out.")

    def make_model(self, y: np.ndarray) -> Any:
        """The preset, or a classifier; what was not given is left to the library."""
        if is_classes(y):
            from clearbands.classifier import ClearClassifier

            return ClearClassifier(
                confidence_level=self.levels[0],
                calibration=cast("Calibration | None", self.calibration),
                random_state=self.seed,
                n_jobs=-1 if self.jobs is None else self.jobs,
            )
        from clearbands.presets import PRESETS

        given: dict[str, Any] = {
            "calibration": self.calibration,
            "support": self.support,
            "target_transform": self.target_transform,
            "whole_numbers": self.whole_numbers or None,
            "monotone": self.monotone,
            "time_budget": self.time_budget,
        }
        if self.in_time:
            given |= {"split": "time", "gap": self.gap}
        model = PRESETS[self.preset](
            confidence_level=self.levels[0] if len(self.levels) == 1 else list(self.levels),
            random_state=self.seed,
            n_jobs=-1 if self.jobs is None else self.jobs,
            **{name: value for name, value in given.items() if value is not None},
        )
        if self.pools_unknown:
            from clearbands.calibration.groups import GroupCalibrator

            model.calibrator = GroupCalibrator(model.default_calibrator(), unknown="pool")
        return model

    def keep_rows(self, rows: Rows) -> tuple[Rows, Rows]:
        """The rows to fit on, and the fifth that no step of the fit may see: the last, in time."""
        from clearbands.apps.report.facts import FEWEST_ROWS
        from clearbands.rows.split import hold_out_last
        from clearbands.rows.time_order import places

        if self.in_time:
            place = places(len(rows), rows.groups)
            left, kept = hold_out_last(rows, KEPT, place, self.gap)
        else:
            numbered = replace(rows, X=np.arange(len(rows)))
            other_draws = np.random.RandomState([self.seed, 1])  # than those of the fit
            of_left, of_kept = (part.X for part in hold_out(numbered, KEPT, other_draws))
            left, kept = rows.take(of_left), rows.take(of_kept)
            rows_stand_as(of_left)
        if len(kept) < FEWEST_ROWS:
            raise ValueError(
                f"A fifth of {len(rows)} rows is {len(kept)}, and a report needs at least "
                f"{FEWEST_ROWS}; give more rows, or fit without --report."
            )
        return left, kept


def choose_rows(
    reading: Reading,
    names: Names,
    *,
    features: Sequence[str],
    drop: Sequence[str],
    task: str | None = None,
) -> Rows:
    """The columns to learn from, the target, and the labels of groups where there are any."""
    frame, path = reading.frame, reading.name
    y = take_y(reading, names.target, task)
    X = choose_features(
        frame,
        names.target,
        path,
        features=names_in(list(features), frame.columns),
        drop=[*names_in(list(drop), frame.columns), *names.of_rows],
    )
    rows = Rows(X, y)
    together = names.time or names.groups
    if together:
        rows = replace(rows, groups=take_column(frame, together, path).to_numpy())
    if names.calibration_groups:
        labels = take_column(frame, names.calibration_groups, path)
        rows = replace(rows, calibration_groups=np.array(labels.to_list(), dtype=object))
    if names.weight:
        given = take_column(frame, names.weight, path).to_list()
        weight = check_weights(given, f"--weight {names.weight}", len(y))
        rows = replace(rows, sample_weight=weight)
    return rows


def tell(
    reading: Reading,
    names: Names,
    features: Sequence[str],
    y: np.ndarray,
    *,
    task: str | None = None,
    unasked: Sequence[str] = (),
) -> None:
    """How the table was read, and what in it looks wrong; not of columns that nobody asked for."""
    from clearbands.apps.reading.inspection import (
        inspect_table,
        warnings_about,
        warnings_about_target,
    )

    columns = inspect_table(reading)
    learned = [column for column in columns if column.name in features]
    rows = console.count(reading.frame.height, "row")
    columns_in = console.count(len(learned), "column")
    title = f"Read {Path(reading.name).name}: {rows}, {columns_in} to learn from"
    console.show_reading(reading, learned, title)
    mended = [names.target] if names.target in reading.mended else []
    about_target = words_about(names.target, y, task)
    if about_target:
        console.say(about_target)
    said = [] if is_classes(y) else warnings_about_target(names.target, y)
    quiet = {*features, *names_in(list(unasked), reading.frame.columns), *names.of_rows}
    said += [
        f"Column {name!r} has no value in any row: left out, and not asked for in new tables."
        for name in without_values(reading.frame)
        if name not in quiet
    ]
    for words in said + warnings_about(reading, columns, [*mended, *features]):
        console.complain(f"Warning: {words}")


def tell_copies(rows: Rows) -> None:
    """Warn of rows that stand there twice, unless labels keep them together."""
    if rows.groups is not None or is_classes(rows.y):
        return
    words = words_about_copies(rows.X, rows.y, told_by_fit=True)
    if words is not None:
        console.complain(f"Warning: {words}")


def fit_and_save(
    rows: Rows, settings: Settings, names: Names, known: Known, *, data: Path, out: Path
) -> ClearRegressor:
    """The model, with a record of where it comes from, in its file."""
    started = time.perf_counter()
    with console.progress_bar() as progress:
        from clearbands.persistence.model_file import save
        from clearbands.persistence.origin import record_origin

        model = settings.make_model(rows.y)
        labels: dict[str, Any] = {"sample_weight": rows.sample_weight}
        if not is_classes(rows.y):
            labels["calibration_groups"] = _calibration_groups(rows, names)
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
            calibration_groups=names.calibration_groups,
            data=console.title_of(data),
            decimal=known.decimal or "",
            date_orders=dict(known.orders),
        )
        save(model, out)
    show_written(model, data, out, time.perf_counter() - started, verbose=settings.verbose)
    return model


def _calibration_groups(rows: Rows, names: Names) -> Any:
    """The name of a column that is learned from, which the model then finds for itself."""
    name = names.calibration_groups
    return name if name in rows.X.columns else rows.calibration_groups


def report_on(
    kept: Rows, model: ClearRegressor, reading: Reading, names: Names, command: str, path: Path
) -> None:
    """The page about rows that were kept out of the fit."""
    which = "the last ones" if names.time else "drawn by the seed"
    drawn = f"{len(kept)} of {reading.frame.height}, {which} and kept out of the fit"
    origin = {"Command": command, "Data": reading.fingerprint, "Rows of this report": drawn}
    write_report(
        path,
        model,
        kept.X,
        kept.y,
        target=names.target,
        unit=names.unit,
        by=kept.calibration_groups,
        origin=origin,
    )
