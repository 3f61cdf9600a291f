"""The options of fit: their names, their help, and which of them fit together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from clearbands.apps.cli.options import (
    ColumnsAs,
    DropMissingTarget,
    Jobs,
    Target,
    Unit,
    column,
    names_in,
    option,
)
from clearbands.rows.settings import Calibration, PresetName, ScaleName, Task, UnknownGroups

if TYPE_CHECKING:
    from clearbands.rows.split import Rows


OF_CLASSES = {"target", "unit", "weight", "id", "level", "calibration", "seed", "jobs", "verbose"}
"""The options below that also work with a target of classes; all others are for numbers."""


@dataclass(frozen=True)
class Names:
    """The meanings that columns of a table have for the model."""

    target: Target
    unit: Unit = ""
    groups: Annotated[
        str,
        column(
            "The column that says which rows belong together, such as a patient. "
            "The model does not learn from it."
        ),
    ] = ""
    calibration_groups: Annotated[
        list[str],
        column(
            "Let the level hold in each group that this column names; repeat it for several, whose "
            "groups may overlap. Of several, one of numbers is a function of the row."
        ),
    ] = field(default_factory=list)
    weight: Annotated[
        str,
        column(
            "The column that says how many rows each row counts as. The model does "
            "not learn from it."
        ),
    ] = ""
    time: Annotated[
        str,
        column(
            "The column that says when each row was. No later row trains or "
            "calibrates an earlier one, and the model does not learn from it."
        ),
    ] = ""
    id: Annotated[
        str,
        column(
            "The column that names the rows. The model does not learn from it, and "
            "predict keeps it."
        ),
    ] = ""

    def __post_init__(self) -> None:
        if self.time and self.groups:
            raise ValueError("--groups and --time cannot be used at once: give one.")

    def in_table(self, columns: list[str]) -> Names:
        """Return the same with each column of calibration groups by itself."""
        groups = list(dict.fromkeys(names_in(self.calibration_groups, columns)))
        if len(groups) > 1 and self.weight:
            raise ValueError(
                "Groups of several columns of --calibration-groups know no weights: give one "
                "column, or leave --weight out."
            )
        return replace(self, calibration_groups=groups)

    @property
    def of_rows(self) -> list[str]:
        """Columns that say something about rows; the model does not learn from them."""
        return [name for name in (self.id, self.groups, self.time, self.weight) if name]


@dataclass(frozen=True)
class Choice:
    """The choice of columns and rows to learn from, and how they are read."""

    features: Annotated[
        list[str], column("Learn from this column alone; repeat it for several.")
    ] = field(default_factory=list)
    drop: Annotated[list[str], column("Do not learn from this column; repeat it for several.")] = (
        field(default_factory=list)
    )
    drop_missing_target: DropMissingTarget = False
    task: Annotated[
        Task | None,
        option(
            "Whether to predict numbers or classes; by default the values of the target decide."
        ),
    ] = None
    columns_as: ColumnsAs = field(default_factory=list)


@dataclass(frozen=True)
class Settings:
    """The settings of the model, which are checked when they are made, before the data are read."""

    level: Annotated[
        list[float], option("The confidence level; repeat it for several.", "LEVEL")
    ] = field(default_factory=lambda: [0.9])
    preset: Annotated[
        PresetName, option("How the model is set up: fast, thorough, or a variant of the paper.")
    ] = "default"
    time_budget: Annotated[
        float | None,
        option("Choose the best search that is expected to end within so many seconds.", "SECONDS"),
    ] = None
    calibration: Annotated[
        Calibration | None,
        option("With cross all rows train; conformal holds rows out and guarantees the coverage."),
    ] = None
    unknown_groups: Annotated[
        UnknownGroups,
        option(
            "With --calibration-groups: refuse groups that fit has not seen, or let them be "
            "calibrated like all rows."
        ),
    ] = "refuse"
    support: Annotated[
        str | None,
        option("Where the target can lie, such as 0:1, or 0: for no upper end.", "LOW:HIGH"),
    ] = None
    target_transform: Annotated[
        ScaleName | None,
        option("Learn the target on this scale; answers are on the scale of the target."),
    ] = None
    whole_numbers: Annotated[
        bool, option("The target is a count, so give whole numbers as answers.")
    ] = False
    rises: Annotated[
        list[str],
        column(
            "The target rises with this column if all others stay the same; repeat it for several."
        ),
    ] = field(default_factory=list)
    falls: Annotated[
        list[str], column("The target falls when this column rises; repeat it for several.")
    ] = field(default_factory=list)
    gap: Annotated[
        int, option("With --time, how many moments before a row are not known yet.", "N", min=0)
    ] = 0
    seed: Annotated[int, option("The same seed gives the same model.", "N", min=0)] = 0
    jobs: Jobs = None
    verbose: Annotated[bool, option("Also print lambda and gamma at every level.")] = False

    def __post_init__(self) -> None:
        from clearbands._compat import require
        from clearbands.rows.levels import check_levels
        from clearbands.rows.targets import check_support

        check_levels(self.level)
        check_support(support_in(self.support))
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

    def check_names(self, names: Names) -> None:
        """Raise an error if a setting needs the name of a column that is not given."""
        if self.gap and not names.time:
            raise ValueError("--gap needs --time, the column that says when rows were.")
        if self.unknown_groups == "pool" and not names.calibration_groups:
            raise ValueError(
                "--unknown-groups needs --calibration-groups, the column that names the groups."
            )

    def directions(self, columns: Sequence[str]) -> dict[str, int] | None:
        """Return the columns with which the target rises (1) or falls (-1)."""
        ways: dict[str, int] = {}
        for name_of_option, values, way in (
            ("--rises", self.rises, 1),
            ("--falls", self.falls, -1),
        ):
            for name in names_in(values, list(columns)):
                if name not in columns:
                    raise ValueError(
                        f"{name_of_option} names {name!r}, which is no column to learn from; those "
                        f"are {', '.join(columns)}."
                    )
                if ways.get(name, way) != way:
                    raise ValueError(f"Both --rises and --falls name {name!r}: choose one.")
                ways[name] = way
        return ways or None

    def check_classes(self, rows: Rows, names: Names) -> None:
        """Raise an error if there are too few classes, or for options that are for numbers."""
        import numpy as np

        from clearbands.rows.class_labels import check_counts

        classes, counts = np.unique(rows.y, return_counts=True)
        if len(classes) == 1:
            raise ValueError(
                f"The target {names.target!r} is {str(classes[0])!r} in every row: there is "
                "nothing to learn."
            )
        check_counts(classes, counts)
        usual = vars(Settings()) | vars(Names(names.target))
        wrong = [
            f"--{name.replace('_', '-')}"
            for name, value in (vars(self) | vars(names)).items()
            if name not in OF_CLASSES and value != usual[name]
        ]
        wrong += ["several --level"] if len(self.level) > 1 else []
        if wrong:
            raise ValueError(
                f"The target holds classes, and {wrong[0]} is for numbers: leave it out."
            )

    def make_classifier(self) -> Any:
        from clearbands.classifier import ClearClassifier

        return ClearClassifier(
            confidence_level=self.level[0],
            calibration=self.calibration,
            random_state=self.seed,
            n_jobs=-1 if self.jobs is None else self.jobs,
        )

    def make_regressor(self, names: Names, columns: Sequence[str]) -> Any:
        """Make the model of the preset; the library decides what the options leave open."""
        from clearbands.presets import PRESETS

        parameters: dict[str, Any] = {
            "calibration": self.calibration,
            "support": support_in(self.support),
            "target_transform": self.target_transform,
            "whole_numbers": self.whole_numbers or None,
            "monotone": self.directions(columns),
            "time_budget": self.time_budget,
            "split": "time" if names.time else None,
            "gap": self.gap if names.time else None,
        }
        model = PRESETS[self.preset](
            confidence_level=self.level[0] if len(self.level) == 1 else self.level,
            random_state=self.seed,
            n_jobs=-1 if self.jobs is None else self.jobs,
            **{name: value for name, value in parameters.items() if value is not None},
        )
        if self.unknown_groups == "pool":
            if len(names.calibration_groups) > 1:
                raise ValueError(
                    "--unknown-groups pool takes one column of --calibration-groups, got "
                    f"{', '.join(names.calibration_groups)}: leave one of the options out."
                )
            from clearbands.calibration.groups import GroupCalibrator

            model.calibrator = GroupCalibrator(model.default_calibrator(), unknown="pool")
        return model


def support_in(text: str | None) -> tuple[float | None, float | None] | None:
    """Return the two ends in LOW:HIGH, either of which may be left out.

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
