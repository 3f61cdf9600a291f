"""clearbands inspect"""

from __future__ import annotations

from typing import Annotated

from clearbands.apps.cli import console
from clearbands.apps.cli.options import ColumnsAs, Data, TextFile, column, kinds_wanted
from clearbands.apps.cli.remarks import (
    copies_warning,
    describe_target,
    is_classes,
    leak_warnings,
    read_target,
)
from clearbands.apps.reading.reading import read_table
from clearbands.rows import display


def inspect(
    data: Data,
    text: TextFile,
    target: Annotated[str | None, column("The column to predict, if you know it.")] = None,
    columns_as: ColumnsAs = [],  # noqa: B006
) -> None:
    """Show how fit would read a table: its columns and gaps, changed cells, what looks wrong."""
    reading = read_table(data, options=text, columns_as=kinds_wanted(columns_as))

    from clearbands.apps.reading.inspection import inspect_table, warnings_about_target

    for note in reading.notes:
        console.print_error(f"{note[:1].upper()}{note[1:]}.")
    console.show_columns(
        inspect_table(reading),
        f"{console.title_of(data)}: {display.count(reading.frame.height, 'row')}, "
        f"{display.count(reading.frame.width, 'column')} "
        f"({reading.in_words})",
    )
    if target is not None:
        y = read_target(reading, target, None)
        about_target = describe_target(target, y, None)
        if about_target:
            console.print_line(about_target)
        if is_classes(y):
            return
        others = reading.frame.drop(target)
        copies = copies_warning(others, y, in_fit=False)
        warnings = [*warnings_about_target(target, y), *leak_warnings(others, y)]
        for words in [*warnings, *([] if copies is None else [copies])]:
            console.print_error(f"Warning: {words}")
