"""The columns that are wanted of a table, or an error that says what to do instead."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clearbands.apps.reading.mending import as_numbers
from clearbands.tables.names import MAX_NAMED, first_names, nearest

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from clearbands.apps.reading.reading import Reading

FEWEST_OF_TWO = 20  # rows with two numbers alone, which are then no numbers but classes


def take_column(frame: pl.DataFrame, name: str, path: Path | str) -> pl.Series:
    """The column of that name, or an error with the nearest ones."""
    if name not in frame.columns:
        raise ValueError(f"{path} has no column {name!r}; {nearest(name, frame.columns)}")
    return frame[name]


def take_target(reading: Reading, target: str, *, what: str = "The target") -> np.ndarray:
    """The column as finite floats (n,), or an error that names the row and what it holds."""
    import polars as pl

    column = take_column(reading.frame, target, reading.name)
    strays = reading.mended[target].strays if target in reading.mended else ()
    if column.dtype == pl.String:
        found = as_numbers(column, reading.dialect.decimal)
        if found.column.count() == 0:
            raise ValueError(
                f"{what} {target!r} holds text such as {found.strays[0].value!r}; it must be "
                "numbers only."
            )
        column, strays = found.column, found.strays
    if strays:
        more = f" ({_rows(len(strays) - 1)} more like it)" if len(strays) > 1 else ""
        raise ValueError(
            f"{what} {target!r} holds {strays[0].value!r} in row {strays[0].row}{more}, which "
            "is no number; correct or remove such rows."
        )
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        shown = next(iter(column.drop_nulls().to_list()), None)
        raise ValueError(
            f"{what} {target!r} holds values of type {column.dtype} such as {str(shown)!r}; "
            "it must be numbers only."
        )
    values = column.cast(pl.Float64)
    named = f"{what} {target!r}"
    _refuse_rows(named, values.is_null() | values.is_nan(), "missing", "fill them in or remove")
    _refuse_rows(named, values.is_infinite(), "infinite", "correct or remove")
    return values.to_numpy()


def take_classes(reading: Reading, target: str) -> np.ndarray:
    """The column as classes (n,), texts or whole numbers, or an error that says what is wrong."""
    import numpy as np
    import polars as pl

    column = take_column(reading.frame, target, reading.name)
    named = f"The target {target!r}"
    _refuse_rows(named, column.is_null(), "missing", "fill them in or remove")
    if column.dtype.is_float() and not (column == column.round(0)).all():
        shown = column.filter(column != column.round(0))[0]
        raise ValueError(
            f"{named} holds numbers such as {shown:g}, which are no classes: leave --classes out, "
            "or write classes as text or whole numbers."
        )
    if column.dtype.is_numeric():
        return column.cast(pl.Int64).to_numpy()
    if column.dtype == pl.Boolean:
        column = column.cast(pl.String)
    return np.array([str(value) for value in column.to_list()])


def holds_classes(reading: Reading, target: str) -> bool:
    """Whether the target looks like classes: texts that repeat, yes and no, two numbers."""
    import polars as pl

    column = take_column(reading.frame, target, reading.name)
    there = column.drop_nulls()
    if column.dtype == pl.String:
        is_text = as_numbers(column, reading.dialect.decimal).column.count() == 0
        return is_text and 2 * there.n_unique() <= len(there)
    if column.dtype.is_numeric():
        return there.n_unique() == 2 and len(there) >= FEWEST_OF_TWO
    return column.dtype == pl.Boolean


def _refuse_rows(column: str, bad: pl.Series, wrong: str, advice: str) -> None:
    count = int(bad.sum())
    if count:
        first = int(bad.arg_true()[0]) + 1
        raise ValueError(
            f"{column} is {wrong} in {_rows(count)} of {len(bad):,}, first in row "
            f"{first}; {advice} those rows."
        )


def take_features(frame: pl.DataFrame, names: Sequence[str], path: Path | str) -> pl.DataFrame:
    """The columns a model needs, or an error that names those that are not there."""
    check_columns(frame.columns, names, path)
    return frame.select(names)


def check_columns(there: Sequence[str], names: Sequence[str], path: Path | str) -> None:
    """Raise unless the columns that a model needs are there."""
    missing = [name for name in names if name not in there]
    if missing:
        raise ValueError(
            f"{path} lacks {_columns(len(missing))} the model was fitted on: "
            f"{first_names(missing)}; {_spelled_otherwise(missing, there)}add what is missing, "
            "or fit a model without."
        )


def _spelled_otherwise(missing: Sequence[str], there: Sequence[str]) -> str:
    """Columns that only capitals and blanks tell from those that are missing."""
    known = {_bare(name): name for name in there}
    alike = [(known[_bare(name)], name) for name in missing if _bare(name) in known]
    renamed = ", ".join(f"{given!r} to {name!r}" for given, name in alike[:MAX_NAMED])
    return f"rename {renamed}, " if alike else ""


def _bare(name: str) -> str:
    return "".join(name.lower().replace("_", " ").replace("-", " ").split())


def choose_features(
    frame: pl.DataFrame,
    target: str,
    path: Path | str,
    *,
    features: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> pl.DataFrame:
    """The columns to learn from: those named, or all with a value but the target and `drop`."""
    for name in (*features, *drop):
        take_column(frame, name, path)
    others = [name for name in frame.columns if name not in (target, *drop)]
    chosen = features or [name for name in others if name not in without_values(frame)] or others
    if target in chosen:
        raise ValueError(f"The target {target!r} is among the features; leave it out of them.")
    chosen = [name for name in chosen if name not in drop]
    if not chosen:
        raise ValueError(
            f"{path} has no column besides the target {target!r}; a model needs at least one "
            "feature column."
        )
    return frame.select(chosen)


def without_values(frame: pl.DataFrame) -> list[str]:
    """The columns in which every cell is missing."""
    return [column.name for column in frame if column.null_count() == frame.height]


def _rows(count: int) -> str:
    return f"{count} row" if count == 1 else f"{count} rows"


def _columns(count: int) -> str:
    return "the column" if count == 1 else f"{count} columns"
