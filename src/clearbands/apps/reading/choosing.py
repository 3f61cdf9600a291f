"""Functions that take wanted columns of a table, or raise an error that says what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from clearbands.apps.reading.numbers import Stray, as_numbers
from clearbands.rows.messages import record_order, row_of_file
from clearbands.tables.names import MAX_NAMED, first_names, nearest

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from clearbands.apps.reading.reading import Reading

FEWEST_OF_TWO = 20  # rows from which on a column of two numbers alone holds classes


def take_column(frame: pl.DataFrame, name: str, path: Path | str) -> pl.Series:
    """Return the column of that name, or raise an error with the nearest names."""
    if name not in frame.columns:
        raise ValueError(f"{path} has no column {name!r}; {nearest(name, frame.columns)}")
    return frame[name]


def take_labels(frame: pl.DataFrame, name: str, path: Path | str) -> np.ndarray:
    """Return the column of that name as labels (n,) of any kind, None where one is missing."""
    import numpy as np

    return np.array(take_column(frame, name, path).to_list(), dtype=object)


def take_groups(
    frame: pl.DataFrame, names: Sequence[str], path: Path | str, texts: Sequence[str] = ()
) -> np.ndarray:
    """Return labels (n,) of one column, or of several an array (n,) with a field for each.

    Of several columns, `texts` are read as labels, whatever they look like in this table.
    """
    if len(names) == 1:
        return take_labels(frame, names[0], path)
    import polars as pl

    from clearbands.rows.group_columns import read_group_columns

    columns = [take_column(frame, name, path) for name in names]
    columns = [
        pl.Series(c.name, [None if v is None else str(v) for v in c], pl.String)
        if c.name in texts
        else c
        for c in columns
    ]
    return read_group_columns(pl.DataFrame(columns), frame.height)


def take_target(reading: Reading, target: str, *, what: str = "The target") -> np.ndarray:
    """Return the column as finite floats (n,), or raise an error that names a row and its value."""
    import polars as pl

    column = take_column(reading.frame, target, reading.name)
    strays = reading.mended[target].strays if target in reading.mended else ()
    named = f"{what} {target!r}"
    if column.dtype == pl.String:
        numbers = as_numbers(column, reading.dialect.decimal)
        if numbers.column.count() == 0 or numbers.doubt:
            example = numbers.strays[0].value if numbers.strays else column.drop_nulls()[0]
            why = f" ({numbers.doubt})" if numbers.doubt else ""
            raise ValueError(
                f"{named} holds text such as {example!r}{why}; it must be numbers only."
            )
        _refuse_strays(named, numbers.strays, f"--columns-as {quote(f'{target}=number')} ")
        column, strays = numbers.column, ()
    _refuse_strays(named, strays)
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        example = next(iter(column.drop_nulls().to_list()), None)
        raise ValueError(
            f"{named} holds values of type {column.dtype} such as {str(example)!r}; "
            "it must be numbers only."
        )
    values = column.cast(pl.Float64)
    _refuse_rows(named, values.is_null() | values.is_nan(), "missing", FILL_IN)
    _refuse_rows(named, values.is_infinite(), "infinite", "correct or remove those rows")
    return values.to_numpy()


LEAVES_OUT = "--drop-missing-target of fit, evaluate, report and explore does"
FILL_IN = f"fill them in or remove those rows, as {LEAVES_OUT}"


def _refuse_strays(named: str, strays: Sequence[Stray], options: str = "") -> None:
    if strays:
        more = f" ({_rows(len(strays) - 1)} more like it)" if len(strays) > 1 else ""
        raise ValueError(
            f"{named} holds {strays[0].value!r} in {strays[0].row_name}{more}, which is no number; "
            f"correct or remove such rows, as {options}{LEAVES_OUT}."
        )


def drop_missing(reading: Reading, target: str) -> tuple[Reading, int]:
    """Return the table without rows whose target is missing or no number, and their number."""
    import polars as pl

    column = take_column(reading.frame, target, reading.name)
    is_there = column.is_not_null()
    if column.dtype.is_float():
        is_there &= column.is_not_nan().fill_null(False)
    if not is_there.any():
        raise ValueError(f"The target {target!r} is missing in every row; choose another target.")
    mended = dict(reading.mended)
    if target in mended:
        mended[target] = replace(mended[target], strays=())  # their rows are gone
    frame = reading.frame.filter(pl.Series(is_there))
    record_order(is_there.to_numpy().nonzero()[0])
    return replace(reading, frame=frame, mended=mended), len(column) - frame.height


def take_classes(reading: Reading, target: str) -> np.ndarray:
    """Return the column as classes (n,), texts or whole numbers, or raise an error."""
    import numpy as np
    import polars as pl

    column = take_column(reading.frame, target, reading.name)
    named = f"The target {target!r}"
    _refuse_rows(named, column.is_null(), "missing", FILL_IN)
    if column.dtype.is_float() and not (column == column.round(0)).all():
        example = column.filter(column != column.round(0))[0]
        raise ValueError(
            f"{named} holds numbers such as {example:g}, which are no classes: say --task "
            "regression, or write classes as text or whole numbers."
        )
    if column.dtype.is_numeric():
        return column.cast(pl.Int64).to_numpy()
    if column.dtype == pl.Boolean:
        column = column.cast(pl.String)
    return np.array([str(value) for value in column.to_list()])


def holds_classes(reading: Reading, target: str) -> bool:
    """Whether the target looks like classes: texts that repeat, yes and no, two numbers.

    Text that looks like numbers is refused: whoever means classes must say so.
    """
    import polars as pl

    column = take_column(reading.frame, target, reading.name)
    there = column.drop_nulls()
    if column.dtype == pl.String:
        if (
            as_numbers(column, reading.dialect.decimal).is_convincing
            and target not in reading.codes
        ):
            return False
        _refuse_number_like(there, target)
        return 2 * there.n_unique() <= len(there)
    if column.dtype.is_numeric():
        return there.n_unique() == 2 and len(there) >= FEWEST_OF_TWO
    return column.dtype == pl.Boolean


def _refuse_number_like(there: pl.Series, target: str) -> None:
    is_number_like = there.str.contains(r"^[^\w(]{0,3}\(?[^\w]{0,3}\d")
    if 2 * int(is_number_like.sum()) <= len(there):
        return
    raise ValueError(
        f"The target {target!r} holds text that looks like numbers, such as "
        f"{there.filter(is_number_like)[0]!r}; --columns-as {quote(f'{target}=number')} reads it "
        "as numbers, and --task classification takes each text for a class."
    )


def _refuse_rows(column: str, bad: pl.Series, wrong: str, advice: str) -> None:
    count = int(bad.sum())
    if count:
        first = int(bad.arg_true()[0]) + 1
        raise ValueError(
            f"{column} is {wrong} in {_rows(count)} of {len(bad):,}, first in "
            f"{row_of_file(first)}; {advice}."
        )


def take_features(frame: pl.DataFrame, names: Sequence[str], path: Path | str) -> pl.DataFrame:
    """Return the columns that a model needs, or raise an error that names the missing ones."""
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
    """Return an advice to rename columns that differ in capitals or blanks from missing ones."""
    known = {_without_case_and_blanks(name): name for name in there}
    alike = [
        (known[_without_case_and_blanks(name)], name)
        for name in missing
        if _without_case_and_blanks(name) in known
    ]
    renamed = ", ".join(f"{other!r} to {name!r}" for other, name in alike[:MAX_NAMED])
    return f"rename {renamed}, " if alike else ""


def _without_case_and_blanks(name: str) -> str:
    return "".join(name.lower().replace("_", " ").replace("-", " ").split())


def choose_features(
    frame: pl.DataFrame,
    target: str,
    path: Path | str,
    *,
    features: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> pl.DataFrame:
    """Return the columns to learn from: `features`, or all with a value but target and `drop`."""
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
    """Return the columns in which every cell is missing."""
    return [column.name for column in frame if column.null_count() == frame.height]


def _rows(count: int) -> str:
    return f"{count} row" if count == 1 else f"{count} rows"


def _columns(count: int) -> str:
    return "the column" if count == 1 else f"{count} columns"
