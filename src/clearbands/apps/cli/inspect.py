"""clearbands inspect"""

from __future__ import annotations

from typing import Annotated

import typer

from clearbands.apps.cli import console
from clearbands.apps.cli.class_target import is_classes, take_y, words_about
from clearbands.apps.cli.options import (
    ColumnsAs,
    Data,
    Decimal,
    Encoding,
    Separator,
    asked_of,
    kinds_asked,
)
from clearbands.apps.cli.same_rows import words_about_copies
from clearbands.apps.reading.reading import read_table


def inspect(
    data: Data,
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="COLUMN", help="What is to be predicted, if known."),
    ] = None,
    columns_as: ColumnsAs = [],  # noqa: B006
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Show how fit would read a table: kinds of columns, gaps, what was mended or looks wrong."""
    asked = asked_of(separator, decimal, encoding)
    reading = read_table(data, asked=asked, columns_as=kinds_asked(columns_as))

    from clearbands.apps.reading.inspection import inspect_table, warnings_about_target

    for note in reading.notes:
        console.complain(f"{note[:1].upper()}{note[1:]}.")
    console.show_columns(
        inspect_table(reading),
        f"{console.title_of(data)}: {console.count(reading.frame.height, 'row')}, "
        f"{console.count(reading.frame.width, 'column')} "
        f"({reading.in_words})",
    )
    if target is not None:
        y = take_y(reading, target, None)
        about_target = words_about(target, y, None)
        if about_target:
            console.say(about_target)
        if is_classes(y):
            return
        copies = words_about_copies(reading.frame.drop(target), y, told_by_fit=False)
        for words in [*warnings_about_target(target, y), *([] if copies is None else [copies])]:
            console.complain(f"Warning: {words}")
