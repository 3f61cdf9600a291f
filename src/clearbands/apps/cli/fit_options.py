"""The options of fit: what each is called and what its help says."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Preset(StrEnum):
    """The keys of `clearbands.presets.PRESETS`, which would be slow to import for help."""

    default = "default"
    fast = "fast"
    thorough = "thorough"
    a = "a"
    b = "b"
    c = "c"
    deep = "deep"


class Scale(StrEnum):
    """The keys of `clearbands.rows.target_transform.NAMED`."""

    log = "log"
    log1p = "log1p"
    sqrt = "sqrt"


class Unknown(StrEnum):
    """`clearbands.calibration.groups.UNKNOWN`."""

    refuse = "refuse"
    pool = "pool"


class Task(StrEnum):
    """What the target holds: numbers or classes."""

    regression = "regression"
    classification = "classification"


class Calibration(StrEnum):
    cross = "cross"
    joint = "joint"
    conformal = "conformal"


Out = Annotated[Path, typer.Option("--out", metavar="MODEL", help="File for the model.")]
Levels = Annotated[
    list[float],
    typer.Option("--level", metavar="LEVEL", help="Confidence level; repeat for several."),
]
PresetName = Annotated[
    Preset, typer.Option("--preset", help="fast or thorough, or a variant of the paper.")
]
TimeBudget = Annotated[
    float | None,
    typer.Option(
        "--time-budget",
        metavar="SECONDS",
        help="Take the best search that is expected to be done by then.",
    ),
]
CalibrationName = Annotated[
    Calibration | None,
    typer.Option(
        "--calibration",
        help="cross lets all rows train; conformal holds out more and guarantees the coverage.",
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="COLUMN",
        help="Rows that belong together, such as visits of one patient. Not learned from.",
    ),
]
CalibrationGroups = Annotated[
    str | None,
    typer.Option(
        "--calibration-groups",
        metavar="COLUMN",
        help="Let the level hold within each group it names.",
    ),
]
UnknownGroups = Annotated[
    Unknown,
    typer.Option(
        "--unknown-groups",
        help="With --calibration-groups: whether groups that were not there are refused, or "
        "calibrated like all rows.",
    ),
]
SupportText = Annotated[
    str | None,
    typer.Option(
        "--support",
        metavar="LOW:HIGH",
        help="Where the target can lie, such as 0:1, or 0: for no upper end.",
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(
        "--weight", metavar="COLUMN", help="How many rows each counts as; not learned from."
    ),
]
ScaleName = Annotated[
    Scale | None,
    typer.Option(
        "--target-transform", help="The scale to learn the target on; answers are on its own."
    ),
]
WholeNumbers = Annotated[
    bool,
    typer.Option("--whole-numbers", help="The target counts something, and so do all answers."),
]
Rises = Annotated[
    list[str],
    typer.Option(
        "--rises",
        metavar="COLUMN",
        help="The target rises with it, other things being equal; repeat for several.",
    ),
]
Falls = Annotated[
    list[str],
    typer.Option("--falls", metavar="COLUMN", help="The target falls with it; likewise."),
]
TaskName = Annotated[
    Task | None,
    typer.Option(
        "--task",
        help="Whether to predict numbers or classes; found if not given, and then said.",
    ),
]
TimeColumn = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="When rows were: no later row trains or calibrates an earlier one. Not learned from.",
    ),
]
Gap = Annotated[
    int,
    typer.Option(
        "--gap",
        min=0,
        metavar="N",
        help="With --time: how many moments before a row are not known yet.",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, metavar="N", help="The same seed gives the same model.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", help="Also show lambda and gamma at every level.")
]
ReportPath = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Keep a fifth of the rows out of the fit and write a report on them.",
    ),
]
Drop = Annotated[
    list[str],
    typer.Option("--drop", metavar="COLUMN", help="Do not learn from it; repeat for several."),
]
Features = Annotated[
    list[str],
    typer.Option(
        "--features", metavar="COLUMN", help="Learn from these alone; repeat for several."
    ),
]
RowId = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COLUMN", help="What names the rows: not learned from, kept by predict."
    ),
]


def support_in(text: str | None) -> tuple[float | None, float | None] | None:
    """The two ends in LOW:HIGH, either of which may be left out.

    >>> support_in("0:"), support_in("-1.5:2")
    ((0.0, None), (-1.5, 2.0))
    """
    if text is None:
        return None
    low, colon, high = text.partition(":")
    try:
        ends = tuple(float(end) if end.strip() else None for end in (low, high))
    except ValueError:
        ends = (None, None)
    if not colon or ends == (None, None):
        raise ValueError(f"--support takes LOW:HIGH such as 0:1 or 0:, got {text!r}.")
    return ends[0], ends[1]
