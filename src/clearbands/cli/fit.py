"""clearbands fit"""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearbands.cli import console
from clearbands.cli.options import (
    ColumnsAs,
    Data,
    Decimal,
    Encoding,
    Separator,
    Target,
    Unit,
    asked_of,
    kinds_asked,
    names_in,
)
from clearbands.cli.report import spelled, write_report
from clearbands.tables import files
from clearbands.tables.choosing import choose_features, take_target
from clearbands.tables.reading import Reading, read_table

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from clearbands.regressor import ClearRegressor
    from clearbands.split import Rows


class Preset(StrEnum):
    """The keys of `clearbands.variants.PRESETS`, which would be slow to import for help."""

    default = "default"
    fast = "fast"
    thorough = "thorough"
    a = "a"
    b = "b"
    c = "c"
    deep = "deep"


class Calibration(StrEnum):
    cross = "cross"
    joint = "joint"
    conformal = "conformal"


def fit(
    data: Data,
    target: Target,
    out: Annotated[Path, typer.Option("--out", metavar="MODEL", help="File for the model.")],
    level: Annotated[
        list[float],
        typer.Option("--level", metavar="LEVEL", help="Confidence level; repeat for several."),
    ] = [0.9],  # noqa: B006
    preset: Annotated[
        Preset,
        typer.Option(
            "--preset",
            help="fast or thorough, or a variant of the paper.",
        ),
    ] = Preset.default,
    calibration: Annotated[
        Calibration | None,
        typer.Option(
            "--calibration",
            help="cross lets all rows train; conformal holds out more and guarantees the coverage.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, metavar="N", help="The same seed gives the same model.")
    ] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", min=1, metavar="N", help="Cores to use, all by default; changes no result."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="Keep a fifth of the rows out of the fit and write a report on them.",
        ),
    ] = None,
    unit: Unit = "",
    drop: Annotated[
        list[str],
        typer.Option("--drop", metavar="COLUMN", help="Do not learn from it; repeat for several."),
    ] = [],  # noqa: B006
    features: Annotated[
        list[str],
        typer.Option(
            "--features", metavar="COLUMN", help="Learn from these alone; repeat for several."
        ),
    ] = [],  # noqa: B006
    row_id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COLUMN", help="What names the rows: not learned from, kept by predict."
        ),
    ] = None,
    columns_as: ColumnsAs = [],  # noqa: B006
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Learn intervals for one column of a table from all the others."""
    from clearbands.checks import check_levels
    from clearbands.optional import require

    levels = check_levels(level)
    asked = asked_of(separator, decimal, encoding)
    files.check_output(out, inputs=[data])
    if report is not None:
        _check_report(report, out, inputs=[data])
    if preset == Preset.deep:
        require("torch", what="Training networks", extra="deep")
    reading = read_table(data, asked=asked, columns_as=kinds_asked(columns_as))
    y = take_target(reading, target)
    X = choose_features(
        reading.frame,
        target,
        reading.name,
        features=names_in(features, reading.frame.columns),
        drop=[*names_in(drop, reading.frame.columns), *([row_id] if row_id else [])],
    )
    told = X.columns, target, y
    X, y, kept = _keep_rows(X, y, seed) if report is not None else (X, y, None)
    _tell(reading, *told)

    started = time.perf_counter()
    with console.progress_bar() as progress:
        from clearbands.origin import record_origin
        from clearbands.persistence import save

        model = _make_model(
            preset,
            confidence_level=levels[0] if len(levels) == 1 else list(levels),
            calibration=calibration and calibration.value,
            random_state=seed,
            n_jobs=-1 if jobs is None else jobs,
        )
        model.fit(X, y, progress=progress)
        model.origin_ = record_origin(
            X, y, target=target, unit=unit, id=row_id or "", data=console.title_of(data)
        )
        save(model, out)
    console.show_fit(model, console.title_of(data))
    seconds = time.perf_counter() - started
    console.say(f"Wrote {out} ({out.stat().st_size / 1e6:.1f} MB) after {seconds:.1f} s.")
    if report is not None and kept is not None:
        settings = [f"--level={given:g}" for given in levels] + [f"--preset={preset}"]
        settings += [] if calibration is None else [f"--calibration={calibration}"]
        settings += [f"--seed={seed}"]
        origin = {
            "Command": spelled(
                "fit", data, "--target", target, "--out", out, *settings, "--report", report
            ),
            "Data": reading.fingerprint,
            "Rows of this report": f"{len(kept)} of {reading.frame.height}, drawn by the seed and "
            "kept out of the fit",
        }
        write_report(report, model, kept.X, kept.y, target=target, unit=unit, origin=origin)


def _tell(reading: Reading, features: list[str], target: str, y: np.ndarray) -> None:
    """How the table was read, and what in it looks wrong."""
    from clearbands.tables.inspection import inspect_table, warnings_about, warnings_about_target

    columns = inspect_table(reading)
    learned = [column for column in columns if column.name in features]
    rows = console.count(reading.frame.height, "row")
    columns_in = console.count(len(learned), "column")
    title = f"Read {Path(reading.name).name}: {rows}, {columns_in} to learn from"
    console.show_reading(reading, learned, title)
    mended = [target] if target in reading.mended else []
    said = warnings_about_target(target, y) + warnings_about(reading, columns, mended + features)
    for words in said:
        console.complain(f"Warning: {words}")


def _check_report(report: Path, out: Path, inputs: list[Path]) -> None:
    files.check_output(report, inputs=inputs)
    if report.resolve() == out.resolve():
        raise ValueError(f"--report and --out both name {out}; give each a file of its own.")


def _keep_rows(X: pl.DataFrame, y: np.ndarray, seed: int) -> tuple[pl.DataFrame, np.ndarray, Rows]:
    """The rows to fit on, and the fifth that no step of the fit may see."""
    import numpy as np

    from clearbands.report.facts import FEWEST_ROWS
    from clearbands.split import Rows, hold_out

    other_draws = np.random.RandomState([seed, 1])  # than those of the fit
    rows, kept = hold_out(Rows(X, y), 0.2, other_draws)
    if len(kept) < FEWEST_ROWS:
        raise ValueError(
            f"A fifth of {len(y)} rows is {len(kept)}, and a report needs at least {FEWEST_ROWS}; "
            "give more rows, or fit without --report."
        )
    return rows.X, rows.y, kept


def _make_model(preset: str, **parameters: Any) -> ClearRegressor:
    """The preset, with the parameters that were given: None leaves one to the library."""
    from clearbands.variants import PRESETS

    given = {name: value for name, value in parameters.items() if value is not None}
    return PRESETS[preset](**given)
