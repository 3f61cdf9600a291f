"""Arguments and options that several commands take, in one wording."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from clearbands.apps.reading.dialect import Asked

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A table: .csv, .tsv, .parquet, .feather or .xlsx; - for standard input. Also a "
        "folder of .parquet files.",
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by fit.")]
Port = Annotated[
    int, typer.Option("--port", min=0, max=65535, metavar="N", help="0 takes a free one.")
]
Target = Annotated[str, typer.Option("--target", metavar="COLUMN", help="What to predict.")]
KnownTarget = Annotated[
    str | None,
    typer.Option("--target", metavar="COLUMN", help="The true values; the model knows their name."),
]
KnownTime = Annotated[
    str | None,
    typer.Option(
        "--time", metavar="COLUMN", help="When rows were; a model fitted with --time knows it."
    ),
]
Window = Annotated[
    int | None,
    typer.Option(
        "--window", min=1, metavar="N", help="How many of the last rows count; at first 1000."
    ),
]
Rate = Annotated[
    float | None,
    typer.Option(
        "--rate",
        metavar="NUMBER",
        help="How much one row moves the share of its side; by default a twentieth of it.",
    ),
]
Lead = Annotated[
    int | None,
    typer.Option(
        "--lead",
        min=1,
        metavar="N",
        help="How many rows pass until a true value is known; at first the gap and 1.",
    ),
]
DropMissingTarget = Annotated[
    bool,
    typer.Option("--drop-missing-target", help="Leave out rows whose target is missing."),
]
Unit = Annotated[str, typer.Option("--unit", metavar="TEXT", help="Of the target, to be shown.")]
TableOut = Annotated[
    Path,
    typer.Option(
        "--out", metavar="FILE", help="A .csv, .parquet or .feather file; - for standard output."
    ),
]
Keep = Annotated[
    list[str],
    typer.Option(
        "--keep", metavar="COLUMN", help="Carry a column into the output; repeat for several."
    ),
]
NoFormulas = Annotated[
    bool,
    typer.Option(
        "--no-formulas",
        help="Write a ' before text that a spreadsheet would run, such as =HYPERLINK(...).",
    ),
]
KnownId = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="What names the rows, carried along; as in fit."),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator", metavar="CHAR", help="Between columns, such as ; or tab; found if not given."
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option("--decimal", metavar="CHAR", help="Before decimals, . or ,; found if not given."),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding", metavar="NAME", help="Such as latin-1 or utf-16; found if not given."
    ),
]
ColumnsAs = Annotated[
    list[str],
    typer.Option(
        "--columns-as",
        metavar="COLUMN=KIND",
        help="Read a column as number, text, date, dmy or mdy (day or month first), whatever it "
        "looks like; repeat for several.",
    ),
]


class EngineName(StrEnum):
    """As in `clearbands.scaling.engines`."""

    threads = "threads"
    processes = "processes"
    dask = "dask"


Engine = Annotated[
    EngineName | None,
    typer.Option("--engine", help="Who works on a table in parquet files; changes no result."),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="ADDRESS", help="Of the Dask cluster, such as tcp://10.0.0.5:8786."
    ),
]
Work = Annotated[
    Path | None,
    typer.Option(
        "--work",
        metavar="DIR",
        help="Keep what is finished there; the same command goes on from it.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", min=1, metavar="N", help="Cores to use, all by default; changes no result."
    ),
]


def engine_of(name: EngineName | None, scheduler: str | None, jobs: int | None) -> Any:
    """The engine that was asked for, threads by default."""
    if (scheduler is None) != (name != EngineName.dask):
        raise ValueError("--engine dask and --scheduler ADDRESS belong together: give both.")
    from clearbands.scaling.engines import DaskCluster, choose_engine

    if scheduler is not None:
        return DaskCluster(scheduler)
    return choose_engine(name.value if name else "threads", -1 if jobs is None else jobs)


def refuse_engine(*given: Any) -> None:
    """Raise where --engine, --scheduler or --work was given for a table that is read whole."""
    if any(option is not None for option in given):
        raise ValueError("--engine, --scheduler and --work are for tables in parquet files.")


def asked_of(separator: str | None, decimal: str | None, encoding: str | None) -> Asked:
    """What the user says of a text file."""
    tabs = {"tab": "\t", "\\t": "\t"}
    return Asked(tabs.get(separator, separator) if separator else None, decimal, encoding)


def kinds_asked(columns_as: list[str]) -> dict[str, str]:
    """Columns and kinds from COLUMN=KIND, or several columns with commas between them."""
    kinds: dict[str, str] = {}
    for given in columns_as:
        names, equals, kind = given.rpartition("=")
        if not equals or not names:
            raise ValueError(f"--columns-as takes COLUMN=number or COLUMN=text, got {given!r}.")
        kinds |= {name: kind for name in names.split(",")}
    return kinds


def names_in(given: list[str], columns: list[str]) -> list[str]:
    """Names of columns, of which one value may hold several with commas between them."""
    names = []
    for value in given:
        names += [value] if value in columns else [name.strip() for name in value.split(",")]
    return names
