"""The arguments and options that several commands share, in one wording.

Options that belong together are the fields of a class, and a command has one parameter for all of
them (`command.flatten_options`). Errors in them are raised when the class is made, before the work.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from clearbands.apps.question_table import QUESTIONS
from clearbands.apps.reading.dialect import TextOptions
from clearbands.rows.settings import EngineName


def option(words: str, metavar: str | None = None, *, name: str = "", **more: Any) -> Any:
    """Return an option with this help text; without `name` it is called like its parameter."""
    names = [name] if name else []
    return typer.Option(*names, metavar=metavar, help=words, **more)


def column(words: str, *, name: str = "") -> Any:
    """Return an option that names a column."""
    return option(words, "COLUMN", name=name)


Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A table: .csv, .tsv, .parquet, .feather or .xlsx; - for standard input. Also a "
        "folder of .parquet files.",
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by fit.")]
Port = Annotated[int, option("The port to listen on; 0 takes a free one.", "N", min=0, max=65535)]
Target = Annotated[str, column("What to predict.")]
KnownTarget = Annotated[
    str | None, column("The column with the true values; by default the target of the fit.")
]
KnownTime = Annotated[
    str | None, column("The column that says when each row was; by default that of fit.")
]
Unit = Annotated[str, option("The unit of the target, for pages and tables.", "TEXT")]
DropMissingTarget = Annotated[bool, option("Leave out rows whose target is missing.")]
PageOut = Annotated[Path, option("The page, a .html file.", "FILE")]
AsJson = Annotated[bool, option("Print JSON; infinite values are null.", name="--json")]
Jobs = Annotated[
    int | None, option("How many cores to use, by default all; it changes no result.", "N", min=1)
]


@dataclass(frozen=True)
class TextFile(TextOptions):
    """The format of a text file."""

    separator: Annotated[
        str | None, option("The separator, such as ; or tab; by default it is found.", "CHAR")
    ] = None
    decimal: Annotated[
        str | None, option("The decimal sign, . or ,; by default it is found.", "CHAR")
    ] = None
    encoding: Annotated[
        str | None,
        option("The encoding, such as latin-1 or utf-16; by default it is found.", "NAME"),
    ] = None


ColumnsAs = Annotated[
    list[str],
    option(
        "Read a column as number, text, date, dmy or mdy (day or month first), whatever it "
        "looks like; repeat for several.",
        "COLUMN=KIND",
    ),
]


@dataclass(frozen=True)
class TableOut:
    """The table to write, and what it holds besides the predictions."""

    out: Annotated[
        Path, option("A .csv, .parquet or .feather file; - for standard output.", "FILE")
    ]
    keep: Annotated[list[str], column("Copy this column to the output; repeat it for several.")] = (
        field(default_factory=list)
    )
    no_formulas: Annotated[
        bool,
        option(
            "Write a ' before text that a spreadsheet would run as a formula, such "
            "as =HYPERLINK(...)."
        ),
    ] = False
    row_id: Annotated[
        str | None,
        column(
            "The column that names the rows, which the output keeps; by default that of fit.",
            name="--id",
        ),
    ] = None


@dataclass(frozen=True)
class Workers:
    """The workers on a table in parquet files, and the folder of finished work."""

    engine: Annotated[
        EngineName | None, option("What works on a table in parquet files; it changes no result.")
    ] = None
    scheduler: Annotated[
        str | None,
        option("The address of the Dask cluster, such as tcp://10.0.0.5:8786.", "ADDRESS"),
    ] = None
    work: Annotated[
        Path | None,
        option("Keep finished work in this folder; the same command then goes on from it.", "DIR"),
    ] = None

    @property
    def are_wanted(self) -> bool:
        return not (self.engine is self.scheduler is self.work is None)

    def make_engine(self, jobs: int | None) -> Any:
        """Make the engine, by default threads."""
        if (self.scheduler is None) != (self.engine != "dask"):
            raise ValueError("--engine dask and --scheduler ADDRESS belong together: give both.")
        from clearbands.scaling.engines import DaskCluster, choose_engine

        if self.scheduler is not None:
            return DaskCluster(self.scheduler)
        return choose_engine(self.engine or "threads", -1 if jobs is None else jobs)

    def refuse(self) -> None:
        """Raise an error if these options come with a table that is read whole."""
        if self.are_wanted:
            raise ValueError("--engine, --scheduler and --work are for tables in parquet files.")


def _question(name: str, more: str = "") -> Any:
    question = QUESTIONS[name]
    return option(question.words + more, question.value)


OR_COLUMN = " A number or a column."


@dataclass(frozen=True)
class QuestionOptions:
    """The questions about the rows as they were typed, checked when they are made."""

    level: Annotated[list[float], _question("level")] = field(default_factory=list)
    side: Annotated[str, _question("side")] = "both"
    tails: Annotated[str | None, _question("tails")] = None
    quantile: Annotated[list[float], _question("quantile")] = field(default_factory=list)
    above: Annotated[list[str], _question("above", OR_COLUMN)] = field(default_factory=list)
    below: Annotated[list[str], _question("below", OR_COLUMN)] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.questions()

    def questions(self, **thresholds: Any) -> Any:
        """Return the questions, with the thresholds `above` and `below` by their names."""
        from clearbands.prediction.questions import Questions, tails_in

        tails = None if self.tails is None else tails_in("--tails", self.tails)
        return Questions(self.level, self.side, self.quantile, tails=tails, **thresholds)


def kinds_wanted(columns_as: list[str]) -> dict[str, str]:
    """Return kinds by column from COLUMN=KIND, where commas may separate several columns."""
    kinds: dict[str, str] = {}
    for pair in columns_as:
        names, equals, kind = pair.rpartition("=")
        if not equals or not names:
            raise ValueError(f"--columns-as takes COLUMN=number or COLUMN=text, got {pair!r}.")
        kinds |= {name: kind for name in names.split(",")}
    return kinds


def names_in(values: list[str], columns: list[str]) -> list[str]:
    """Return names of columns; one value may hold several names with commas between them."""
    names = []
    for value in values:
        names += [value] if value in columns else [name.strip() for name in value.split(",")]
    return names
