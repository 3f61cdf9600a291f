"""Models and tables from files; the tables are read as their models need them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearbands.apps.cli import console
from clearbands.apps.cli.options import TableOut, TextFile, names_in
from clearbands.apps.reading.choosing import (
    drop_missing,
    take_column,
    take_features,
)
from clearbands.apps.reading.dates import read_dates
from clearbands.apps.reading.reading import Reading, read_table, reading_in_words
from clearbands.apps.task import Task, task_of
from clearbands.rows import display
from clearbands.rows.messages import record_order, row_name, row_of_file

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from clearbands.persistence.origin import Origin


def load_model(path: Path, *, of_classes: bool = False) -> Any:
    """Load a model that knows its columns by name; only with `of_classes` may it be of classes."""
    from clearbands.classifier import ClearClassifier
    from clearbands.persistence.model_file import ModelFileError, load
    from clearbands.regressor import ClearRegressor

    model = load(path)
    if not isinstance(model, ClearRegressor | ClearClassifier):
        raise ModelFileError(
            f"{path} holds a {type(model).__name__}; the command needs a ClearRegressor or a "
            "ClearClassifier."
        )
    if not hasattr(model, "feature_names_in_"):
        raise ModelFileError(
            f"{path} was fitted on an array without column names; fit it on a table to use it "
            "with files."
        )
    if isinstance(model, ClearClassifier) and not of_classes:
        raise ModelFileError(
            f"{path} predicts classes, and this command is for numbers: classes have predict, "
            "evaluate, report and serve."
        )
    return model


def read_for_models(data: Path, text: TextFile, *models: Any) -> Reading:
    """Read the table with its columns as the models need them, and warn of changed cells."""
    from clearbands.apps.reading.features import fitted_columns

    reading = read_table(data, options=text, fitted=fitted_columns(*models))
    for words in reading_in_words(reading):
        console.print_error(f"Warning: {words}")
    return reading


def drop_rows(reading: Reading, target: str) -> Reading:
    """Return the table without the rows whose target is missing, and warn of them."""
    left, n_dropped = drop_missing(reading, target)
    if n_dropped:
        rows = display.count(n_dropped, "row")
        strays = reading.mended[target].strays if target in reading.mended else ()
        such_as = f", such as {strays[0].value!r} in {strays[0].row_name}" if strays else ""
        console.print_error(
            f"Warning: Left out {rows} of {reading.frame.height:,}, whose target {target!r} is "
            f"missing{such_as}."
        )
    return left


@dataclass(frozen=True)
class ModelAndTable:
    """A model, and a table with questions about its rows."""

    model: Any
    reading: Reading

    @classmethod
    def from_files(
        cls, model: Path, data: Path, text: TextFile, *, of_classes: bool = False
    ) -> ModelAndTable:
        fitted = load_model(model, of_classes=of_classes)
        return cls(fitted, read_for_models(data, text, fitted))

    @property
    def task(self) -> Task:
        return task_of(self.model)

    @property
    def origin(self) -> Origin:
        from clearbands.persistence.origin import origin_of

        return origin_of(self.model)

    @cached_property
    def X(self) -> pl.DataFrame:
        """The columns that the model needs."""
        names = list(self.model.feature_names_in_)
        return take_features(self.reading.frame, names, self.reading.name)

    @cached_property
    def groups(self) -> np.ndarray | None:
        """The labels of the rows, if the model has groups and does not find the labels itself."""
        from clearbands.apps.reading.features import labels_of_rows

        return labels_of_rows(self.model, self.reading.frame, self.reading.name)

    def target(self, name: str | None) -> str:
        """Return the name of the target, which the user gives or else the model knows."""
        if not name and not self.origin.target:
            raise ValueError(
                "The model does not know the name of its target; give it with --target."
            )
        return name or self.origin.target

    def y(self, target: str | None) -> np.ndarray:
        """Return the true values or classes."""
        return self.task.take_target(self.reading, self.target(target))

    def carried_columns(self, output: TableOut) -> list[pl.Series]:
        """Return the columns to carry along, with the one that names the rows first."""
        columns = self.reading.frame.columns
        row_id = output.row_id or (self.origin.id if self.origin.id in columns else None)
        names = dict.fromkeys([*([row_id] if row_id else []), *names_in(output.keep, columns)])
        return [take_column(self.reading.frame, name, self.reading.name) for name in names]

    def without_missing(self, target: str | None) -> ModelAndTable:
        """Return the same without the rows whose target is missing."""
        return replace(self, reading=drop_rows(self.reading, self.target(target)))

    def in_time(self, column: str | None) -> tuple[ModelAndTable, str]:
        """Return the same with rows in the order of a column, by default the model's own."""
        name = column or self.origin.time
        return (replace(self, reading=sorted_rows(self.reading, name)) if name else self), name

    def without_seen(self, y: np.ndarray) -> tuple[ModelAndTable, np.ndarray]:
        """Return the same without the rows of the fit, and the other true values, with a warning.

        If these rows are not known, or too few others are left, all rows stay.
        """
        from clearbands.diagnostics.diagnose import FEWEST_ROWS

        seen = self.origin.find_seen(self.X, y)
        if seen is None or not seen.any() or (~seen).sum() < FEWEST_ROWS:
            return self, y
        console.print_error(
            f"Warning: The model was fitted on {seen.sum():,} of these {len(y):,} rows. They say "
            f"nothing about new ones and are left out: the scores are those of the other "
            f"{(~seen).sum():,}."
        )
        record_order((~seen).nonzero()[0])
        new = self.reading.frame.filter(~seen)
        return replace(self, reading=replace(self.reading, frame=new)), y[~seen]

    def count_seen(self, y: np.ndarray) -> int:
        """Return how many of the rows the model was fitted on, and warn loudly if they are many."""
        from clearbands.persistence.origin import exceeds_chance

        n_seen = self.origin.count_seen(self.X, y)
        if exceeds_chance(n_seen, len(y)):
            which = f"ALL {n_seen:,}" if n_seen == len(y) else f"{n_seen:,} of {len(y):,}"
            console.print_error(
                f"Warning: THE MODEL HAS SEEN THESE ROWS. It was fitted on {which}, "
                "and they say nothing about new ones: intervals look better here than they are. "
                "Use rows that were kept from the fit (fit --report keeps some)."
            )
        return n_seen


def sorted_rows(reading: Reading, column: str) -> Reading:
    """Sort the table by a column of dates, times or numbers; say so if this moved any row."""
    import numpy as np
    import polars as pl

    times = take_column(reading.frame, column, reading.name)
    strays = reading.mended[column].strays if column in reading.mended else ()
    if strays:
        _refuse_time(column, strays[0].row, strays[0].value)
    if times.null_count():
        row = row_name(int(times.is_null().arg_true()[0]))
        raise ValueError(f"The time {column!r} is missing in {row}; remove such rows.")
    if times.dtype == pl.String:
        dates = read_dates(times, reading.orders)  # a csv file has shown the order of day and month
        if not dates.is_convincing or dates.strays or dates.doubt:
            first = dates.strays[0] if dates.strays else None
            _refuse_time(column, first.row if first else 1, first.value if first else times[0])
        times = dates.column
        reading = replace(reading, frame=reading.frame.with_columns(times))
    if not times.is_sorted():
        console.print_line(f"Sorted the rows by {column!r}.")
        order = np.argsort(times.to_physical().to_numpy(), kind="stable")
        record_order(order)
        return replace(reading, frame=reading.frame[order])
    return reading


def _refuse_time(column: str, row: int, value: str) -> None:
    raise ValueError(
        f"The time {column!r} holds {value!r} in {row_of_file(row)}; it must be dates "
        "such as 2026-01-31 or 2026-01-31 13:45, or numbers."
    )
